// Sums of segments: equal segments by a warp, sorted keys with one atomic a change, pooling of rows.
extern "C" __global__ void segment_warp(const float* x, const unsigned* length, float* y, int segments, int stride) {
  const int s = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (s >= segments) return;
  const int n = (length[s] & (stride - 1)) + 1;
  float sum = 0;
  for (int i = lane; i < n; i += 32) sum += x[(size_t)s * stride + i];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) y[s] = sum;
}
extern "C" __global__ void segment_runs(const float* x, float* y, int run, int each) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
  float sum = 0;
  int key = first / run;
  for (int i = first; i < first + each; ++i) {
    if (i / run != key) { atomicAdd(&y[key], sum); sum = 0; key = i / run; }
    sum += x[i];
  }
  atomicAdd(&y[key], sum);
}
extern "C" __global__ void bag_mean(const float* table, const unsigned* index, float* y, int bag, int width, int mask) {
  const int c = threadIdx.x;
  float s = 0;
  for (int i = 0; i < bag; ++i) s += table[(size_t)(index[blockIdx.x * bag + i] & mask) * width + c];
  y[(size_t)blockIdx.x * width + c] = s / bag;
}
