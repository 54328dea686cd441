// Sparse matrices times vectors: ELLPACK in double precision, a row a thread, and coordinates with sums of equal rows within a warp.
extern "C" __global__ void ell_f64(const unsigned* columns, const double* values, const double* x, double* y, int rows, int width, unsigned mask) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double s = 0;
  for (int k = 0; k < width; ++k) s += values[(size_t)k * rows + r] * __ldg(&x[columns[(size_t)k * rows + r] & mask]);
  y[r] = s;
}
extern "C" __global__ void coo_warp(const unsigned* order, const unsigned* columns, const float* values, const float* x, float* y, int count, unsigned mask) {
  const int lane = threadIdx.x % 32;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned row = order[i] * 5 >> 5;
    float s = values[i] * x[columns[i] & mask];
    const unsigned same = __match_any_sync(~0u, row);
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const float o = __shfl_down_sync(~0u, s, d);
      if (lane + d < 32 && (same >> (lane + d) & 1)) s += o;
    }
    if (__ffs(same) - 1 == lane) atomicAdd(&y[row], s);
  }
}
