// Four-bit floats with a scale of eight bits for sixteen values (NVFP4's form): rows quantised, and a matrix of them times a vector.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
__device__ __forceinline__ unsigned e2m1(float x) {
  const float a = fabsf(x);
  const unsigned m = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) + (a >= 3.5f) + (a > 5.f);
  return m | (x < 0 ? 8u : 0u);
}
extern "C" __global__ void quantise_nvfp4(const uint4* x, uint2* y, __nv_fp8_storage_t* scales, float global, int blocks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= blocks) return;
  const uint4 in[2] = {x[2 * i], x[2 * i + 1]};
  float v[16], most = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float2 f = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(in)[k]);
    v[2 * k] = f.x;
    v[2 * k + 1] = f.y;
    most = fmaxf(most, fmaxf(fabsf(f.x), fabsf(f.y)));
  }
  const __nv_fp8_storage_t s = __nv_cvt_float_to_fp8(most * global * (1.f / 6.f), __NV_SATFINITE, __NV_E4M3);
  const float back = __half2float(__half(__nv_cvt_fp8_to_halfraw(s, __NV_E4M3)));
  const float inverse = back > 0 ? __fdividef(global, back) : 0.f;
  unsigned w[2] = {};
#pragma unroll
  for (int k = 0; k < 16; ++k) w[k / 8] |= e2m1(v[k] * inverse) << (4 * (k % 8));
  y[i] = make_uint2(w[0], w[1]);
  scales[i] = s;
}
// A nibble's three low bits at the top of a half's exponent and mantissa are its value times 2^-14. Words of weights hold nibbles k and k + 4 for values 2k and 2k + 1.
__device__ __forceinline__ __half2 two_values(unsigned w) {
  const unsigned bits = (w & 0x00080008) << 12 | (w & 0x00070007) << 9;
  return __hmul2(reinterpret_cast<const __half2&>(bits), __float2half2_rn(16384.f));
}
extern "C" __global__ void __launch_bounds__(128) gemv_nvfp4(const uint4* w, const __nv_fp8x2_storage_t* scales, const uint4* x, float* y, int k32, float global) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const uint4* wr = w + (size_t)row * k32;
  const __nv_fp8x2_storage_t* sr = scales + (size_t)row * k32;
  float sum = 0;
  for (int i = lane; i < k32; i += 32) {
    const uint4 q = wr[i];
    const __half2 s = __half2(__nv_cvt_fp8x2_to_halfraw2(sr[i], __NV_E4M3));
    const unsigned words[4] = {q.x, q.y, q.z, q.w};
    float part[2];
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      __half2 acc = __float2half2_rn(0.f);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const uint4 xv = x[i * 4 + b * 2 + h];
        const __half2* xh = reinterpret_cast<const __half2*>(&xv);
#pragma unroll
        for (int k = 0; k < 4; ++k) acc = __hfma2(two_values(words[b * 2 + h] >> (4 * k)), xh[k], acc);
      }
      part[b] = __low2float(acc) + __high2float(acc);
    }
    sum += part[0] * __low2float(s) + part[1] * __high2float(s);
  }
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[row] = sum * global;
}
