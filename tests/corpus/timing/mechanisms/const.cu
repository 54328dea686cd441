// Loads of constant memory at a register's address: how many words and lines the lanes of a warp name, and how much of the table is touched.
__constant__ unsigned table[16384];

// `distinct` words a warp, `stride` words apart, warps `apart` words apart; every load `step` words further. The loads do not wait for each other.
extern "C" __global__ void words(unsigned* c, int n, unsigned distinct, unsigned stride, unsigned apart, unsigned step, unsigned mask) {
  unsigned s = threadIdx.x, at = threadIdx.x % 32 % distinct * stride + threadIdx.x / 32 * apart;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    s = (s ^ table[at & mask]) * 5;
    at += step;
  }
  c[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
// Each load's address depends on the load before it.
extern "C" __global__ void chain(unsigned* c, int n, unsigned distinct, unsigned stride, unsigned apart, unsigned step, unsigned mask) {
  unsigned at = threadIdx.x % 32 % distinct * stride + threadIdx.x / 32 * apart;
#pragma unroll 1
  for (int i = 0; i < n; ++i) at += table[at & mask] + step;
  c[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
// The same loads of global and of shared memory, for comparison.
extern "C" __global__ void chain_shared(unsigned* c, int n, unsigned distinct, unsigned stride, unsigned apart, unsigned step, unsigned mask) {
  __shared__ unsigned copy[8192];
  for (unsigned k = threadIdx.x; k < 8192; k += blockDim.x) copy[k] = 0;
  __syncthreads();
  unsigned at = threadIdx.x % 32 % distinct * stride + threadIdx.x / 32 * apart;
#pragma unroll 1
  for (int i = 0; i < n; ++i) at += copy[at & mask & 8191] + step;
  c[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
