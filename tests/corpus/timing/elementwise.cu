// One element after another: axpy, GELU, and a chain of half-precision operations.
#include <cuda_fp16.h>
extern "C" __global__ void axpy(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void gelu4(const float4* x, float4* y, int n4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    float* f = &v.x;
    for (int k = 0; k < 4; ++k) f[k] = 0.5f * f[k] * (1 + tanhf(0.79788456f * (f[k] + 0.044715f * f[k] * f[k] * f[k])));
    y[i] = v;
  }
}
extern "C" __global__ void half_chain(const __half2* x, __half2* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 v = x[i];
  for (int k = 0; k < 16; ++k) v = __hfma2(v, v, __hmul2(v, __float2half2_rn(0.25f)));
  y[i] = v;
}
extern "C" __global__ void poly(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], s = 1;
#pragma unroll 8
  for (int k = 0; k < 128; ++k) s = s * v + 0.5f;
  y[i] = s;
}
