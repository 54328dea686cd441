// Sums: grid-stride with shuffles and one atomic a CTA, a tree in shared memory, rows by CTA, columns by thread.
extern "C" __global__ void sum_shuffle(const float* x, float* out, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  __shared__ float part[32];
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x == 0) atomicAdd(out, s);
  }
}
extern "C" __global__ void sum_float4(const float4* x, float* out, int n4) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) { const float4 v = x[i]; s += v.x + v.y + v.z + v.w; }
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
extern "C" __global__ void sum_tree(const float* x, float* out, int n) {
  __shared__ float t[256];
  const int i = blockIdx.x * 512 + threadIdx.x;
  t[threadIdx.x] = (i < n ? x[i] : 0) + (i + 256 < n ? x[i + 256] : 0);
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (threadIdx.x < s) t[threadIdx.x] += t[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = t[0];
}
extern "C" __global__ void column_sum(const float* x, float* out, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  float s = 0;
  for (int r = blockIdx.y; r < rows; r += gridDim.y) s += x[(size_t)r * cols + c];
  atomicAdd(out + c, s);
}
