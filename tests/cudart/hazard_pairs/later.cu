// A second set of kernels with a mistake (`wrong`) and without it. The finding is at the line marked `here`.
#include "ptx.cuh"
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#define W template <bool wrong> __global__ void

// A sum over the CTA whose scratch memory the next sum uses again.
template <bool wrong> __device__ int block_sum(int v, int *scratch) {
  int t = threadIdx.x;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  if (!wrong) __syncthreads();
  if (t % 32 == 0) scratch[t / 32] = v;  // here block_sum_twice
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 4; i++) sum += scratch[i];
  return sum;
}
W block_sum_twice(const int *in, int *out) {  // mean and variance of a row
  __shared__ int scratch[4];
  int t = threadIdx.x, v = in[t], mean = block_sum<wrong>(v, scratch) / 128;
  out[t] = block_sum<wrong>((v - mean) * (v - mean), scratch);
}
W transpose_in_place(int *m) {  // each tile of 8 by 8 takes its mirror image; the right one changes both tiles
  __shared__ int a[8][9], b[8][9];
  int x = threadIdx.x % 8, y = threadIdx.x / 8, i = blockIdx.x, j = blockIdx.y;
  if (!wrong && i > j) return;
  a[y][x] = m[(8 * i + y) * 16 + 8 * j + x];
  b[y][x] = m[(8 * j + y) * 16 + 8 * i + x];
  __syncthreads();
  m[(8 * i + y) * 16 + 8 * j + x] = b[x][y];  // here transpose_in_place
  if (!wrong && i != j) m[(8 * j + y) * 16 + 8 * i + x] = a[x][y];
}
W pipeline_no_barrier(const int *in, int *out) {  // each thread waits for its own copies only
  __shared__ int s[2][64];
  int t = threadIdx.x, sum = 0;
  __pipeline_memcpy_async(&s[0][t], in + t, 4);
  __pipeline_commit();
  for (int i = 0; i < 4; i++) {
    if (i < 3) __pipeline_memcpy_async(&s[(i + 1) % 2][t], in + 64 * (i + 1) + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    if (!wrong) __syncthreads();
    sum += s[i % 2][63 - t];  // here pipeline_no_barrier
    __syncthreads();
  }
  out[t] = sum;
}
W __cluster_dims__(2) cluster_histogram(const int *in, int *out) {  // bins of the peer are counted before they are zero
  __shared__ int bins[8];
  cg::cluster_group c = cg::this_cluster();
  int t = threadIdx.x;
  if (t < 8) bins[t] = 0;
  if (wrong) __syncthreads(); else c.sync();
  int bin = in[blockIdx.x * 64 + t] + t % 2 * 8;
  atomicAdd(c.map_shared_rank(bins, bin / 8) + bin % 8, 1);  // here cluster_histogram
  c.sync();
  if (t < 8) out[c.block_rank() * 8 + t] = bins[t];
}
W store_flag(const int *in, int *out, int *mid, int *flag) {  // the flag follows a bulk store that has only read its source
  __shared__ alignas(128) int s[64];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    s[t] = in[t] * 3;
    fence_async();
    __syncthreads();
    if (t > 0) return;
    store(mid, s, 256);
    if (wrong) store_wait_read(); else store_wait();
    __threadfence();
    atomicExch(flag, 1);
    if (wrong) store_wait();
  } else {
    if (t == 0) while (atomicAdd(flag, 0) == 0);
    if (t == 0) __threadfence();
    __syncthreads();
    out[t] = mid[t];  // here store_flag
  }
}
#undef W

static int *mem(bool zero) {
  int h[1024], *p;
  for (int i = 0; i < 1024; i++) h[i] = zero ? 0 : i % 7;
  cudaMalloc(&p, sizeof h);
  cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
  return p;
}
template <bool wrong> int go(const char *name) {
  int *in = mem(false), *out = mem(true), *mid = mem(true), *flag = mem(true);
#define K(n, g, b, ...) if (!strcmp(name, #n)) { n<wrong><<<g, b>>>(__VA_ARGS__); return 1; }
  K(block_sum_twice, 1, 128, in, out)
  K(transpose_in_place, dim3(2, 2), 64, in)
  K(pipeline_no_barrier, 1, 64, in, out)
  K(cluster_histogram, 2, 64, in, out)
  K(store_flag, 2, 64, in, out, mid, flag)
  return 0;
}
int main(int n, char **a) {
  if (n < 3 || !(a[2][0] == 'w' ? go<true>(a[1]) : go<false>(a[1]))) return 2;
  return cudaDeviceSynchronize() ? 9 : 0;
}
