// Products by wmma, lanes that share words of one bank, tiles of products of floats by threads, and lines that all warps of an SM read at once
// (docs/lab/calibration.md).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

// Eight sums a warp, in turn.
template <class A, class C, int M, int N, int K, class E = A>
__device__ void products(float* y, int n) {
  wmma::fragment<wmma::matrix_a, M, N, K, A, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, M, N, K, A, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, M, N, K, C> c[8];
  // Registers of their own: ptxas makes equal halves of a product once.
  for (int i = 0; i < a.num_elements; ++i) a.x[i] = E(float((threadIdx.x + i) % 8));
  for (int i = 0; i < b.num_elements; ++i) b.x[i] = E(float((threadIdx.x + 3 * i) % 8));
  for (int i = 0; i < 8; ++i) wmma::fill_fragment(c[i], C(0.0f));
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 8; ++i) wmma::mma_sync(c[i], a, b, c[i]);
  }
  float sum = 0;
  for (int i = 0; i < 8; ++i)
    for (int e = 0; e < c[i].num_elements; ++e) sum += float(c[i].x[e]);
  if (sum == -1) y[threadIdx.x] = sum;
}
extern "C" __global__ void wmma_f16(float* y, int n) { products<half, half, 16, 16, 16>(y, n); }
extern "C" __global__ void wmma_f32(float* y, int n) { products<half, float, 16, 16, 16>(y, n); }
extern "C" __global__ void wmma_wide(float* y, int n) { products<half, float, 32, 8, 16>(y, n); }
extern "C" __global__ void wmma_bf16(float* y, int n) { products<__nv_bfloat16, float, 16, 16, 16>(y, n); }
extern "C" __global__ void wmma_tf32(float* y, int n) { products<wmma::precision::tf32, float, 16, 16, 8, float>(y, n); }
extern "C" __global__ void wmma_s8(float* y, int n) { products<signed char, int, 16, 16, 16>(y, n); }

// Lanes `share` apart read the same word; the others are in one bank.
template <int kShare>
__device__ void bank(float* y, int n) {
  __shared__ uint32_t words[32 * 32];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = 0;
  __syncthreads();
  uint32_t at = (threadIdx.x % (32 / kShare)) * 32, sum = 0;
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += ((volatile uint32_t*)words)[at + i];
  }
  if (sum == 7) y[threadIdx.x] = 1;
}
extern "C" __global__ void bank_1(float* y, int n) { bank<1>(y, n); }
extern "C" __global__ void bank_2(float* y, int n) { bank<2>(y, n); }
extern "C" __global__ void bank_4(float* y, int n) { bank<4>(y, n); }

// Lines 1 KiB apart from the L1, each read by `share` lanes.
template <int kShare>
__device__ void lines(const float* x, float* y, int n) {
  const float* at = x + (threadIdx.x % (32 / kShare)) * 256;
  float sum = 0;
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 16; ++i) sum += __ldca(at + i);
    at += sum > 1e30f;
  }
  if (sum == -1) y[threadIdx.x] = sum;
}
extern "C" __global__ void lines_1(const float* x, float* y, int n) { lines<1>(x, y, n); }
extern "C" __global__ void lines_2(const float* x, float* y, int n) { lines<2>(x, y, n); }

// A word for all lanes and a line of words, k by k: all warps of a CTA read the same lines. The row of a warp is its own.
extern "C" __global__ void row_times_lines(const float* __restrict__ a, const float* __restrict__ b, float* c, int k, int n) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, column = blockIdx.y * 32 + threadIdx.x % 32;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}
// The same lines again and again: from the L1.
extern "C" __global__ void line_again(const float* __restrict__ a, const float* __restrict__ b, float* c, int k, int n) {
  const int row = threadIdx.x / 32, column = threadIdx.x % 32;
  float sum = 0;
  for (int t = 0; t < n; ++t) {
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * 32 + column];
    a += sum > 1e30f;
  }
  if (sum == -1) c[threadIdx.x] = sum;
}

// A tile of 64 x 64 by 64 threads with 8 x 8 sums each; `kBank`: the columns of a thread lie 8 apart in shared memory, and are loaded one by one.
template <bool kBank>
__device__ void tile(const float* a, const float* b, float* c, int k, int n) {
  __shared__ float sa[8 * 64], sb[8 * 64];
  const int column = threadIdx.x % 8, row = threadIdx.x / 8;
  a += blockIdx.y * 64 * k;
  b += blockIdx.x * 64;
  float sum[8][8] = {}, ra[8], rb[8];
  for (int k0 = 0; k0 < k; k0 += 8) {
    for (int i = threadIdx.x; i < 512; i += 64) sa[i % 8 * 64 + i / 8] = a[i / 8 * k + i % 8];
    for (int i = threadIdx.x; i < 512; i += 64) sb[kBank ? (i / 64 * 8 + i % 8) * 8 + i % 64 / 8 : i] = b[i / 64 * n + i % 64];
    __syncthreads();
    a += 8;
    b += 8 * n;
#pragma unroll 1
    for (int d = 0; d < 8; ++d) {
      for (int i = 0; i < 8; ++i) ra[i] = sa[d * 64 + row * 8 + i];
      for (int i = 0; i < 8; ++i) rb[i] = kBank ? sb[(d * 8 + i) * 8 + column] : sb[d * 64 + column * 8 + i];
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) sum[i][j] += ra[i] * rb[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) c[(blockIdx.y * 64 + row * 8 + i) * n + blockIdx.x * 64 + column * 8 + j] = sum[i][j];
}
extern "C" __global__ void tile_wide(const float* a, const float* b, float* c, int k, int n) { tile<false>(a, b, c, k, n); }
extern "C" __global__ void tile_banks(const float* a, const float* b, float* c, int k, int n) { tile<true>(a, b, c, k, n); }

// Loads of which each needs the one before: what a launch of so short a kernel takes behind another.
extern "C" __global__ void chain(const uint32_t* x, uint32_t* y, int n) {
  uint32_t at = threadIdx.x;
  for (int i = 0; i < n; ++i) at = x[at] + threadIdx.x;
  if (n != 0) y[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
