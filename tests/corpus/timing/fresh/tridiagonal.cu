// Tridiagonal systems: cyclic reduction in parallel, 512 unknowns a CTA, and Thomas's sweeps with a system a thread.
extern "C" __global__ void __launch_bounds__(512) pcr512(const float* lower, const float* diagonal, const float* upper, const float* right, float* x) {
  __shared__ float a[512], b[512], c[512], d[512];
  const int t = threadIdx.x;
  const size_t at = (size_t)blockIdx.x * 512 + t;
  a[t] = t == 0 ? 0.f : lower[at];
  b[t] = 12.f + diagonal[at];
  c[t] = t == 511 ? 0.f : upper[at];
  d[t] = right[at];
  __syncthreads();
  for (int step = 1; step < 512; step *= 2) {
    const int l = max(t - step, 0), r = min(t + step, 511);
    const float e = t >= step ? -a[t] / b[l] : 0.f, f = t + step < 512 ? -c[t] / b[r] : 0.f;
    const float na = e * a[l], nc = f * c[r], nb = b[t] + e * c[l] + f * a[r], nd = d[t] + e * d[l] + f * d[r];
    __syncthreads();
    a[t] = na, b[t] = nb, c[t] = nc, d[t] = nd;
    __syncthreads();
  }
  x[at] = d[t] / b[t];
}
extern "C" __global__ void thomas(const float* lower, const float* diagonal, const float* upper, const float* right, float* scratch, float* x, int systems, int n) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float c = 0, d = 0;
  for (int i = 0; i < n; ++i) {
    const size_t at = (size_t)i * systems + s;
    const float a = i ? lower[at] : 0.f, inverse = 1.f / (12.f + diagonal[at] - a * c);
    c = upper[at] * inverse;
    d = (right[at] - a * d) * inverse;
    scratch[at] = c;
    x[at] = d;
  }
  for (int i = n - 2; i >= 0; --i) {
    const size_t at = (size_t)i * systems + s;
    d = x[at] - scratch[at] * d;
    x[at] = d;
  }
}
