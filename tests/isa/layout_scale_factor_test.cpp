#include "drywell/isa/layout/scale_factor.h"

#include <gtest/gtest.h>

#include "drywell/core/error.h"
#include "drywell/isa/layout/checks.h"
#include "drywell/isa/layout/print.h"

namespace drywell::layout {
namespace {

/// interleave_sf_tensor of "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "Scale factor layouts":
/// reshape to (REST_M, 4, 32, REST_K, 4), permute to (REST_M, REST_K, 32,
/// 4, 4).
std::vector<uint8_t> interleaved(const std::vector<uint8_t>& sf, int64_t m, int64_t k) {
  std::vector<uint8_t> out;
  for (int64_t rest_m = 0; rest_m < m / 128; ++rest_m) {
    for (int64_t rest_k = 0; rest_k < k / 4; ++rest_k) {
      for (int64_t lane = 0; lane < 32; ++lane) {
        for (int64_t group = 0; group < 4; ++group) {
          for (int64_t f = 0; f < 4; ++f) {
            out.push_back(sf[static_cast<size_t>((rest_m * 128 + group * 32 + lane) * k + rest_k * 4 + f)]);
          }
        }
      }
    }
  }
  return out;
}

std::vector<uint8_t> numbered(int64_t rows, int64_t factors) {
  std::vector<uint8_t> out(static_cast<size_t>(rows * factors));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<uint8_t>(i * 167 + i / 256);
  return out;
}

TEST(BlockedScales, AreTheInterleavedTensorOfTheArticle) {
  for (const auto& [rows, factors] : {std::pair{128, 4}, {256, 8}, {384, 20}}) {
    const std::vector<uint8_t> sf = numbered(rows, factors);
    EXPECT_EQ(to_blocked(sf, rows, factors), interleaved(sf, rows, factors));
  }
}

TEST(BlockedScales, ComeBackFromPaddedTiles) {
  for (const auto& [rows, factors] : {std::pair{1, 1}, {127, 3}, {129, 5}, {200, 17}, {0, 4}, {128, 0}}) {
    const std::vector<uint8_t> sf = numbered(rows, factors);
    const std::vector<uint8_t> blocked = to_blocked(sf, rows, factors, 0xEE);
    EXPECT_EQ(static_cast<int64_t>(blocked.size()), (rows + 127) / 128 * 128 * ((factors + 3) / 4 * 4));
    EXPECT_EQ(from_blocked(blocked, rows, factors), sf);
  }
  const std::vector<uint8_t> one = to_blocked(std::vector<uint8_t>{7}, 1, 1, 0xEE);
  EXPECT_EQ(one[0], 7);
  EXPECT_EQ(std::count(one.begin(), one.end(), 0xEE), 511);
}

TEST(BlockedScales, RejectWrongSizes) {
  EXPECT_THROW(to_blocked(std::vector<uint8_t>(5), 2, 2), InputError);
  EXPECT_THROW(from_blocked(std::vector<uint8_t>(511), 128, 4), InputError);
  EXPECT_THROW(to_blocked({}, -1, 2), InputError);
}

TEST(BlockedScales, OffsetsAreThoseOfTheGmemLayout) {
  constexpr int64_t rows = 300, k = 256, vector = 16;
  const Layout sfa = tile_atom_to_shape_sf(IntTuple::of({Int::dynamic(rows), Int::dynamic(k)}), vector);
  for (int64_t r = 0; r < rows; r += 7) {
    for (int64_t c = 0; c < k; c += 5) {
      EXPECT_EQ(sfa(IntTuple::of({r, c})).leaf().value, blocked_offset(r, c / vector, k / vector));
    }
  }
}

// PTX ISA, tcgen05 scale factors (docs/facts/tcgen05.md §6): column = m/32, lane = m%32 + 32p, byte = factor of the
// MMA.
TEST(ScaleFactorTmem, EveryQuarterHoldsEachFactorWhereTheInstructionReadsIt) {
  for (const char* kind : {"mxf8", "mxf4", "nvf4"}) {
    const BlockScaledTile t = block_scaled_tile(kind, 128, 256);
    const int64_t per_mma = t.mma.k / t.vector;
    for (const bool b : {false, true}) {
      const ComposedLayout l = b ? make_tmem_layout_sfb(t) : make_tmem_layout_sfa(t);
      const int64_t rows = b ? 256 : 128;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t copy = 0; copy < 4; ++copy) {
          for (int64_t mma = 0; mma < 4; ++mma) {
            for (int64_t f = 0; f < per_mma; ++f) {
              const IntTuple at =
                  IntTuple::of({IntTuple::of({IntTuple::of({row, copy}), IntTuple::of({0, f})}), 0, mma});
              const int64_t offset = l(at).leaf().value;  // byte addresses: lane stride 4 * 65536
              const int64_t word = (mma * per_mma + f) / 4, byte = (mma * per_mma + f) % 4;
              EXPECT_EQ(offset >> 18, row % 32 + 32 * copy);
              EXPECT_EQ((offset & 0x3FFFF) / 4, word * (rows / 32) + row / 32);
              EXPECT_EQ(offset % 4, byte);
            }
          }
        }
      }
    }
  }
}

// Both put one 512-byte tile after the other; with several tiles in N and in K, C++ goes along N first, the
// DSL along K.
TEST(ScaleFactorSmem, CutlassAndDslLayoutsAreTheSameFunctionForOneRowOfTiles) {
  for (const char* kind : {"mxf8", "mxf4", "nvf4"}) {
    const BlockScaledTile t = block_scaled_tile(kind, 128, 128);
    const Layout a = take(make_smem_layout_sfa(t), 0, 3), b = take(make_smem_layout_sfb(t), 0, 3);
    EXPECT_TRUE(check_equal(a, deduce_smem_layout_sfa(t)).ok) << kind;
    EXPECT_TRUE(check_equal(b, deduce_smem_layout_sfb(t)).ok) << kind;
  }
}

// Two CTAs: each has half of SFA's rows; SFB of N = 192 has the layout of N = 256.
TEST(ScaleFactorSmem, PairsSplitRowsAndNarrowTilesRoundUp) {
  const Layout pair = make_smem_layout_sfa(block_scaled_tile("mxf8", 256, 256, 2));
  EXPECT_TRUE(same_values(pair.shape(), make_smem_layout_sfa(block_scaled_tile("mxf8", 128, 256)).shape()));
  EXPECT_EQ(take(make_smem_layout_sfb(block_scaled_tile("nvf4", 128, 192)), 0, 3),
            take(make_smem_layout_sfb(block_scaled_tile("nvf4", 128, 256)), 0, 3));
  EXPECT_EQ(take(make_smem_layout_sfb(block_scaled_tile("nvf4", 128, 64)), 0, 3),
            take(make_smem_layout_sfb(block_scaled_tile("nvf4", 128, 128)), 0, 3));
}

TEST(BlockwiseScale, OneFactorPerBlockInEitherMajor) {
  for (const Major major : {Major::mn, Major::k}) {
    const BlockwiseScale c{64, 32, 128, major, major};
    const Layout a = tile_atom_to_shape_sfa(c, IntTuple::of({256, 96, 512, 2}));
    const Layout b = tile_atom_to_shape_sfb(c, IntTuple::of({256, 96, 512, 2}));
    for (int64_t k = 0; k < 512; k += 17) {
      for (int64_t m = 0; m < 256; m += 5) {
        const int64_t block = major == Major::mn ? m / 64 + k / 128 * 4 : m / 64 * 4 + k / 128;
        EXPECT_EQ(a(IntTuple::of({m, k, 1})).leaf().value, block + 16);
      }
      for (int64_t n = 0; n < 96; n += 5) {
        const int64_t block = major == Major::mn ? n / 32 + k / 128 * 3 : n / 32 * 4 + k / 128;
        EXPECT_EQ(b(IntTuple::of({n, k, 1})).leaf().value, block + 12);
      }
    }
  }
}

TEST(BlockwiseScale, TrivialConfigurationHasOneFactorPerTile) {
  const BlockwiseScale c = trivial_blockwise_scale(IntTuple::of({128, 64, 32}));
  EXPECT_EQ(size(filter_zeros(smem_atom_layout_sfa(c, IntTuple::of({128, 64, 32})))).value, 1);
  EXPECT_EQ(size(filter_zeros(smem_atom_layout_sfb(c, IntTuple::of({128, 64, 32})))).value, 1);
}

TEST(BlockScaledTile, RejectsWhatTheInstructionCannotDo) {
  EXPECT_THROW(block_scaled_tile("fp8", 128, 128), InputError);
  EXPECT_THROW(make_smem_layout_sfa(block_scaled_tile("mxf8", 100, 128)), InputError);
  EXPECT_THROW(sf_atom(0), InputError);
  BlockScaledTile t = block_scaled_tile("mxf8", 128, 128);
  t.vector = 24;
  EXPECT_THROW(deduce_smem_layout_sfa(t), InputError);
}

}  // namespace
}  // namespace drywell::layout
