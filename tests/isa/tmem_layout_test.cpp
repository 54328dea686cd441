#include "drywell/isa/tmem_layout.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "drywell/core/types.h"

namespace drywell::isa {
namespace {

using Cell = std::tuple<unsigned, unsigned, unsigned>;
Cell cell(const TmemCell& c) { return {c.cta, c.lane, c.column}; }

// --- D ---

TEST(DLayout, IsChosenByShapeAndForm) {  // docs/facts/tcgen05.md §5
  EXPECT_EQ(d_layout(256, 2, false, false), DLayout::A);
  EXPECT_EQ(d_layout(256, 2, false, true), DLayout::A);
  EXPECT_EQ(d_layout(128, 2, false, false), DLayout::B);
  EXPECT_EQ(d_layout(128, 2, false, true), DLayout::C);
  EXPECT_EQ(d_layout(128, 1, false, false), DLayout::D);
  EXPECT_EQ(d_layout(128, 1, true, false), DLayout::D);
  EXPECT_EQ(d_layout(64, 1, true, true), DLayout::E);
  EXPECT_EQ(d_layout(64, 1, false, true), DLayout::F);
  EXPECT_EQ(d_layout(32, 1, true, false), DLayout::G);
  EXPECT_EQ(d_layout(32, 1, false, false), std::nullopt);
  EXPECT_EQ(d_layout(64, 2, false, false), std::nullopt);
  EXPECT_EQ(d_layout(128, 2, true, false), std::nullopt);
}

TEST(DLayout, GivesTheWorkedCells) {  // docs/facts/tcgen05.md §10 rows 11..13
  EXPECT_EQ(cell(d_cell(DLayout::F, 17, 4, 64)), Cell(0, 33, 4));
  EXPECT_EQ(cell(d_cell(DLayout::B, 70, 100, 128)), Cell(1, 70, 36));
  EXPECT_EQ(cell(d_cell(DLayout::G, 3, 20, 64)), Cell(0, 35, 4));
}

struct DCase {
  DLayout layout;
  unsigned rows, ctas, lanes_used, column_groups;
};

class DLayoutMap : public testing::TestWithParam<DCase> {};

TEST_P(DLayoutMap, IsOneToOneAndFillsItsLanesAndColumns) {
  const DCase c = GetParam();
  for (unsigned n : {64u, 128u, 256u}) {
    std::set<Cell> seen;
    std::set<unsigned> ctas, lanes, columns;
    for (unsigned row = 0; row < c.rows; ++row) {
      for (unsigned col = 0; col < n; ++col) {
        const TmemCell at = d_cell(c.layout, row, col, n);
        seen.insert(cell(at));
        ctas.insert(at.cta);
        lanes.insert(at.lane);
        columns.insert(at.column);
        ASSERT_LT(at.lane, kTmemLanes);
      }
    }
    EXPECT_EQ(seen.size(), size_t{c.rows} * n);
    EXPECT_EQ(ctas.size(), c.ctas);
    EXPECT_EQ(lanes.size(), c.lanes_used);
    EXPECT_EQ(columns.size(), n / c.column_groups);
    EXPECT_EQ(*columns.rbegin() + 1, n / c.column_groups);
    EXPECT_EQ(d_columns(c.layout, n), n / c.column_groups);
    EXPECT_EQ(d_rows_per_cta(c.layout), c.rows / c.ctas);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DLayoutMap,
                         testing::Values(DCase{DLayout::A, 256, 2, 128, 1}, DCase{DLayout::B, 128, 2, 128, 2},
                                         DCase{DLayout::C, 128, 2, 64, 1}, DCase{DLayout::D, 128, 1, 128, 1},
                                         DCase{DLayout::E, 64, 1, 128, 2}, DCase{DLayout::F, 64, 1, 64, 1},
                                         DCase{DLayout::G, 32, 1, 128, 4}),
                         [](const auto& c) {
                           return std::string(1, static_cast<char>('A' + static_cast<int>(c.param.layout)));
                         });

TEST(DLayout, HalfLaneLayoutsLeaveRoomForASecondAccumulator) {
  std::set<unsigned> lanes;
  for (unsigned m = 0; m < 64; ++m) {
    const unsigned lane = d_cell(DLayout::F, m, 0, 8).lane;
    lanes.insert(lane);
    lanes.insert(lane + 16);
  }
  EXPECT_EQ(lanes.size(), 128u);
  EXPECT_TRUE(is_valid_d_base_lane(DLayout::F, 16) && is_valid_d_base_lane(DLayout::C, 16));
  EXPECT_FALSE(is_valid_d_base_lane(DLayout::D, 16) || is_valid_d_base_lane(DLayout::F, 32));
}

TEST(DLayout, EpilogueViewAliasesTheHadamardAccumulators) {
  // "NVFP4 training in TransformerEngine", section "Epilogue Setup":
  // "bulk_tmem_mma: tmem_[32b](0x0000.0000) o ((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16)" and
  // "bulk_tmem_epilogue: ... ((_128,_64),_1,_1,_4):((_65536,_1),_0,_0,_64)": lane stride 65536, column
  // stride 1.
  for (unsigned m = 0; m < 128; ++m) {
    for (unsigned n = 0; n < 16; ++n) {
      const TmemCell at = d_cell(DLayout::D, m, n, 16);
      ASSERT_EQ(TmemAddr::of(at.lane, at.column).raw(), m * 65536 + n);
    }
  }
}

// --- A ---

TEST(TmemA, PacksKLittleEndianIntoEightColumns) {  // docs/facts/tcgen05.md §5, table "A in TMEM"
  EXPECT_EQ(a_bits(MmaKind::f16, MmaElement::bf16, 5), (TmemBits{2, 16, 16}));
  EXPECT_EQ(a_bits(MmaKind::tf32, MmaElement::tf32, 7), (TmemBits{7, 0, 32}));
  EXPECT_EQ(a_bits(MmaKind::i8, MmaElement::s8, 7), (TmemBits{1, 24, 8}));
  EXPECT_EQ(a_bits(MmaKind::f8f6f4, MmaElement::e2m1, 6), (TmemBits{1, 18, 4})) << "bits 5..2 of the byte";
  EXPECT_EQ(a_bits(MmaKind::mxf8f6f4, MmaElement::e3m2, 6), (TmemBits{1, 16, 6})) << "bits 5..0 of the byte";
  EXPECT_EQ(a_bits(MmaKind::mxf4nvf4, MmaElement::e2m1, 13), (TmemBits{1, 20, 4}));
  const std::pair<MmaKind, MmaElement> all[] = {
      {MmaKind::f16, MmaElement::f16}, {MmaKind::tf32, MmaElement::tf32}, {MmaKind::f8f6f4, MmaElement::e4m3}, {MmaKind::f8f6f4, MmaElement::e2m1}, {MmaKind::mxf8f6f4, MmaElement::e2m3}, {MmaKind::i8, MmaElement::u8}, {MmaKind::mxf4, MmaElement::e2m1}};
  for (const auto& [kind, element] : all) {
    std::set<std::pair<unsigned, unsigned>> seen;
    unsigned last = 0;
    for (unsigned k = 0; k < mma_k(kind, false); ++k) {
      const TmemBits b = a_bits(kind, element, k);
      EXPECT_LE(b.low + b.width, 32);
      seen.insert({b.column, b.low});
      last = b.column;
    }
    EXPECT_EQ(seen.size(), mma_k(kind, false));
    EXPECT_EQ(last + 1, kTmemAColumns);
  }
}

TEST(TmemA, SpreadLayoutsReadCopiesOfARow) {
  // docs/facts/tcgen05.md §5: B and E need row m at m and m+64, G at m, m+32, m+64, m+96.
  std::set<unsigned> e, g;
  for (unsigned n = 0; n < 128; ++n) {
    e.insert(a_row(DLayout::E, 5, n, 128).lane);
    g.insert(a_row(DLayout::G, 5, n, 128).lane);
  }
  EXPECT_EQ(e, (std::set<unsigned>{5, 69}));
  EXPECT_EQ(g, (std::set<unsigned>{5, 37, 69, 101}));
}

// --- Scale factors ---

TEST(ScaleFactor, GivesTheWorkedPlace) {  // docs/facts/tcgen05.md §10 row 14
  for (unsigned p = 0; p < 4; ++p) {
    EXPECT_EQ(sfa_place(70, 0, 2, p), (TmemByte{static_cast<uint16_t>(6 + 32 * p), 2, 2}));
  }
}

// "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "Loading Scale Factor Data to TMEM",
// prints byte offsets (address * 4 + byte) of the factors:
// "tCtSFA: ((((32,4),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)"
// "tCtSFB: ((((32,8),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)"          (mxf8, 1X)
// "((((32,4),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,16)"
// "((((32,8),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,32)"                 (nvf4, 4X)
uint32_t byte_offset(const TmemByte& b) { return (uint32_t{b.lane} * 65536 + b.column) * 4 + b.byte; }
uint32_t article_offset(unsigned row, unsigned partition) {
  return row % 32 * 262144 + row / 32 * 4 + partition * 8388608;
}

TEST(ScaleFactor, EqualsTheArticlesOneXLayout) {
  for (unsigned p = 0; p < 4; ++p) {
    for (unsigned mma_k_step = 0; mma_k_step < 4; ++mma_k_step) {  // stride 1: the factor id
      for (unsigned m = 0; m < 128; ++m) {
        ASSERT_EQ(byte_offset(sfa_place(m, 0, mma_k_step, p)), article_offset(m, p) + mma_k_step);
      }
      for (unsigned n = 0; n < 256; ++n) {
        ASSERT_EQ(byte_offset(sfb_place(DLayout::D, n, 256, 0, mma_k_step, p)),
                  article_offset(n, p) + mma_k_step);
      }
    }
  }
}

TEST(ScaleFactor, EqualsTheArticlesFourXLayout) {
  for (unsigned p = 0; p < 4; ++p) {
    for (unsigned j = 0; j < 4; ++j) {  // stride 1 inside the MMA
      for (unsigned m = 0; m < 128; ++m) {
        ASSERT_EQ(byte_offset(sfa_place(m, j, 0, p)), article_offset(m, p) + j);
      }
      for (unsigned n = 0; n < 256; ++n) {
        ASSERT_EQ(byte_offset(sfb_place(DLayout::D, n, 256, j, 0, p)), article_offset(n, p) + j);
      }
    }
  }
  // The factors of the next MMA of a k block are 16 bytes (4 columns) further for A, 32 bytes (8 columns) for B.
  EXPECT_EQ(4 * sfa_columns(DLayout::D), 16u);
  EXPECT_EQ(4 * sfb_columns(DLayout::D, 256), 32u);
}

// CUTLASS's main loop for sm_103 lays out the factors of K = 384 as those of 4X, and steps by 3 or 6 of them for each MMA of K = 96
// (sm103_blockscaled_mma_warpspecialized.hpp): factor i of a row is byte i % 4 of word i / 4, words as far apart as in the article.
TEST(ScaleFactor, OfK96GoOnInTheNextWord) {
  for (unsigned count : {3u, 6u}) {
    for (unsigned i = 0; i < 24; ++i) {
      const unsigned first = i / count * count, id = first % 4, j = i % count;
      for (unsigned p = 0; p < 4; ++p) {
        for (unsigned m = 0; m < 128; ++m) ASSERT_EQ(byte_offset(sfa_place(m, j, id, p)) + first / 4 * 16, article_offset(m, p) + i % 4 + i / 4 * 16);
        for (unsigned n = 0; n < 192; ++n) ASSERT_EQ(byte_offset(sfb_place(DLayout::D, n, 192, j, id, p)) + first / 4 * 32, article_offset(n, p) + i % 4 + i / 4 * 32);
      }
    }
  }
  EXPECT_EQ(sfa_columns(DLayout::D, 6), 8u);
  EXPECT_EQ(sfa_columns(DLayout::D, 3), 4u);
  EXPECT_EQ(sfb_columns(DLayout::D, 192, 2 + 6), 6u + 8u);
  EXPECT_EQ(sfb_columns(DLayout::B, 256, 2 + 3), 4u + 4u);
}

TEST(ScaleFactor, ColumnCountsAreThoseOfTheArticle) {
  // "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "Loading Scale Factor Data to TMEM":
  // "find_tmem_tensor_col_offset(tCtSFA) = 4", "find_tmem_tensor_col_offset(tCtSFB) = 8".
  EXPECT_EQ(sfa_columns(DLayout::D), 4u);
  EXPECT_EQ(sfb_columns(DLayout::D, 256), 8u);
  // docs/facts/tcgen05.md §6.2.
  EXPECT_EQ(sfa_columns(DLayout::A), 4u);
  EXPECT_EQ(sfa_columns(DLayout::B), 2u);
  EXPECT_EQ(sfb_columns(DLayout::A, 200), 7u);
  EXPECT_EQ(sfb_columns(DLayout::B, 256), 4u);
}

TEST(ScaleFactor, LayoutBSplitsTheNHalvesOverLaneHalves) {
  // docs/facts/tcgen05.md §6.2: lanes 64h + n%32 and that + 32, column (n % (N/2)) / 32.
  for (unsigned n = 0; n < 128; ++n) {
    const unsigned h = n / 64;
    for (unsigned p : {2 * h, 2 * h + 1}) {
      const TmemByte b = sfb_place(DLayout::B, n, 128, 0, 1, p);
      EXPECT_EQ(b.lane, 64 * h + n % 32 + 32 * (p % 2));
      EXPECT_EQ(b.column, n % 64 / 32);
      // The output column is in the same lane half.
      EXPECT_EQ(d_cell(DLayout::B, 0, n, 128).lane / 64, h);
    }
  }
}

// --- Sparse metadata ---

struct MetaCase {
  const char* name;
  MmaKind kind;
  DLayout layout;
  unsigned rows, group;  // logical k per nibble
};

class SparseMetadata : public testing::TestWithParam<MetaCase> {};

TEST_P(SparseMetadata, IsOneToOneAndFillsWords) {
  const MetaCase c = GetParam();
  std::set<std::tuple<unsigned, unsigned, unsigned>> nibbles;
  std::map<std::pair<unsigned, unsigned>, unsigned> per_word;
  const unsigned k_total = mma_k(c.kind, true);
  for (unsigned m = 0; m < c.rows; ++m) {
    for (unsigned k = 0; k < k_total; ++k) {
      const TmemBits b = metadata_bits(c.kind, k, m, 0);
      const unsigned lane = metadata_lane(c.kind, c.layout, m, k, 0);
      ASSERT_LT(lane, kTmemLanes);
      ASSERT_LE(b.low + b.width, 32);
      ASSERT_LT(b.column, metadata_columns(c.kind));
      if (nibbles.insert({lane, b.column, b.low}).second) {
        ++per_word[{lane, b.column}];
      }
    }
  }
  EXPECT_EQ(nibbles.size(), size_t{c.rows} * k_total / c.group);
  for (const auto& [word, count] : per_word) {
    EXPECT_EQ(count, 8u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SparseMetadata,
                         testing::Values(MetaCase{"F16", MmaKind::f16, DLayout::D, 128, 4},
                                         MetaCase{"Tf32", MmaKind::tf32, DLayout::D, 128, 2},
                                         MetaCase{"I8", MmaKind::i8, DLayout::D, 128, 4},
                                         MetaCase{"Mxf8", MmaKind::mxf8f6f4, DLayout::A, 128, 4},
                                         MetaCase{"Mxf4", MmaKind::mxf4, DLayout::D, 128, 8},
                                         MetaCase{"F16M64", MmaKind::f16, DLayout::F, 64, 4},
                                         MetaCase{"F8M64", MmaKind::f8f6f4, DLayout::F, 64, 4},
                                         MetaCase{"F16Ws", MmaKind::f16, DLayout::E, 64, 4},
                                         MetaCase{"Tf32Ws32", MmaKind::tf32, DLayout::G, 32, 2}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(SparseMetadataPlace, KeepsKHalvesInLaneGroupsOrColumns) {
  // docs/facts/tcgen05.md §6.3: f16 lane m%8 + 8*(k/16) + 16*(m/16), nibble 4*((m/8)%2) + (k%16)/4.
  EXPECT_EQ(metadata_lane(MmaKind::f16, DLayout::D, 27, 17, 0), 3u + 8 + 16);
  EXPECT_EQ(metadata_bits(MmaKind::f16, 17, 27, 1), (TmemBits{1, 16, 4}));
  EXPECT_EQ(metadata_bits(MmaKind::f16, 7, 3, 0), (TmemBits{0, 4, 4}));
  // tf32: k halves of 8, groups of 2.
  EXPECT_EQ(metadata_lane(MmaKind::tf32, DLayout::D, 5, 9, 0), 13u);
  EXPECT_EQ(metadata_bits(MmaKind::tf32, 15, 5, 0), (TmemBits{0, 12, 4}));
  // 8-bit kinds: lane m, column k/32; mxf4: column k/64.
  EXPECT_EQ(metadata_lane(MmaKind::i8, DLayout::D, 77, 40, 0), 77u);
  EXPECT_EQ(metadata_bits(MmaKind::i8, 40, 77, 0), (TmemBits{1, 8, 4}));
  EXPECT_EQ(metadata_bits(MmaKind::mxf4nvf4, 127, 0, 0), (TmemBits{1, 28, 4}));
  // Copies of the ws layouts.
  EXPECT_EQ(metadata_lane(MmaKind::f16, DLayout::E, 1, 0, 1), 65u);
  EXPECT_EQ(metadata_lane(MmaKind::f16, DLayout::G, 1, 0, 3), 97u);
}

// --- ld / st ---

TEST(TmemAccess, GivesTheWorkedOffsets) {  // docs/facts/tcgen05.md §10 rows 8..10
  const TmemAccess a256{TmemShape::s16x256b, 1}, a128{TmemShape::s16x128b, 1}, a64{TmemShape::s16x64b, 2};
  EXPECT_EQ(tmem_offset(a256, 5, 0), (TmemOffset{1, 2}));
  EXPECT_EQ(tmem_offset(a256, 5, 1), (TmemOffset{1, 3}));
  EXPECT_EQ(tmem_offset(a256, 5, 2), (TmemOffset{9, 2}));
  EXPECT_EQ(tmem_offset(a256, 5, 3), (TmemOffset{9, 3}));
  EXPECT_EQ(tmem_offset(a128, 5, 0), (TmemOffset{1, 1}));
  EXPECT_EQ(tmem_offset(a128, 5, 1), (TmemOffset{9, 1}));
  EXPECT_EQ(tmem_offset(a64, 3, 0), (TmemOffset{8, 1}));
  EXPECT_EQ(tmem_offset(a64, 3, 1), (TmemOffset{8, 3}));
}

TEST(TmemAccess, EveryShapeCountAndPackingIsOneToOne) {
  for (unsigned s = 0; s < kTmemShapeCount; ++s) {
    const auto shape = static_cast<TmemShape>(s);
    for (unsigned num = 1; num <= max_num(shape); num *= 2) {
      for (bool pack : {false, true}) {
        const unsigned columns = tmem_columns(shape, num) * (pack ? 2 : 1);
        const TmemAccess a{shape, static_cast<uint16_t>(num), pack, static_cast<int32_t>(columns)};
        const unsigned halves = shape == TmemShape::s16x32bx2 ? 2 : 1;
        std::set<std::pair<unsigned, int>> seen;
        for (unsigned t = 0; t < 32; ++t) {
          for (unsigned r = 0; r < tmem_registers(shape, num); ++r) {
            const TmemOffset o = tmem_offset(a, t, r);
            ASSERT_LT(o.lane, tmem_lanes(shape));
            ASSERT_LT(o.column, static_cast<int>(columns * halves));
            seen.insert({o.lane, o.column});
            if (pack) {
              seen.insert({o.lane, o.column + 1});
            }
          }
        }
        ASSERT_EQ(seen.size(), size_t{tmem_lanes(shape)} * columns * halves)
            << "shape " << s << " x" << num << pack;
        ASSERT_LE(columns, 2 * 256u);
      }
    }
  }
}

TEST(TmemAccess, SixteenBy256IsTheMmaAccumulatorFragment) {
  // PTX ISA mma.m16n8: c0, c1 at row t/4, columns 2*(t%4), +1; c2, c3 at row t/4 + 8.
  for (unsigned t = 0; t < 32; ++t) {
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned row = t / 4 + (r < 2 ? 0 : 8), col = t % 4 * 2 + r % 2;
      EXPECT_EQ(tmem_offset({TmemShape::s16x256b, 1}, t, r), (TmemOffset{row, static_cast<int32_t>(col)}));
    }
  }
}

TEST(TmemAccess, SecondHalfStartsAtTheImmediateInRealColumns) {
  const TmemAccess a{TmemShape::s16x32bx2, 4, false, -8}, packed{TmemShape::s16x32bx2, 4, true, 32};
  EXPECT_EQ(tmem_offset(a, 19, 2), (TmemOffset{3, -6}));
  EXPECT_EQ(tmem_offset(packed, 3, 3), (TmemOffset{3, 6}));
  EXPECT_EQ(tmem_offset(packed, 19, 3), (TmemOffset{3, 38}));
}

TEST(TmemAccess, LaneFieldIsRelativeOrAbsoluteInTheWarpsOwnPartition) {  // docs/facts/tcgen05.md §1.1
  EXPECT_EQ(tmem_base_lane(TmemShape::s32x32b, 0, 6), 64u);
  EXPECT_EQ(tmem_base_lane(TmemShape::s32x32b, 64, 6), 64u);
  EXPECT_EQ(tmem_base_lane(TmemShape::s32x32b, 32, 6), std::nullopt);
  EXPECT_EQ(tmem_base_lane(TmemShape::s32x32b, 16, 0), std::nullopt);
  EXPECT_EQ(tmem_base_lane(TmemShape::s16x64b, 16, 1), 48u);
  EXPECT_EQ(tmem_base_lane(TmemShape::s16x64b, 48, 1), 48u);
  EXPECT_EQ(tmem_base_lane(TmemShape::s16x64b, 8, 1), std::nullopt);
  EXPECT_EQ(tmem_base_lane(TmemShape::s16x64b, 128, 0), std::nullopt);
}

}  // namespace
}  // namespace drywell::isa
