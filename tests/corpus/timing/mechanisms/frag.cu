// Fragments of wmma from global memory and from shared memory.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
template <bool SHARED> __device__ __forceinline__ void run(const half* a, const half* b, float* c, int n, int ld, int step) {
  __shared__ half s[64 * 72];
  for (int i = threadIdx.x; i < 64 * 72; i += blockDim.x) s[i] = a[i];
  __syncthreads();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  const int w = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const half *p = SHARED ? s : a + (size_t)w * 16 * ld, *q = SHARED ? s + 16 * 72 : b + (size_t)w * 16 * ld;
  for (int i = 0; i < n; ++i) {
    wmma::load_matrix_sync(fa, p + i % 4 * step, ld);
    wmma::load_matrix_sync(fb, q + i % 4 * step, ld);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + (size_t)w * 256, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void frag_global(const half* a, const half* b, float* c, int n, int ld, int step) { run<false>(a, b, c, n, ld, step); }
extern "C" __global__ void frag_shared(const half* a, const half* b, float* c, int n, int ld, int step) { run<true>(a, b, c, n, ld, step); }
// Each fragment once.
extern "C" __global__ void frag_once(const half* a, const half* b, float* c, int ld) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  const size_t w = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  wmma::load_matrix_sync(fa, a + w * 16 * ld, ld);
  wmma::load_matrix_sync(fb, b + w * 16 * ld, ld);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c + w * 16 * ld, fc, ld, wmma::mem_row_major);
}
