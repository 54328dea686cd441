// Backward passes: SwiGLU in bf16 by vectors of eight, and RMS norm with a residual gradient, a row a CTA held in registers.
#include <cuda_bf16.h>
extern "C" __global__ void swiglu_back(const uint4* gate, const uint4* up, const uint4* grad, uint4* dgate, uint4* dup, int n8) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n8; i += gridDim.x * blockDim.x) {
    const uint4 a = gate[i], b = up[i], g = grad[i];
    uint4 x, y;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float2 u = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&a)[k]), v = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&b)[k]),
                   d = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(&g)[k]);
      const float s = 1.f / (1.f + __expf(-u.x)), t = 1.f / (1.f + __expf(-u.y));
      reinterpret_cast<__nv_bfloat162*>(&x)[k] = __floats2bfloat162_rn(d.x * v.x * s * (1.f + u.x * (1.f - s)), d.y * v.y * t * (1.f + u.y * (1.f - t)));
      reinterpret_cast<__nv_bfloat162*>(&y)[k] = __floats2bfloat162_rn(d.x * u.x * s, d.y * u.y * t);
    }
    dgate[i] = x;
    dup[i] = y;
  }
}
template <int EACH> __device__ __forceinline__ void rms_row(const float4* x, const float4* gain, const float4* dy, const float4* residual, float4* dx) {
  __shared__ float2 part[32];
  const int t = threadIdx.x, n4 = blockDim.x * EACH;
  const size_t base = (size_t)blockIdx.x * n4;
  float4 v[EACH], g[EACH];
  float2 s = make_float2(0, 0);
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    const int i = t + k * blockDim.x;
    v[k] = x[base + i];
    g[k] = dy[base + i];
    const float4 w = gain[i];
    g[k] = make_float4(g[k].x * w.x, g[k].y * w.y, g[k].z * w.z, g[k].w * w.w);
    s.x += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
    s.y += v[k].x * g[k].x + v[k].y * g[k].y + v[k].z * g[k].z + v[k].w * g[k].w;
  }
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) { s.x += __shfl_xor_sync(~0u, s.x, d); s.y += __shfl_xor_sync(~0u, s.y, d); }
  if (t % 32 == 0) part[t / 32] = s;
  __syncthreads();
  s = make_float2(0, 0);
  for (int w = 0; w < blockDim.x / 32; ++w) { s.x += part[w].x; s.y += part[w].y; }
  const float n = n4 * 4.f, inv = rsqrtf(s.x / n + 1e-6f), f = inv * inv * inv * s.y / n;
#pragma unroll
  for (int k = 0; k < EACH; ++k) {
    const int i = t + k * blockDim.x;
    const float4 r = residual[base + i];
    dx[base + i] = make_float4(r.x + g[k].x * inv - v[k].x * f, r.y + g[k].y * inv - v[k].y * f, r.z + g[k].z * inv - v[k].z * f, r.w + g[k].w * inv - v[k].w * f);
  }
}
extern "C" __global__ void rms_back4(const float4* x, const float4* gain, const float4* dy, const float4* residual, float4* dx) { rms_row<4>(x, gain, dy, residual, dx); }
