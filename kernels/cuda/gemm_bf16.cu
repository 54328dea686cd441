// D = relu(A * B^T + bias) in bf16 with fp32 accumulation: one 128 x 128 tile per CTA, K in steps of 64 through a ring of
// TMA stages, tcgen05.mma into tensor memory, epilogue by four warps.
#include <cuda_bf16.h>

#include "ptx.cuh"

constexpr int kTileM = 128, kTileN = 128, kTileK = 64, kStages = 3, kThreads = 128;
constexpr int kMmaK = 16;

struct Stage {
  __nv_bfloat16 a[kTileM][kTileK], b[kTileN][kTileK];
};

// D fp32, A and B bf16, K-major (PTX ISA, tcgen05 instruction descriptor).
constexpr uint32_t kInstruction = 1u << 4 | 1u << 7 | 1u << 10 | (kTileN >> 3) << 17 | (kTileM >> 4) << 24;

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm_bf16(const __grid_constant__ ptx::TensorMap a, const __grid_constant__ ptx::TensorMap b, const float* bias, __nv_bfloat16* d,
              int n, int k) {
  extern __shared__ __align__(1024) unsigned char dynamic[];
  Stage* stages = reinterpret_cast<Stage*>(dynamic);
  __shared__ uint64_t full[kStages], empty[kStages], finished;
  __shared__ uint32_t tmem_address;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int m0 = blockIdx.y * kTileM, n0 = blockIdx.x * kTileN, steps = k / kTileK;

  if (warp == 0) ptx::tmem_alloc(&tmem_address, kTileN);
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
  const uint32_t accumulator = tmem_address;

  if (warp == 0 && ptx::elect_one()) {
    for (int i = 0; i < steps; ++i) {
      const int s = i % kStages;
      ptx::wait(&empty[s], i / kStages % 2 ^ 1);
      ptx::arrive_expect_tx(&full[s], sizeof(Stage));
      ptx::load_2d(stages[s].a, &a, i * kTileK, m0, &full[s]);
      ptx::load_2d(stages[s].b, &b, i * kTileK, n0, &full[s]);
    }
  } else if (warp == 1 && ptx::elect_one()) {
    for (int i = 0; i < steps; ++i) {
      const int s = i % kStages;
      ptx::wait(&full[s], i / kStages % 2);
      ptx::tcgen05_fence_after();
      for (int j = 0; j < kTileK / kMmaK; ++j) {
        const uint64_t step = j * (kMmaK * sizeof(__nv_bfloat16) >> 4);
        ptx::mma_f16(accumulator, ptx::swizzled_operand(stages[s].a) + step, ptx::swizzled_operand(stages[s].b) + step, kInstruction,
                     i + j > 0);
      }
      ptx::commit(&empty[s]);
    }
    ptx::commit(&finished);
  }
  __syncwarp();

  ptx::wait(&finished, 0);
  ptx::tcgen05_fence_after();
  __nv_bfloat16* row = d + static_cast<size_t>(m0 + 32 * warp + lane) * n + n0;
  for (int c = 0; c < kTileN; c += 16) {
    float v[16];
    ptx::tmem_load_x16(v, accumulator + (warp << 21) + c);
    for (int i = 0; i < 16; i += 2) {
      const float x = fmaxf(v[i] + bias[n0 + c + i], 0), y = fmaxf(v[i + 1] + bias[n0 + c + i + 1], 0);
      *reinterpret_cast<__nv_bfloat162*>(row + c + i) = __floats2bfloat162_rn(x, y);
    }
  }
  ptx::tcgen05_fence_before();
  __syncthreads();
  if (warp == 0) ptx::tmem_dealloc(accumulator, kTileN);
}
