// Softmax of rows: a warp a row with the row in registers, a CTA a row in three passes, and online.
extern "C" __global__ void softmax_warp(const float* x, float* y, int rows) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v[16], m = -3e38f, s = 0;
  for (int i = 0; i < 16; ++i) { v[i] = x[(size_t)row * 512 + i * 32 + lane]; m = fmaxf(m, v[i]); }
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  for (int i = 0; i < 16; ++i) { v[i] = __expf(v[i] - m); s += v[i]; }
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  const float r = 1 / s;
  for (int i = 0; i < 16; ++i) y[(size_t)row * 512 + i * 32 + lane] = v[i] * r;
}
__device__ float all(float v, float* part, bool sum) {
  for (int d = 16; d > 0; d >>= 1) { const float o = __shfl_xor_sync(~0u, v, d); v = sum ? v + o : fmaxf(v, o); }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[0];
  for (int w = 1; w < blockDim.x / 32; ++w) v = sum ? v + part[w] : fmaxf(v, part[w]);
  __syncthreads();
  return v;
}
extern "C" __global__ void softmax_cta(const float* x, float* y, int cols) {
  __shared__ float part[32];
  const float* p = x + (size_t)blockIdx.x * cols;
  float m = -3e38f, s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, p[i]);
  m = all(m, part, false);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += __expf(p[i] - m);
  s = 1 / all(s, part, true);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[(size_t)blockIdx.x * cols + i] = __expf(p[i] - m) * s;
}
extern "C" __global__ void softmax_online(const float* x, float* y, int cols) {
  __shared__ float part[32];
  const float* p = x + (size_t)blockIdx.x * cols;
  float m = -3e38f, s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) { const float v = p[i], n = fmaxf(m, v); s = s * __expf(m - n) + __expf(v - n); m = n; }
  const float top = all(m, part, false);
  s = 1 / all(s * __expf(m - top), part, true);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) y[(size_t)blockIdx.x * cols + i] = __expf(p[i] - top) * s;
}
