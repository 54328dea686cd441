// D = (A * scale_a) * (B * scale_b)^T with MX block scaling: A, B e4m3, one ue8m0 factor per 32 elements along K, D fp32.
// One 128 x 128 tile per CTA. The factors travel as the 512-byte blocks tcgen05.cp reads: 128 rows x 4 factors, at
// (m % 32) * 16 + (m / 32) * 4 + factor.
#include "ptx.cuh"

constexpr int kTileM = 128, kTileN = 128, kTileK = 128, kStages = 2, kThreads = 128;
constexpr int kMmaK = 32, kScaleBlock = 512;
// Columns of tensor memory: the accumulator, then for each stage four for either operand's factors (PTX orders a copy before
// the MMA behind it, not behind the MMA before it, so stages do not share them); allocations are powers of two.
constexpr int kScaleColumns = 4, kColumns = 256;

struct Stage {
  unsigned char a[kTileM][kTileK], b[kTileN][kTileK];
  unsigned char scale_a[kScaleBlock], scale_b[kScaleBlock];
};
static_assert(sizeof(Stage) % 1024 == 0, "the swizzle repeats every 1024 bytes");

// e4m3 both, ue8m0 factors; MMA j of a stage takes factor j of each word.
__device__ constexpr uint32_t instruction(int j) {
  return static_cast<uint32_t>(j) << 4 | (kTileN >> 3) << 17 | 1u << 23 | (kTileM >> 7) << 27 | static_cast<uint32_t>(j) << 29;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm_mxf8(const __grid_constant__ ptx::TensorMap a, const __grid_constant__ ptx::TensorMap b, const unsigned char* scale_a,
              const unsigned char* scale_b, float* d, int n, int k) {
  extern __shared__ __align__(1024) unsigned char dynamic[];
  Stage* stages = reinterpret_cast<Stage*>(dynamic);
  __shared__ uint64_t full[kStages], empty[kStages], finished;
  __shared__ uint32_t tmem_address;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int m0 = blockIdx.y * kTileM, n0 = blockIdx.x * kTileN, steps = k / kTileK;

  if (warp == 0) ptx::tmem_alloc(&tmem_address, kColumns);
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
      Stage& s = stages[i % kStages];
      uint64_t* bar = &full[i % kStages];
      ptx::wait(&empty[i % kStages], i / kStages % 2 ^ 1);
      ptx::arrive_expect_tx(bar, sizeof s.a + sizeof s.b + sizeof s.scale_a + sizeof s.scale_b);
      ptx::load_2d(s.a, &a, i * kTileK, m0, bar);
      ptx::load_2d(s.b, &b, i * kTileK, n0, bar);
      ptx::load_bulk(s.scale_a, scale_a + (blockIdx.y * steps + i) * kScaleBlock, kScaleBlock, bar);
      ptx::load_bulk(s.scale_b, scale_b + (blockIdx.x * steps + i) * kScaleBlock, kScaleBlock, bar);
    }
  } else if (warp == 1 && ptx::elect_one()) {
    for (int i = 0; i < steps; ++i) {
      Stage& s = stages[i % kStages];
      ptx::wait(&full[i % kStages], i / kStages % 2);
      ptx::tcgen05_fence_after();
      const uint32_t factors_a = accumulator + kTileN + i % kStages * 2 * kScaleColumns, factors_b = factors_a + kScaleColumns;
      ptx::copy_scale_factors(factors_a, ptx::scale_factor_block(s.scale_a));
      ptx::copy_scale_factors(factors_b, ptx::scale_factor_block(s.scale_b));
      for (int j = 0; j < kTileK / kMmaK; ++j) {
        const uint64_t step = j * (kMmaK >> 4);
        ptx::mma_mxf8f6f4(accumulator, ptx::swizzled_operand(s.a) + step, ptx::swizzled_operand(s.b) + step, instruction(j),
                          factors_a, factors_b, i + j > 0);
      }
      ptx::commit(&empty[i % kStages]);
    }
    ptx::commit(&finished);
  }
  __syncwarp();

  ptx::wait(&finished, 0);
  ptx::tcgen05_fence_after();
  float* row = d + static_cast<size_t>(m0 + 32 * warp + lane) * n + n0;
  for (int c = 0; c < kTileN; c += 16) {
    float v[16];
    ptx::tmem_load_x16(v, accumulator + (warp << 21) + c);
    for (int i = 0; i < 16; i += 4) *reinterpret_cast<float4*>(row + c + i) = make_float4(v[i], v[i + 1], v[i + 2], v[i + 3]);
  }
  ptx::tcgen05_fence_before();
  __syncthreads();
  if (warp == 0) ptx::tmem_dealloc(accumulator, kColumns);
}
