// Quantizers: e4m3 with one scale a row, and with one power of two for 32 elements.
#include <cuda_fp8.h>
#include <cuda_bf16.h>
extern "C" __global__ void rows_e4m3(const __nv_bfloat162* x, __nv_fp8x2_storage_t* y, float* scale, int pairs) {
  __shared__ float part[32];
  const __nv_bfloat162* p = x + (size_t)blockIdx.x * pairs;
  float m = 0;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) { const float2 v = __bfloat1622float2(p[i]); m = fmaxf(m, fmaxf(fabsf(v.x), fabsf(v.y))); }
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  for (int w = 0; w < blockDim.x / 32; ++w) m = fmaxf(m, part[w]);
  const float s = 448 / fmaxf(m, 1e-12f);
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    const float2 v = __bfloat1622float2(p[i]);
    y[(size_t)blockIdx.x * pairs + i] = __nv_cvt_float2_to_fp8x2(make_float2(v.x * s, v.y * s), __NV_SATFINITE, __NV_E4M3);
  }
  if (threadIdx.x == 0) scale[blockIdx.x] = 1 / s;
}
extern "C" __global__ void blocks_mxfp8(const float4* x, unsigned* y, unsigned char* scale, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  const float4 v = x[i];
  float m = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
  for (int d = 4; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  const int e = max((int)(__float_as_uint(m) >> 23) - 8, 0);
  const float s = __uint_as_float((254 - e) << 23);
  y[i] = __nv_cvt_float2_to_fp8x2(make_float2(v.x * s, v.y * s), __NV_SATFINITE, __NV_E4M3) |
         (unsigned)__nv_cvt_float2_to_fp8x2(make_float2(v.z * s, v.w * s), __NV_SATFINITE, __NV_E4M3) << 16;
  if (i % 8 == 0) scale[i / 8] = e;
}
