// Physics: a step of a wave in three axes, of a lattice gas of nine speeds, and forces of neighbours in cells.
extern "C" __global__ void wave3(const float* u, const float* before, float* next, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  float below = u[y * nx + x], here = u[(size_t)nx * ny + y * nx + x];
  for (int z = 1; z < nz - 1; ++z) {
    const size_t i = ((size_t)z * ny + y) * nx + x;
    const float above = u[i + (size_t)nx * ny];
    next[i] = 2 * here - before[i] + 0.1f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + below + above - 6 * here);
    below = here; here = above;
  }
}
extern "C" __global__ void lattice(const float* f, float* g, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, n = w * h;
  const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const float wt[9] = {4 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 9.f, 1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};
  float v[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const int sx = (x - cx[k] + w) % w, sy = (y - cy[k] + h) % h;
    v[k] = f[k * n + sy * w + sx];
    rho += v[k]; ux += cx[k] * v[k]; uy += cy[k] * v[k];
  }
  ux /= rho + 1; uy /= rho + 1;
  const float q = 1.5f * (ux * ux + uy * uy);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const float e = 3 * (cx[k] * ux + cy[k] * uy);
    g[k * n + y * w + x] = v[k] - 1.2f * (v[k] - wt[k] * rho * (1 + e + 0.5f * e * e - q));
  }
}
extern "C" __global__ void cell_forces(const float4* p, float4* f, int cells) {
  const int c = blockIdx.x, i = threadIdx.x;
  const float4 a = p[c * 64 + i];
  float4 s = make_float4(0, 0, 0, 0);
  for (int d = -1; d <= 1; ++d) {
    const int o = (c + d + cells) % cells;
    for (int k = 0; k < 64; ++k) {
      const float4 b = p[o * 64 + k];
      const float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, r = rsqrtf(x * x + y * y + z * z + 0.01f), t = b.w * r * r * r;
      s.x += t * x; s.y += t * y; s.z += t * z;
    }
  }
  f[c * 64 + i] = s;
}
