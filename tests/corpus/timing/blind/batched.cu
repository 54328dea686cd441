// Small products in batches: 16 x 16 by a warp each with mma, 8 x 8 by eight lanes, and outer products that add up.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void batched16(const __half* a, const __half* b, float* c, int k) {
  const int m = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.f);
  for (int i = 0; i < k; i += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, a + (size_t)m * 16 * k + i, k);
    wmma::load_matrix_sync(fb, b + (size_t)m * 16 * k + i * 16, 16);
    wmma::mma_sync(acc, fa, fb, acc);
  }
  wmma::store_matrix_sync(c + (size_t)m * 256, acc, 16, wmma::mem_row_major);
}
extern "C" __global__ void batched8(const float* a, const float* b, float* c) {
  const int m = (blockIdx.x * blockDim.x + threadIdx.x) / 8, r = threadIdx.x % 8;
  float x[8], s[8] = {};
  for (int k = 0; k < 8; ++k) x[k] = a[(size_t)m * 64 + r * 8 + k];
  for (int k = 0; k < 8; ++k) {
    const float4 u = reinterpret_cast<const float4*>(b + (size_t)m * 64 + k * 8)[0], v = reinterpret_cast<const float4*>(b + (size_t)m * 64 + k * 8)[1];
    s[0] += x[k] * u.x; s[1] += x[k] * u.y; s[2] += x[k] * u.z; s[3] += x[k] * u.w;
    s[4] += x[k] * v.x; s[5] += x[k] * v.y; s[6] += x[k] * v.z; s[7] += x[k] * v.w;
  }
  for (int k = 0; k < 8; ++k) c[(size_t)m * 64 + r * 8 + k] = s[k];
}
extern "C" __global__ void outer_sums(const float* x, const float* y, float* g, int rows, int n) {
  __shared__ float sx[32][33], sy[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  float s[4] = {};
  for (int r = 0; r < rows; r += 32) {
    for (int k = 0; k < 4; ++k) {
      sx[ty + 8 * k][tx] = x[(size_t)(r + ty + 8 * k) * n + blockIdx.y * 32 + tx];
      sy[ty + 8 * k][tx] = y[(size_t)(r + ty + 8 * k) * n + blockIdx.x * 32 + tx];
    }
    __syncthreads();
    for (int q = 0; q < 32; ++q)
      for (int k = 0; k < 4; ++k) s[k] += sx[q][ty + 8 * k] * sy[q][tx];
    __syncthreads();
  }
  for (int k = 0; k < 4; ++k) g[(size_t)(blockIdx.y * 32 + ty + 8 * k) * n + blockIdx.x * 32 + tx] = s[k];
}
