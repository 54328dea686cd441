#include "drywell/isa/tmem_copy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace drywell::isa {
namespace {

struct ShapeCase {
  const char* name;
  CopyShape shape;
  unsigned rows, units, copies;
  unsigned (*lane)(unsigned row, unsigned copy);  // docs/facts/tcgen05.md §3, column "destination lanes of row r"
};

class CopyShapes : public testing::TestWithParam<ShapeCase> {};

TEST_P(CopyShapes, LandOnTheDocumentedLanesOnce) {
  const ShapeCase c = GetParam();
  EXPECT_EQ(copy_rows(c.shape), c.rows);
  EXPECT_EQ(copy_units(c.shape), c.units);
  EXPECT_EQ(copy_columns(c.shape), c.units * 4);
  std::set<unsigned> lanes;
  for (unsigned r = 0; r < c.rows; ++r) {
    const CopyLanes l = copy_lanes(c.shape, r);
    ASSERT_EQ(l.count, c.copies);
    for (unsigned i = 0; i < c.copies; ++i) {
      EXPECT_EQ(l.lane[i], c.lane(r, i));
      EXPECT_TRUE(lanes.insert(l.lane[i]).second);
    }
  }
  EXPECT_EQ(lanes.size(), c.rows * c.copies);
}

INSTANTIATE_TEST_SUITE_P(
    All, CopyShapes,
    testing::Values(
        ShapeCase{"S128x256", CopyShape::s128x256b, 128, 2, 1, [](unsigned r, unsigned) { return r; }},
        ShapeCase{"S4x256", CopyShape::s4x256b, 4, 2, 1, [](unsigned r, unsigned) { return 32 * r; }},
        ShapeCase{"S128x128", CopyShape::s128x128b, 128, 1, 1, [](unsigned r, unsigned) { return r; }},
        ShapeCase{"S64Pairs02", CopyShape::s64x128b_02_13, 64, 1, 2,
                  [](unsigned r, unsigned i) { return r + 64 * i; }},
        ShapeCase{"S64Pairs01", CopyShape::s64x128b_01_23, 64, 1, 2,
                  [](unsigned r, unsigned i) { return 64 * (r / 32) + r % 32 + 32 * i; }},
        ShapeCase{"S32", CopyShape::s32x128b_warpx4, 32, 1, 4,
                  [](unsigned r, unsigned i) { return r + 32 * i; }}),
    [](const auto& c) { return c.param.name; });

TEST(CopySource, WalksUnitsAsThePageHasThem) {  // docs/facts/tcgen05.md §3, source walk
  const uint32_t start = 0x800, lbo = 0x900, sbo = 0x500;
  for (unsigned r = 0; r < 128; ++r) {
    for (unsigned u = 0; u < 2; ++u) {
      EXPECT_EQ(copy_source(SmemDescriptor::make(start, lbo, sbo, Swizzle::none), r, u),
                start + r % 8 * 16 + r / 8 * sbo + u * lbo);
      for (auto [mode, s] : {std::pair{Swizzle::b32, 32u}, {Swizzle::b64, 64u}, {Swizzle::b128, 128u}}) {
        EXPECT_EQ(copy_source(SmemDescriptor::make(start, lbo, sbo, mode), r, u),
                  swizzle_address(mode, start + r % 8 * s + r / 8 * sbo + u * 16));
      }
    }
  }
}

TEST(CopySource, ScaleFactorTileIsReadInOrder) {
  // "Scale factors use no swizzle, SBO=128, 16-byte rows: 32x128b.warpx4 then reads 512 contiguous bytes."
  const SmemDescriptor d = SmemDescriptor::make(0x400, 0, 128, Swizzle::none);
  for (unsigned r = 0; r < 32; ++r) {
    EXPECT_EQ(copy_source(d, r, 0), 0x400 + 16 * r);
  }
}

TEST(CopySource, CarriesScaleFactorsFromTheirTileToTheirPlace) {
  // A factor of the 512-byte tile must arrive where the MMA looks for it, in all four partitions.
  const SmemDescriptor d = SmemDescriptor::make(0, 0, 128, Swizzle::none);
  for (unsigned m = 0; m < 128; ++m) {
    for (unsigned sf = 0; sf < 4; ++sf) {
      const auto offset = static_cast<unsigned>(scale_factor_offset(m, sf, 1));
      const unsigned row = offset / 16, byte = offset % 16;
      ASSERT_EQ(copy_source(d, row, 0) + byte, offset);
      const CopyLanes lanes = copy_lanes(CopyShape::s32x128b_warpx4, row);
      for (unsigned p = 0; p < 4; ++p) {
        const TmemByte arrives{lanes.lane[p], static_cast<uint16_t>(byte / 4),
                               static_cast<uint8_t>(byte % 4)};
        EXPECT_EQ(arrives, sfa_place(m, 0, sf, p));
      }
    }
  }
}

TEST(ScaleFactorOffset, EqualsTheArticlesLayouts) {
  // "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "Scale factor layouts":
  // "(((32, 4), REST_M), ((16, 4), REST_K)) : (((16, 4), 512 * REST_K), ((0, 1), 512))", block16:
  // a factor covers 16 elements of K.
  const uint64_t rest_k = 5;
  std::set<uint64_t> seen;
  for (uint64_t row = 0; row < 384; ++row) {
    for (uint64_t k = 0; k < 64 * rest_k; k += 16) {
      const uint64_t want =
          row % 32 * 16 + row / 32 % 4 * 4 + row / 128 * 512 * rest_k + k / 16 % 4 + k / 64 * 512;
      ASSERT_EQ(scale_factor_offset(row, k / 16, rest_k), want);
      seen.insert(want);
    }
  }
  EXPECT_EQ(seen.size(), 384u * 4 * rest_k);
  EXPECT_EQ(*seen.rbegin() + 1, seen.size());
  // "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "TMA load of operands and scale factors", nvf4:
  // "sfa ... ((((32,4),1),(16,4)),1,4,3):((((16,4),0),(0,1)),0,512,2048)": 512 per MMA.
  EXPECT_EQ(scale_factor_offset(0, 4, 4), 512u);
  // "sfb ... ((((32,4),2),(16,4)),1,4,3):((((16,4),2048),(0,1)),0,512,4096)": 2048 to the next 128 rows.
  EXPECT_EQ(scale_factor_offset(128, 0, 4), 2048u);
}

// --- Decompression ---

TEST(Decompression, CopiesPlainUnits) {
  std::array<uint8_t, 16> in{}, out{};
  std::iota(in.begin(), in.end(), uint8_t{7});
  decompress_unit(CopyFormat::none, in, out);
  EXPECT_EQ(out, in);
}

TEST(Decompression, UnpacksElementsAndIgnoresPadding) {  // docs/facts/tcgen05.md §3, table
  std::mt19937 rng(6);
  for (unsigned bits : {4u, 6u}) {
    for (int round = 0; round < 200; ++round) {
      std::array<uint8_t, 16> in{}, out{};
      for (uint8_t& b : in) {
        b = static_cast<uint8_t>(rng());
      }
      decompress_unit(bits == 4 ? CopyFormat::b4x16_p64 : CopyFormat::b6x16_p32, in, out);
      for (unsigned i = 0; i < 16; ++i) {
        unsigned value = 0;
        for (unsigned b = 0; b < bits; ++b) {
          const unsigned at = i * bits + b;
          value |= (in[at / 8] >> (at % 8) & 1u) << b;
        }
        // `00 xxxx 00` for four bits, `00xxxxxx` for six.
        ASSERT_EQ(out[i], bits == 4 ? value << 2 : value);
      }
    }
  }
}

TEST(Decompression, PutsValuesWhereTheMmaReadsThem) {
  // Byte i of a decompressed unit is element i of A in TMEM: the container place must be the same.
  std::array<uint8_t, 16> in{}, out{};
  in.fill(0xFF);
  for (auto [format, element] :
       {std::pair{CopyFormat::b4x16_p64, MmaElement::e2m1}, {CopyFormat::b6x16_p32, MmaElement::e3m2}}) {
    decompress_unit(format, in, out);
    for (unsigned k = 0; k < 16; ++k) {
      const TmemBits b = a_bits(MmaKind::f8f6f4, element, k);
      EXPECT_EQ(out[k], ((1u << b.width) - 1) << (b.low % 8));
      EXPECT_EQ(b.column * 4u + b.low / 8u, k);
    }
  }
}

TEST(CopyCheck, ReportsRangesAndDescriptorRules) {
  const SmemDescriptor d = SmemDescriptor::make(0x400, 0, 128, Swizzle::none);
  const auto codes = [&](const SmemDescriptor& desc, CopyShape s, uint32_t lane, uint32_t column,
                         uint32_t smem) {
    Diagnostics out;
    check_copy(desc, s, lane, column, smem, out);
    std::vector<Code> v;
    for (const Diagnostic& x : out.list()) {
      v.push_back(x.code);
    }
    return v;
  };
  using V = std::vector<Code>;
  EXPECT_EQ(codes(d, CopyShape::s32x128b_warpx4, 0, 508, 0x600), V{});
  EXPECT_EQ(codes(d, CopyShape::s32x128b_warpx4, 0, 509, 0x600), V{Code::E1411});
  EXPECT_EQ(codes(d, CopyShape::s32x128b_warpx4, 16, 0, 0x600), V{Code::E1411});
  EXPECT_EQ(codes(d, CopyShape::s32x128b_warpx4, 0, 0, 0x5F0), V{Code::E1407});
  EXPECT_EQ(codes(d, CopyShape::s4x256b, 31, 0, 0x600), V{});
  EXPECT_EQ(codes(d, CopyShape::s4x256b, 32, 0, 0x600), V{Code::E1411});
  SmemDescriptor bad = d;
  bad.swizzle_code = 3;
  EXPECT_EQ(codes(bad, CopyShape::s4x256b, 0, 0, 0x600), V{Code::E1401});
}

}  // namespace
}  // namespace drywell::isa
