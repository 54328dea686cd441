// D = relu(A * B^T + bias) in bf16 with fp32 accumulation: one 128 x 128 tile per CTA, K in steps of 64 through a ring of
// TMA stages, tcgen05.mma into tensor memory, epilogue by four warps.
#include <cuda_bf16.h>

#include "ring.cuh"

constexpr int kTileK = 64, kStages = 3;
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
  __shared__ Ring<kStages> ring;
  const int warp = threadIdx.x / 32, m0 = blockIdx.y * kTileM, n0 = blockIdx.x * kTileN, steps = k / kTileK;
  const uint32_t accumulator = ring.open(kTileN);

  if (warp == 0 && ptx::elect_one()) {
    for (int i = 0; i < steps; ++i) {
      Stage& s = stages[i % kStages];
      uint64_t* bar = &ring.full[i % kStages];
      ring.wait_empty(i);
      ptx::arrive_expect_tx(bar, sizeof s);
      ptx::load_2d(s.a, &a, i * kTileK, m0, bar);
      ptx::load_2d(s.b, &b, i * kTileK, n0, bar);
    }
    ring.drain(steps);
  } else if (warp == 1 && ptx::elect_one()) {
    for (int i = 0; i < steps; ++i) {
      Stage& s = stages[i % kStages];
      ring.wait_full(i);
      for (int j = 0; j < kTileK / kMmaK; ++j) {
        const uint64_t step = j * (kMmaK * sizeof(__nv_bfloat16) >> 4);
        ptx::mma_f16(accumulator, ptx::swizzled_operand(s.a) + step, ptx::swizzled_operand(s.b) + step, kInstruction, i + j > 0);
      }
      ptx::commit(&ring.empty[i % kStages]);
    }
    ptx::commit(&ring.finished);
  }
  __syncwarp();

  ring.wait_finished();
  __nv_bfloat16* row = d + static_cast<size_t>(m0 + threadIdx.x) * n + n0;
  for_accumulator_row(accumulator, [&](int c, const float(&v)[16]) {
    for (int i = 0; i < 16; i += 2) {
      const float x = fmaxf(v[i] + bias[n0 + c + i], 0), y = fmaxf(v[i + 1] + bias[n0 + c + i + 1], 0);
      *reinterpret_cast<__nv_bfloat162*>(row + c + i) = __floats2bfloat162_rn(x, y);
    }
  });
  ring.close(kTileN);
}
