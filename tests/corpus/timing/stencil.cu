// Stencils: five points from global memory, five points from a tile, seven points in three dimensions.
extern "C" __global__ void stencil5(const float* in, float* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= w - 1 || y >= h - 1) return;
  const float* p = in + (size_t)y * w + x;
  out[(size_t)y * w + x] = 0.2f * (p[0] + p[1] + p[-1] + p[w] + p[-w]);
}
extern "C" __global__ void stencil5_tile(const float* in, float* out, int w, int h) {
  __shared__ float t[18][34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int i = threadIdx.x; i < 18 * 34; i += 256) {
    const int x = min(max(x0 + i % 34 - 1, 0), w - 1), y = min(max(y0 + i / 34 - 1, 0), h - 1);
    t[i / 34][i % 34] = in[(size_t)y * w + x];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += 256) {
    const int x = i % 32 + 1, y = i / 32 + 1;
    out[(size_t)(y0 + y - 1) * w + x0 + x - 1] = 0.2f * (t[y][x] + t[y][x + 1] + t[y][x - 1] + t[y + 1][x] + t[y - 1][x]);
  }
}
extern "C" __global__ void stencil7(const float* in, float* out, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const size_t plane = (size_t)n * n;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  const float* p = in + (size_t)y * n + x;
  float below = p[0], here = p[plane];
  for (int z = 1; z < n - 1; ++z) {
    const float above = p[(z + 1) * plane];
    const float* q = p + z * plane;
    out[z * plane + (size_t)y * n + x] = here * -6 + above + below + q[1] + q[-1] + q[n] + q[-n];
    below = here; here = above;
  }
}
