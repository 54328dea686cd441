// D = (A * scale_a) * (B * scale_b)^T with one factor per block of elements along K: one 128 x 128 tile per CTA. A Format defines
// the block. The factors are in 512-byte blocks as tcgen05.cp reads them: 128 rows x 4 factors, at (m % 32) * 16 + (m / 32) * 4 +
// factor.
#pragma once

#include "ring.cuh"

constexpr int kStages = 2, kRowBytes = 128, kMmaBytes = 32, kScaleBlock = 512;

template <class Format>
struct Stage {
  unsigned char a[kTileM][kRowBytes], b[kTileN][kRowBytes];
  unsigned char scale_a[Format::kScaleBlocks][kScaleBlock], scale_b[Format::kScaleBlocks][kScaleBlock];
};

struct Operands {
  const ptx::TensorMap *a, *b;
  const unsigned char *scale_a, *scale_b;
};

// Columns of tensor memory: the accumulator, then for each stage four columns per block of each operand's factors. PTX orders
// a copy before a later MMA, but not an MMA before a later copy, so stages do not share columns.
constexpr int kScaleColumns = 4, kColumns = 256;

/// Computes the tile of this CTA, `steps` stages along K, and passes the thread's row in runs of 16 values to store(column, values).
template <class Format, class Store>
__device__ void block_scaled_tile(const Operands& in, int steps, Store store) {
  static_assert(sizeof(Stage<Format>) % 1024 == 0, "the swizzle repeats every 1024 bytes");
  static_assert(kTileN + kStages * 2 * Format::kScaleBlocks * kScaleColumns <= kColumns);
  extern __shared__ __align__(1024) unsigned char dynamic[];
  auto* stages = reinterpret_cast<Stage<Format>*>(dynamic);
  __shared__ Ring<kStages> ring;
  const int warp = threadIdx.x / 32;
  const uint32_t accumulator = ring.open(kColumns);

  if (warp == 0 && ptx::elect_one()) {
    for (int i = 0; i < steps; ++i) {
      Stage<Format>& s = stages[i % kStages];
      uint64_t* bar = &ring.full[i % kStages];
      ring.wait_empty(i);
      ptx::arrive_expect_tx(bar, sizeof s);
      ptx::load_2d(s.a, in.a, i * kRowBytes, blockIdx.y * kTileM, bar);
      ptx::load_2d(s.b, in.b, i * kRowBytes, blockIdx.x * kTileN, bar);
      ptx::load_bulk(s.scale_a, in.scale_a + (blockIdx.y * steps + i) * sizeof s.scale_a, sizeof s.scale_a, bar);
      ptx::load_bulk(s.scale_b, in.scale_b + (blockIdx.x * steps + i) * sizeof s.scale_b, sizeof s.scale_b, bar);
    }
    ring.drain(steps);
  } else if (warp == 1 && ptx::elect_one()) {
    for (int i = 0; i < steps; ++i) {
      Stage<Format>& s = stages[i % kStages];
      ring.wait_full(i);
      constexpr int kColumnsOfOperand = Format::kScaleBlocks * kScaleColumns;
      const uint32_t factors_a = accumulator + kTileN + i % kStages * 2 * kColumnsOfOperand, factors_b = factors_a + kColumnsOfOperand;
      for (int block = 0; block < Format::kScaleBlocks; ++block) {
        ptx::copy_scale_factors(factors_a + block * kScaleColumns, ptx::scale_factor_block(s.scale_a[block]));
        ptx::copy_scale_factors(factors_b + block * kScaleColumns, ptx::scale_factor_block(s.scale_b[block]));
      }
      for (int j = 0; j < kRowBytes / kMmaBytes; ++j) {
        const uint64_t step = j * (kMmaBytes >> 4);
        const uint32_t block = Format::block_of(j) * kScaleColumns;
        Format::mma(accumulator, ptx::swizzled_operand(s.a) + step, ptx::swizzled_operand(s.b) + step, Format::instruction(j),
                    factors_a + block, factors_b + block, i + j > 0);
      }
      ptx::commit(&ring.empty[i % kStages]);
    }
    ptx::commit(&ring.finished);
  }
  __syncwarp();

  ring.wait_finished();
  for_accumulator_row(accumulator, store);
  ring.close(kColumns);
}
