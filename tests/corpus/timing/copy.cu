// Copies: words, 16 bytes, a stride, cp.async in stages, and stores only.
extern "C" __global__ void copy_words(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
extern "C" __global__ void copy_vectors(const uint4* x, uint4* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];
}
extern "C" __global__ void copy_strided(const float* x, float* y, int n, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[(size_t)i * step];
}
extern "C" __global__ void copy_async(const uint4* x, uint4* y, int tiles) {
  __shared__ uint4 s[4][128];
  const unsigned base = (unsigned)__cvta_generic_to_shared(&s[0][threadIdx.x]);
  const size_t first = (size_t)blockIdx.x * tiles * 128 + threadIdx.x;
  for (int t = 0; t < 3; ++t) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group;" ::"r"(base + t * 2048), "l"(x + first + t * 128) : "memory");
  }
  for (int t = 0; t < tiles; ++t) {
    if (t + 3 < tiles) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(base + (t + 3) % 4 * 2048), "l"(x + first + (t + 3) * 128) : "memory");
    asm volatile("cp.async.commit_group; cp.async.wait_group 3;" ::: "memory");
    __syncthreads();
    y[first + t * 128] = s[t % 4][threadIdx.x];
    __syncthreads();
  }
}
extern "C" __global__ void fill(uint4* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = make_uint4(i, 1, 2, 3);
}
extern "C" __global__ void empty() {}
