// Histograms of bytes and of hashed words: atomics in global memory, in shared memory, and by warp with match.
extern "C" __global__ void histogram_global(const unsigned* x, unsigned* bins, int n, unsigned mask) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + (x[i] & mask), 1);
}
extern "C" __global__ void histogram_shared(const unsigned* x, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned w = x[i];
    atomicAdd(local + (w & 255), 1); atomicAdd(local + (w >> 8 & 255), 1); atomicAdd(local + (w >> 16 & 255), 1); atomicAdd(local + (w >> 24), 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(bins + i, local[i]);
}
extern "C" __global__ void histogram_match(const unsigned* x, unsigned* bins, int n) {
  __shared__ unsigned local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned b = x[i] & 63, peers = __match_any_sync(~0u, b);
    if (__ffs(peers) - 1 == threadIdx.x % 32) atomicAdd(local + b, __popc(peers));
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(bins + threadIdx.x, local[threadIdx.x]);
}
