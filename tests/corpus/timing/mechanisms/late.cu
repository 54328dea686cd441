// Rows of W words, stored word by word by a thread, as dense_store_* of f64.cu, but one warp after another: warp k waits for `gap` times k
// dependent products. Do stores join that no other warp's stores come between?
// nvcc -arch=sm_90a -ptx
template <int W>
__device__ __forceinline__ void late(float* z, int gap, float by) {
  float v = threadIdx.x;
  const int warp = threadIdx.x / 32 + blockDim.x / 32 * (blockIdx.x / 132);
#pragma unroll 1
  for (int k = 0; k < gap * warp; ++k) v = v * by + by;
  float* row = z + (blockIdx.x * blockDim.x + threadIdx.x) * W;
#pragma unroll
  for (int k = 0; k < W; ++k) row[k] = v + k;
}
#define LATE(W) extern "C" __global__ void late_##W(float* z, int gap, float by) { late<W>(z, gap, by); }
LATE(2) LATE(5) LATE(9) LATE(16)
