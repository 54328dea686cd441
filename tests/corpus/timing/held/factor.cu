// Small factorizations in a batch: Cholesky of 32 x 32 by a warp, a lower triangular solve, and a transform of 256 points.
extern "C" __global__ void cholesky32(const float* a, float* l) {
  __shared__ float t[4][32][33];
  const int w = threadIdx.x / 32, r = threadIdx.x % 32;
  const size_t base = ((size_t)blockIdx.x * 4 + w) * 1024;
  for (int i = 0; i < 32; ++i) t[w][i][r] = a[base + i * 32 + r] * 0.01f + (i == r ? 2.f : 0.f);
  __syncwarp();
  for (int k = 0; k < 32; ++k) {
    const float d = sqrtf(t[w][k][k]);
    __syncwarp();
    if (r == k) t[w][k][k] = d;
    if (r > k) t[w][r][k] /= d;
    __syncwarp();
    if (r > k)
      for (int j = k + 1; j <= r; ++j) t[w][r][j] -= t[w][r][k] * t[w][j][k];
    __syncwarp();
  }
  for (int i = 0; i < 32; ++i) l[base + i * 32 + r] = t[w][i][r];
}
extern "C" __global__ void solve32(const float* l, float* x) {
  const int w = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, r = threadIdx.x % 32;
  float b = x[w * 32 + r];
  for (int k = 0; k < 32; ++k) {
    const float c = l[(size_t)w * 1024 + r * 32 + k];
    if (r == k) b /= c + 3.f;
    const float s = __shfl_sync(~0u, b, k);
    if (r > k) b -= c * s;
  }
  x[w * 32 + r] = b;
}
extern "C" __global__ void fft256(const float2* x, float2* y) {
  __shared__ float2 s[2][256];
  const int i = threadIdx.x;
  s[0][i] = x[blockIdx.x * 256 + i];
  s[0][i + 128] = x[blockIdx.x * 256 + i + 128];
  int from = 0;
  for (int n = 1; n < 256; n *= 2) {
    __syncthreads();
    const int k = i & (n - 1);
    float sn, cs;
    __sincosf(-3.14159265f * k / n, &sn, &cs);
    const float2 a = s[from][i], b = s[from][i + 128];
    const float2 t = make_float2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
    const int to = (i - k) * 2 + k;
    s[from ^ 1][to] = make_float2(a.x + t.x, a.y + t.y);
    s[from ^ 1][to + n] = make_float2(a.x - t.x, a.y - t.y);
    from ^= 1;
  }
  __syncthreads();
  y[blockIdx.x * 256 + i] = s[from][i];
  y[blockIdx.x * 256 + i + 128] = s[from][i + 128];
}
