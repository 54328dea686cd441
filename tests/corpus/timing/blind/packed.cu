// Packed numbers: rows to signed bytes, four-bit weights back to halves, and Hamming distances of bit vectors.
#include <cuda_fp16.h>
extern "C" __global__ void rows_s8(const float4* x, char4* y, float* scale, int n4) {
  __shared__ float part[8];
  const float4* p = x + (size_t)blockIdx.x * n4;
  float m = 0;
  for (int i = threadIdx.x; i < n4; i += blockDim.x) {
    const float4 v = p[i];
    m = fmaxf(m, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
  }
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  m = part[0];
  for (int w = 1; w < blockDim.x / 32; ++w) m = fmaxf(m, part[w]);
  const float k = 127 / fmaxf(m, 1e-8f);
  for (int i = threadIdx.x; i < n4; i += blockDim.x) {
    const float4 v = p[i];
    y[(size_t)blockIdx.x * n4 + i] = make_char4(__float2int_rn(v.x * k), __float2int_rn(v.y * k), __float2int_rn(v.z * k), __float2int_rn(v.w * k));
  }
  if (threadIdx.x == 0) scale[blockIdx.x] = m / 127;
}
extern "C" __global__ void weights_u4(const unsigned* w, const __half* scale, uint4* out, int groups) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned v = w[i];
  const __half2 s = __half2half2(scale[i / groups]);
  __half2 r[4];
  for (int k = 0; k < 4; ++k) r[k] = __hmul2(__halves2half2(__int2half_rn((int)(v >> (8 * k) & 15) - 8), __int2half_rn((int)(v >> (8 * k + 4) & 15) - 8)), s);
  out[i] = *reinterpret_cast<uint4*>(r);
}
extern "C" __global__ void hamming(const uint4* q, const uint4* base, unsigned* out, int n) {
  __shared__ uint4 s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = q[blockIdx.y * 8 + threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned d = 0;
  for (int k = 0; k < 8; ++k) {
    const uint4 v = base[(size_t)k * n + i];
    d += __popc(v.x ^ s[k].x) + __popc(v.y ^ s[k].y) + __popc(v.z ^ s[k].z) + __popc(v.w ^ s[k].w);
  }
  out[blockIdx.y * n + i] = d;
}
