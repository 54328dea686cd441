// Box filters: a tile with its halo in shared memory, and the two passes of a separable filter.
extern "C" __global__ void box_tile(const float* x, float* y, int w, int h) {
  __shared__ float t[20][36];
  const int bx = blockIdx.x * 32, by = blockIdx.y * 16, tid = threadIdx.y * 32 + threadIdx.x;
  for (int i = tid; i < 20 * 36; i += 512) {
    const int cx = min(max(bx + i % 36 - 2, 0), w - 1), cy = min(max(by + i / 36 - 2, 0), h - 1);
    t[i / 36][i % 36] = x[cy * w + cx];
  }
  __syncthreads();
  float s = 0;
  for (int dy = 0; dy < 5; ++dy)
    for (int dx = 0; dx < 5; ++dx) s += t[threadIdx.y + dy][threadIdx.x + dx];
  y[(by + threadIdx.y) * w + bx + threadIdx.x] = s * 0.04f;
}
extern "C" __global__ void box_columns(const float* x, float* y, int w, int h, int r) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 64;
  float s = 0;
  for (int k = -r; k <= r; ++k) s += x[min(max(first + k, 0), h - 1) * w + c];
  for (int i = first; i < first + 64; ++i) {
    y[i * w + c] = s / (2 * r + 1);
    s += x[min(i + r + 1, h - 1) * w + c] - x[max(i - r, 0) * w + c];
  }
}
