// Products of a matrix and a vector: a row a warp, small matrices in a batch, half precision with wide loads, columns by thread.
#include <cuda_fp16.h>
extern "C" __global__ void gemv_warp(const float* a, const float* x, float* y, int rows, int n) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float s = 0;
  for (int i = lane; i < n; i += 32) s += a[(size_t)row * n + i] * x[i];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (lane == 0) y[row] = s;
}
extern "C" __global__ void gemv_batched(const float* a, const float* x, float* y) {
  __shared__ float v[64];
  const float* m = a + (size_t)blockIdx.x * 64 * 64;
  v[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  float s = 0;
  for (int j = 0; j < 64; ++j) s += m[j * 64 + threadIdx.x] * v[j];
  y[blockIdx.x * 64 + threadIdx.x] = s;
}
extern "C" __global__ void gemv_half(const uint4* a, const uint4* x, float* y, int n8) {
  const uint4* row = a + (size_t)blockIdx.x * n8;
  float s = 0;
  for (int i = threadIdx.x; i < n8; i += blockDim.x) {
    const uint4 p = row[i], q = x[i];
    const __half2* u = reinterpret_cast<const __half2*>(&p);
    const __half2* w = reinterpret_cast<const __half2*>(&q);
    for (int k = 0; k < 4; ++k) {
      const float2 f = __half22float2(u[k]), g = __half22float2(w[k]);
      s += f.x * g.x + f.y * g.y;
    }
  }
  __shared__ float part[8];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) s += part[w];
    y[blockIdx.x] = s;
  }
}
