#include "drywell/isa/tensor_tile.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace drywell::isa {
namespace {

TEST(TileGeometry, CountsTheArticlesTransactionBytes) {
  // "NVFP4 training in TransformerEngine", section "DMA Prep": "This means the TMA transaction bytes is 128 * 16 * 4 * 2 = 16384 for the
  // activation tensor and 16 * 16 * 2 = 512 for the hadamard matrix." The activation stage is 2 x 8 boxes of "_64 x _8" (tAgA).
  TensorMapFields a;
  a.type = TensorType::bf16;
  a.rank = 2;
  a.dim = {5120, 8192, 1, 1, 1};
  a.stride = {5120 * 2};
  a.box = {64, 8, 1, 1, 1};
  a.swizzle = Swizzle::b128;
  EXPECT_EQ(2 * 8 * tile_geometry(a).transaction_bytes, 16384u);
  a.box = {16, 16, 1, 1, 1};
  a.swizzle = Swizzle::b32;
  EXPECT_EQ(tile_geometry(a).transaction_bytes, 512u);
}

TEST(TileGeometry, PitchIsTheSwizzleSpanOfNarrowRows) {  // docs/facts/tma-mbarrier.md §2.4
  TensorMapFields f;
  f.type = TensorType::u8;
  f.rank = 2;
  f.box = {48, 4, 1, 1, 1};
  EXPECT_EQ(tile_geometry(f).row_pitch, 48u);
  for (auto [s, span] : {std::pair{Swizzle::b64, 64u}, {Swizzle::b128, 128u}, {Swizzle::b128_atom64, 128u}}) {
    f.swizzle = s;
    const TileGeometry g = tile_geometry(f);
    EXPECT_EQ(g.row_pitch, span);
    EXPECT_EQ(g.row_bytes, 48u);
    EXPECT_EQ(g.transaction_bytes, 48u * 4);
    EXPECT_EQ(g.smem_bytes(), 3 * span + 48);
  }
}

TEST(TileGeometry, TraversalStridesShrinkOuterDimensionsOnly) {
  TensorMapFields f;
  f.type = TensorType::f32;
  f.rank = 3;
  f.box = {8, 5, 7, 1, 1};
  f.element_stride = {2, 2, 3, 1, 1};
  const TileGeometry g = tile_geometry(f);
  EXPECT_EQ(g.n, (std::array<uint32_t, 5>{8, 3, 3, 1, 1}));
  EXPECT_EQ(g.rows, 9u);
  EXPECT_EQ(g.transaction_bytes, 9u * 32);
}

TEST(TileGeometry, PaddedTypesCountPackedBytes) {  // docs/facts/tma-mbarrier.md §2.4, §2.6
  TensorMapFields f;
  f.rank = 2;
  f.box = {128, 10, 1, 1, 1};
  f.type = TensorType::b4x16_p64;
  EXPECT_EQ(tile_geometry(f).row_bytes, 128u);
  EXPECT_EQ(tile_geometry(f).transaction_bytes, 640u);
  f.type = TensorType::b6x16_p32;
  EXPECT_EQ(tile_geometry(f).transaction_bytes, 960u);
  f.type = TensorType::b4x16;
  EXPECT_EQ(tile_geometry(f).row_bytes, 64u);
  EXPECT_EQ(tile_geometry(f).transaction_bytes, 640u);
}

TEST(TileGeometry, RefusesWhatIsNotModelled) {
  TensorMapFields f;
  f.rank = 3;
  f.interleave = Interleave::bytes16;
  f.mode = TensorMapMode::im2col;
  EXPECT_THROW(tile_geometry(f), Unsupported);
}

// --- Rows against the per-element formula of docs/facts/tma-mbarrier.md §2.4 ---

struct Element {
  bool inside;
  uint64_t offset;
  bool operator==(const Element&) const = default;
};

// The formula as the page has it, one element at a time.
Element reference(const TensorMapFields& f, const std::array<int64_t, 5>& coord,
                  const std::array<int64_t, 5>& index, bool store, int64_t es) {
  bool inb = true;
  int64_t offset = 0;
  for (unsigned k = 0; k < f.rank; ++k) {
    const int64_t stride = k == 0 ? 1 : f.element_stride[k];
    const int64_t g = coord[k] + index[k] * stride;
    if (k == 0 && store) {
      const int64_t limit = (static_cast<int64_t>(f.dim[0]) * es + 15) / 16 * 16;
      inb = inb && 0 <= g && g * es < limit;
    } else {
      inb = inb && 0 <= g && g < static_cast<int64_t>(f.dim[k]);
    }
    offset += k == 0 ? g * es : g * static_cast<int64_t>(f.stride[k - 1]);
  }
  return {inb, static_cast<uint64_t>(offset)};
}

TEST(TileRow, EqualsThePerElementRule) {
  std::mt19937 rng(5);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<unsigned>(high - low + 1));
  };
  const TensorType types[] = {TensorType::u8, TensorType::bf16, TensorType::f32, TensorType::f64};
  for (int round = 0; round < 300; ++round) {
    TensorMapFields f;
    f.type = types[pick(0, 3)];
    const int es = static_cast<int>(element_bits(f.type) / 8), granule = 16 / es;
    f.rank = static_cast<uint32_t>(pick(1, 5));
    TensorCoordinates start{};
    std::array<int64_t, 5> coord{};
    for (unsigned k = 0; k < f.rank; ++k) {
      f.dim[k] = static_cast<uint64_t>(pick(1, k == 0 ? 70 : 6));
      f.box[k] = static_cast<uint32_t>(k == 0 ? pick(1, 3) * granule : pick(1, 4));
      f.element_stride[k] = static_cast<uint32_t>(pick(1, 3));
      if (k + 1 < f.rank) {
        f.stride[k] = static_cast<uint64_t>(pick(0, 100)) * 16;
      }
      start[k] = k == 0 ? pick(-3, 5) * granule : pick(-4, 7);
      coord[k] = start[k];
    }
    const TileGeometry g = tile_geometry(f);
    for (bool store : {false, true}) {
      const TensorAccess access = store ? TensorAccess::store : TensorAccess::load;
      const std::vector<TileRow> rows = tensor_rows(f, {.access = access, .coord = start}).rows;
      ASSERT_EQ(rows.size(), g.rows);
      for (uint32_t row = 0; row < g.rows; ++row) {
        const TileRow r = tile_row(f, g, start, row, access);
        ASSERT_EQ(r.smem_offset, row * g.row_pitch);
        ASSERT_EQ(std::tuple(rows[row].smem_offset, rows[row].first, rows[row].last), std::tuple(r.smem_offset, r.first, r.last));
        ASSERT_EQ(rows[row].global_offset, r.global_offset);
        std::array<int64_t, 5> index{};
        uint32_t rest = row;
        for (unsigned k = 1; k < 5; ++k) {
          index[k] = rest % g.n[k];
          rest /= g.n[k];
        }
        for (uint32_t i = 0; i < f.box[0]; ++i) {
          index[0] = i;
          const Element want = reference(f, coord, index, store, es);
          const uint32_t byte = i * static_cast<uint32_t>(es);
          const Element got{byte >= r.first && byte < r.last, r.global_offset + byte};
          ASSERT_EQ(got, want) << "round " << round << " row " << row << " element " << i;
        }
      }
    }
  }
}

TEST(TileRow, StoresReachTheEndOfTheLastSixteenBytes) {
  // docs/facts/tma-mbarrier.md §2.4 note s: "U32 with dim_0 = 5: elements 5, 6, 7 of each row are hit".
  TensorMapFields f;
  f.type = TensorType::u32;
  f.dim[0] = 5;
  f.box[0] = 16;
  const TileGeometry g = tile_geometry(f);
  EXPECT_EQ(tile_row(f, g, {}, 0, TensorAccess::load).last, 20u);
  EXPECT_EQ(tile_row(f, g, {}, 0, TensorAccess::store).last, 32u);
}

TEST(TileRow, PackedNibblesAreClippedByTheByte) {
  TensorMapFields f;
  f.type = TensorType::b4x16;
  f.dim[0] = 70;
  f.box[0] = 64;
  const TileRow r = tile_row(f, tile_geometry(f), {32}, 0, TensorAccess::load);
  EXPECT_EQ(r.global_offset, 16u);
  EXPECT_EQ(r.last, (70u - 32) / 2);
}

TEST(TileRow, PaddedRowsAreInsideOrOutsideAsAWhole) {
  TensorMapFields f;
  f.type = TensorType::b6x16_p32;
  f.dim[0] = 256;
  f.box[0] = 128;
  const TileGeometry g = tile_geometry(f);
  const TileRow inside = tile_row(f, g, {128}, 0, TensorAccess::load);
  EXPECT_EQ(inside.global_offset, 96u);
  EXPECT_EQ(inside.last, 128u);
  EXPECT_EQ(tile_row(f, g, {256}, 0, TensorAccess::load).last, 0u);
  EXPECT_EQ(tile_row(f, g, {-128}, 0, TensorAccess::load).last, 0u);
}

TEST(TileRow, GatherTakesOneRowPerCoordinate) {
  TensorMapFields f;
  f.type = TensorType::f16;
  f.rank = 2;
  f.dim = {64, 10, 1, 1, 1};
  f.stride = {128};
  f.box = {64, 1, 1, 1, 1};
  const TileGeometry g = gather4_geometry(f);
  EXPECT_EQ(g.transaction_bytes, 4u * 128);
  EXPECT_EQ(g.rows, 4u);
  const std::array<int32_t, 4> rows{9, -1, 3, 10};
  const uint64_t offsets[] = {9 * 128 + 16, 0, 3 * 128 + 16, 0};
  const uint32_t last[] = {112, 0, 112, 0};  // starts 8 elements in: 56 remain
  for (unsigned i = 0; i < 4; ++i) {
    const TileRow r = gather4_row(f, g, 8, rows, i, TensorAccess::load);
    EXPECT_EQ(r.smem_offset, i * 128);
    EXPECT_EQ(r.last, last[i]);
    if (last[i] != 0) {
      EXPECT_EQ(r.global_offset, offsets[i]);
    }
  }
}

TEST(TensorCoordinates, InnermostStartIsAMultipleOfSixteenBytes) {  // docs/facts/tma-mbarrier.md §2.3
  const auto errors = [](TensorType t, TensorCoordinates c, TensorAccess access) {
    TensorMapFields f;
    f.type = t;
    f.rank = 2;
    Diagnostics d;
    check_coordinates(f, c, access, d);
    return d.error_count();
  };
  EXPECT_EQ(errors(TensorType::u16, {8, 3}, TensorAccess::load), 0u);
  EXPECT_EQ(errors(TensorType::u16, {-8, -3}, TensorAccess::load), 0u);
  EXPECT_EQ(errors(TensorType::u16, {4, 0}, TensorAccess::load), 1u);
  EXPECT_EQ(errors(TensorType::u16, {-4, 0}, TensorAccess::load), 1u);
  EXPECT_EQ(errors(TensorType::b4x16, {16, 0}, TensorAccess::load), 1u);
  EXPECT_EQ(errors(TensorType::b4x16_p64, {64, 0}, TensorAccess::load), 1u);
  EXPECT_EQ(errors(TensorType::b4x16_p64, {-128, 0}, TensorAccess::load), 0u);
  EXPECT_EQ(errors(TensorType::u16, {8, -1}, TensorAccess::store), 1u);
  EXPECT_EQ(errors(TensorType::u16, {-8, 1}, TensorAccess::store), 1u);
}

TEST(OobFill, RepeatsTheMeasuredHalfWord) {
  EXPECT_EQ(oob_fill_half(OobFill::zero), 0);
  EXPECT_EQ(oob_fill_half(OobFill::nan), 0x7FF7);
}

TEST(Tf32Load, RoundsToTenFractionBits) {  // docs/facts/tma-mbarrier.md §2.2, measured values
  const std::pair<uint32_t, uint32_t> cases[] = {
      {0x00001000, 0}, {0x00001001, 0x00002000}, {0x00003000, 0x00004000}, {0x007FF000, 0x00800000}, {0x7F7FF000, 0x7F800000}, {0x7F7FEFFF, 0x7F7FE000}, {0x7F800000, 0x7F800000}, {0xFF800000, 0xFF800000}, {0x7FC00000, 0x7FFFE000}, {0xFF800001, 0x7FFFE000}, {0x807FF000, 0x80800000}, {0x3F800000, 0x3F800000}};
  for (auto [in, out] : cases) {
    EXPECT_EQ(tf32_load_rounding(in), out) << std::hex << in;
  }
}

// --- im2col ---

// The walk written as the definition of a convolution's gather: base pixels in row-major order inside the
// bounding box, starting somewhere, each shifted by the filter offset.
TEST(Im2colWalk, VisitsBasePixelsOfTheBoundingBoxInOrder) {
  TensorMapFields f;
  f.mode = TensorMapMode::im2col;
  f.type = TensorType::f16;
  f.rank = 4;
  f.dim = {24, 9, 7, 3, 1};
  f.stride = {48, 48 * 9, 48 * 9 * 7, 0};
  f.lower_corner = {-1, -1, 0};
  f.upper_corner = {-2, -1, 0};
  f.element_stride = {1, 2, 1, 1, 1};
  f.channels_per_pixel = 16;
  f.pixels_per_column = 60;
  f.swizzle = Swizzle::b32;
  // Base pixels: w = -1, 1, 3, 5 (last <= 9 - 1 - 2 = 6), h = -1..5, n = 0..2.
  struct Base {
    int w, h, n;
  };
  std::vector<Base> bases;
  for (int n = 0; n < 4; ++n) {
    for (int h = -1; h <= 7 - 1 - 1; ++h) {
      for (int w = -1; w <= 9 - 1 - 2; w += 2) {
        bases.push_back({w, h, n});
      }
    }
  }
  const size_t first = 2 * 4 * 7 - 30;  // starts in image 1 and runs past the last image
  const std::array<uint32_t, 3> offset{2, 1, 0};
  Im2colWalk walk(f, {16, {bases[first].w, bases[first].h, 0}, bases[first].n}, offset);
  for (uint32_t p = 0; p < f.pixels_per_column; ++p, walk.advance()) {
    const Base b = bases[first + p];
    const int w = b.w + 2, h = b.h + 1;
    const bool inside = w >= 0 && w < 9 && h >= 0 && h < 7 && b.n < 3;
    const TileRow r = walk.row();
    EXPECT_EQ(r.smem_offset, p * 32);
    // Channels 16..31 of 24: 8 of them exist.
    EXPECT_EQ(r.last, inside ? 16u : 0u) << p;
    if (inside) {
      EXPECT_EQ(r.global_offset, 32u + static_cast<unsigned>(w) * 48 + static_cast<unsigned>(h) * 48 * 9 +
                                     static_cast<unsigned>(b.n) * 48 * 9 * 7);
    }
  }
  EXPECT_EQ(tile_geometry(f).transaction_bytes, 60u * 32);
}

TEST(Im2colWalk, RestartsAtTheLowerCornerWhateverTheStart) {
  TensorMapFields f;
  f.mode = TensorMapMode::im2col;
  f.type = TensorType::u8;
  f.rank = 3;
  f.dim = {16, 6, 4, 1, 1};
  f.stride = {16, 96, 0, 0};
  f.element_stride = {1, 2, 1, 1, 1};
  f.channels_per_pixel = 16;
  f.pixels_per_column = 5;
  Im2colWalk walk(f, {0, {3, 0, 0}, 0}, {0, 0, 0});
  std::vector<uint64_t> visited;
  for (int p = 0; p < 5; ++p, walk.advance()) {
    visited.push_back(walk.row().global_offset);
  }
  EXPECT_EQ(visited, (std::vector<uint64_t>{3 * 16, 5 * 16, 96, 96 + 2 * 16, 96 + 4 * 16}));
}

}  // namespace
}  // namespace drywell::isa
