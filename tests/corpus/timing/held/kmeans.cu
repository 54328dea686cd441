// k-means: the nearest of the centroids in shared memory, and sums of the members by atomic operations.
extern "C" __global__ void kmeans_assign(const float* p, const float* c, int* label, int n, int k) {
  __shared__ float s[64 * 8];
  for (int i = threadIdx.x; i < k * 8; i += blockDim.x) s[i] = c[i];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[8];
  for (int d = 0; d < 8; ++d) v[d] = p[i * 8 + d];
  float best = 1e30f;
  int at = 0;
  for (int j = 0; j < k; ++j) {
    float m = 0;
    for (int d = 0; d < 8; ++d) { const float e = v[d] - s[j * 8 + d]; m += e * e; }
    if (m < best) { best = m; at = j; }
  }
  label[i] = at;
}
extern "C" __global__ void kmeans_sum(const float* p, const unsigned* label, float* sums, int* count, int n) {
  __shared__ float s[64 * 8];
  __shared__ int m[64];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) s[i] = 0;
  if (threadIdx.x < 64) m[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int l = label[i] & 63;
    for (int d = 0; d < 8; ++d) atomicAdd(&s[l * 8 + d], p[d * n + i]);
    atomicAdd(&m[l], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += blockDim.x) atomicAdd(&sums[i], s[i]);
  if (threadIdx.x < 64) atomicAdd(&count[threadIdx.x], m[threadIdx.x]);
}
