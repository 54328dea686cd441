// Grids of three axes: a Jacobi step in double precision with its residual, and a lattice of nineteen speeds.
extern "C" __global__ void __launch_bounds__(256) jacobi3_f64(const double* u, const double* f, double* next, double* residual, int nx, int ny, int nz, double h2) {
  __shared__ double tile[10][34];
  __shared__ double part[8];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx + 1, y = blockIdx.y * 8 + ty + 1;
  const size_t plane = (size_t)nx * ny;
  size_t at = (size_t)blockIdx.z * 8 * plane + (size_t)y * nx + x;
  double below = u[at], here = u[at + plane], sum = 0;
  for (int z = 0; z < 8; ++z, at += plane) {
    const double above = u[at + 2 * plane];
    tile[ty + 1][tx + 1] = here;
    if (tx == 0) tile[ty + 1][0] = u[at + plane - 1];
    if (tx == 31) tile[ty + 1][33] = u[at + plane + 1];
    if (ty == 0) tile[0][tx + 1] = u[at + plane - nx];
    if (ty == 7) tile[9][tx + 1] = u[at + plane + nx];
    __syncthreads();
    const double v = (tile[ty + 1][tx] + tile[ty + 1][tx + 2] + tile[ty][tx + 1] + tile[ty + 2][tx + 1] + below + above - h2 * f[at + plane]) * (1.0 / 6.0);
    next[at + plane] = v;
    sum += (v - here) * (v - here);
    below = here;
    here = above;
    __syncthreads();
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
  if (tx == 0) part[ty] = sum;
  __syncthreads();
  if (tx == 0 && ty == 0) {
    for (int w = 1; w < 8; ++w) sum += part[w];
    atomicAdd(residual, sum);
  }
}
extern "C" __global__ void __launch_bounds__(128) lbm_d3q19(const float* f, float* g, int nx, int ny, int nz, float omega) {
  constexpr int cx[19] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
  constexpr int cy[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
  constexpr int cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z, cells = nx * ny * nz;
  float v[19], rho = 1.f, ux = 0, uy = 0, uz = 0;
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    const int sx = (x - cx[k]) & (nx - 1), sy = (y - cy[k]) & (ny - 1), sz = (z - cz[k]) & (nz - 1);
    v[k] = f[(size_t)k * cells + ((size_t)sz * ny + sy) * nx + sx] * 0.01f;
    rho += v[k];
    ux += cx[k] * v[k];
    uy += cy[k] * v[k];
    uz += cz[k] * v[k];
  }
  const float inverse = 1.f / rho;
  ux *= inverse, uy *= inverse, uz *= inverse;
  const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int k = 0; k < 19; ++k) {
    const float weight = k == 0 ? 1.f / 3.f : k < 7 ? 1.f / 18.f : 1.f / 36.f, e = 3.f * (cx[k] * ux + cy[k] * uy + cz[k] * uz);
    g[(size_t)k * cells + ((size_t)z * ny + y) * nx + x] = v[k] - omega * (v[k] - weight * rho * (1.f + e + 0.5f * e * e - square));
  }
}
