// Double precision: 64 x 64 tiles of a product with 4 x 4 in registers, and Kepler's equation by Newton's method in a fixed number of steps.
extern "C" __global__ void __launch_bounds__(256) dgemm64(const double* a, const double* b, double* c, int n, int k) {
  __shared__ double as[8][66], bs[8][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  double s[4][4] = {};
  for (int at = 0; at < k; at += 8) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      as[t % 8][t / 8 + 32 * i] = a[(size_t)(blockIdx.y * 64 + t / 8 + 32 * i) * k + at + t % 8];
      bs[t / 64 + 4 * i][t % 64] = b[(size_t)(at + t / 64 + 4 * i) * n + blockIdx.x * 64 + t % 64];
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      double u[4], v[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) { u[i] = as[q][ty + 16 * i]; v[i] = bs[q][tx + 16 * i]; }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) s[i][j] += u[i] * v[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) c[(size_t)(blockIdx.y * 64 + ty + 16 * i) * n + blockIdx.x * 64 + tx + 16 * j] = s[i][j];
}
extern "C" __global__ void kepler(const float* anomaly, const float* eccentricity, double2* place, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double m = anomaly[i], e = fmin(fabs((double)eccentricity[i]), 0.9);
  double x = m, s, c;
  for (int k = 0; k < steps; ++k) {
    sincos(x, &s, &c);
    x -= (x - e * s - m) / (1.0 - e * c);
  }
  sincos(x, &s, &c);
  place[i] = make_double2(c - e, sqrt(1.0 - e * e) * s);
}
