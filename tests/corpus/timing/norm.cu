// Layer norm and RMS norm of rows in float and bfloat16.
#include <cuda_bf16.h>
__device__ float2 all2(float a, float b, float2* part) {
  for (int d = 16; d > 0; d >>= 1) { a += __shfl_xor_sync(~0u, a, d); b += __shfl_xor_sync(~0u, b, d); }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(a, b);
  __syncthreads();
  a = b = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) { a += part[w].x; b += part[w].y; }
  return make_float2(a, b);
}
extern "C" __global__ void layer_norm(const float* x, const float* g, const float* b, float* y, int cols) {
  __shared__ float2 part[32];
  const float* p = x + (size_t)blockIdx.x * cols;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) { const float v = p[i]; s += v; q += v * v; }
  const float2 t = all2(s, q, part);
  const float mean = t.x / cols, r = rsqrtf(t.y / cols - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[(size_t)blockIdx.x * cols + i] = (p[i] - mean) * r * g[i] + b[i];
}
extern "C" __global__ void rms_norm_bf16(const __nv_bfloat162* x, const __nv_bfloat162* g, __nv_bfloat162* y, int pairs) {
  __shared__ float2 part[32];
  const __nv_bfloat162* p = x + (size_t)blockIdx.x * pairs;
  float q = 0;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) { const float2 v = __bfloat1622float2(p[i]); q += v.x * v.x + v.y * v.y; }
  const float r = rsqrtf(all2(q, 0, part).x / (2 * pairs) + 1e-6f);
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float2 v = __bfloat1622float2(p[i]), w = __bfloat1622float2(g[i]);
    y[(size_t)blockIdx.x * pairs + i] = __floats2bfloat162_rn(v.x * r * w.x, v.y * r * w.y);
  }
}
