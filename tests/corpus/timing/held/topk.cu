// The largest k of a row: rounds of a maximum by a CTA, and a warp that keeps a list in registers.
extern "C" __global__ void topk_rounds(const float* x, float* best, int* at, int n, int k) {
  extern __shared__ float row[];
  __shared__ float top[8];
  __shared__ int where[8];
  for (int i = threadIdx.x; i < n; i += blockDim.x) row[i] = x[(size_t)blockIdx.x * n + i];
  __syncthreads();
  for (int r = 0; r < k; ++r) {
    float m = -1e30f;
    int w = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      if (row[i] > m) { m = row[i]; w = i; }
    for (int d = 16; d > 0; d >>= 1) {
      const float om = __shfl_xor_sync(~0u, m, d);
      const int ow = __shfl_xor_sync(~0u, w, d);
      if (om > m || (om == m && ow < w)) { m = om; w = ow; }
    }
    if (threadIdx.x % 32 == 0) { top[threadIdx.x / 32] = m; where[threadIdx.x / 32] = w; }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < blockDim.x / 32; ++i)
        if (top[i] > m) { m = top[i]; w = where[i]; }
      best[blockIdx.x * k + r] = m;
      at[blockIdx.x * k + r] = w;
      row[w] = -1e30f;
    }
    __syncthreads();
  }
}
extern "C" __global__ void topk_warp(const float* x, float* best, int rows, int n) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[4] = {-1e30f, -1e30f, -1e30f, -1e30f};
  for (int i = lane; i < n; i += 32) {
    float c = x[(size_t)row * n + i];
    for (int j = 0; j < 4; ++j)
      if (c > v[j]) { const float t = v[j]; v[j] = c; c = t; }
  }
  for (int r = 0; r < 4; ++r) {
    float m = v[0];
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (__ffs(__ballot_sync(~0u, v[0] == m)) - 1 == lane) { v[0] = v[1]; v[1] = v[2]; v[2] = v[3]; v[3] = -1e30f; }
    if (lane == r) best[row * 4 + r] = m;
  }
}
