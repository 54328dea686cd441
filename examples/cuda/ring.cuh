// Shared code of the GEMM examples: a ring of stages between the thread that loads and the thread that multiplies, and an
// accumulator in tensor memory.
#pragma once

#include "ptx.cuh"

constexpr int kTileM = 128, kTileN = 128, kThreads = 128;

/// One ring per CTA, in shared memory.
template <int kStages>
struct Ring {
  uint64_t full[kStages], empty[kStages], finished;
  uint32_t tensor_memory;

  /// Called by all threads: allocates `columns` of tensor memory (a power of two) and returns the first column's address.
  __device__ uint32_t open(uint32_t columns) {
    if (threadIdx.x / 32 == 0) ptx::tmem_alloc(&tensor_memory, columns);
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        ptx::mbarrier_init(&full[s], 1);
        ptx::mbarrier_init(&empty[s], 1);
      }
      ptx::mbarrier_init(&finished, 1);
      ptx::fence_mbarrier_init();
    }
    ptx::tcgen05_fence_before();
    __syncthreads();
    ptx::tcgen05_fence_after();
    return tensor_memory;
  }
  /// Called by all threads after their last read of tensor memory.
  __device__ void close(uint32_t columns) {
    ptx::tcgen05_fence_before();
    __syncthreads();
    if (threadIdx.x / 32 == 0) ptx::tmem_dealloc(tensor_memory, columns);
  }

  // Step i of a loop over K uses stage i % kStages.
  __device__ void wait_empty(int i) { ptx::wait(&empty[i % kStages], i / kStages % 2 ^ 1); }
  /// Called by the loading thread after its last step: no commit may arrive in the shared memory of a CTA that has ended.
  __device__ void drain(int steps) {
    for (int i = steps; i < steps + kStages; ++i) wait_empty(i);
  }
  __device__ void wait_full(int i) {
    ptx::wait(&full[i % kStages], i / kStages % 2);
    ptx::tcgen05_fence_after();
  }
  __device__ void wait_finished() {
    ptx::wait(&finished, 0);
    ptx::tcgen05_fence_after();
  }
};

/// Calls store(column, values) for every 16 columns of the thread's row of the accumulator; the row is threadIdx.x.
template <class Store>
__device__ void for_accumulator_row(uint32_t accumulator, Store store) {
  for (int c = 0; c < kTileN; c += 16) {
    float v[16];
    ptx::tmem_load_x16(v, accumulator + (threadIdx.x / 32 << 21) + c);
    store(c, v);
  }
}
