// y[r][c] = scale * x[r][c] + c, one 64 x 32 tile per CTA through TMA and 128-byte swizzled shared memory.
#include "ptx.cuh"

constexpr int kRows = 64, kColumns = 32, kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads)
    tma_copy(const __grid_constant__ ptx::TensorMap x, const __grid_constant__ ptx::TensorMap y, float scale) {
  __shared__ alignas(1024) float tile[kRows][kColumns];
  __shared__ uint64_t full;
  const int column = blockIdx.x * kColumns, row = blockIdx.y * kRows;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::arrive_expect_tx(&full, sizeof tile);
    ptx::load_2d(tile, &x, column, row, &full);
  }
  ptx::wait(&full, 0);

  // The swizzle puts chunk c (16 bytes) of row r at chunk c ^ r % 8.
  constexpr int kChunks = kColumns / 4;
  for (int i = threadIdx.x; i < kRows * kChunks; i += kThreads) {
    const int r = i / kChunks, c = i % kChunks;
    float4& v = reinterpret_cast<float4*>(tile[r])[c ^ r % 8];
    const float first = static_cast<float>(column + 4 * c);
    v.x = scale * v.x + first;
    v.y = scale * v.y + (first + 1);
    v.z = scale * v.z + (first + 2);
    v.w = scale * v.w + (first + 3);
  }
  ptx::fence_async_shared();
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::store_2d(&y, column, row, tile);
    ptx::commit_group();
    ptx::wait_all_groups();
  }
}
