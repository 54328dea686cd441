#include "drywell/isa/swizzle.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace drywell::isa {
namespace {

// CuTe's definition, include/cute/swizzle.hpp: the B bits at M+S are XORed onto the B bits at M.
uint32_t cute_swizzle(unsigned b, unsigned m, unsigned s, uint32_t offset) {
  const uint32_t source_bits = ((1u << b) - 1) << (m + s);
  return offset ^ ((offset & source_bits) >> s);
}

struct CuteCase {
  Swizzle mode;
  unsigned b, m, s;
};

class SwizzleFunction : public testing::TestWithParam<CuteCase> {};

TEST_P(SwizzleFunction, EqualsCuteDefinition) {
  const CuteCase c = GetParam();
  for (uint32_t a = 0; a < 1 << 14; ++a) {
    ASSERT_EQ(swizzle_address(c.mode, a), cute_swizzle(c.b, c.m, c.s, a)) << a;
    ASSERT_EQ(swizzle_address(c.mode, 0x2A000 + a), cute_swizzle(c.b, c.m, c.s, 0x2A000 + a)) << a;
  }
}

// docs/facts/tma-mbarrier.md §2.5, column "CuTe".
INSTANTIATE_TEST_SUITE_P(Modes, SwizzleFunction,
                         testing::Values(CuteCase{Swizzle::none, 0, 4, 3}, CuteCase{Swizzle::b32, 1, 4, 3},
                                         CuteCase{Swizzle::b64, 2, 4, 3}, CuteCase{Swizzle::b128, 3, 4, 3},
                                         CuteCase{Swizzle::b128_atom32, 2, 5, 2},
                                         CuteCase{Swizzle::b128_atom64, 1, 6, 1}),
                         [](const auto& c) {
                           return "Mode" + std::to_string(static_cast<int>(c.param.mode));
                         });

TEST(Swizzle, GivesTheWorkedAddresses) {  // docs/facts/tcgen05.md §10 row 7
  EXPECT_EQ(swizzle_address(Swizzle::b128, 0x490), 0x480u);
  EXPECT_EQ(swizzle_address(Swizzle::b128, 0x3F0), 0x380u);
  EXPECT_EQ(swizzle_address(Swizzle::b64, 0x190), 0x1A0u);
  EXPECT_EQ(swizzle_address(Swizzle::b32, 0x190), 0x180u);
  EXPECT_EQ(swizzle_address(Swizzle::b128_atom32, 0x490), 0x4B0u);
}

// PTX ISA 5.5.7 prints, for each 128-byte line, the 16-byte cell at each place.
struct PtxTable {
  Swizzle mode;
  std::vector<std::string> lines;
};

TEST(Swizzle, EqualsTheTablesOfPtx) {
  const PtxTable tables[] = {
      {Swizzle::b32, {"01234567", "10325476"}},
      {Swizzle::b64, {"01234567", "10325476", "23016745", "32107654"}},
      {Swizzle::b128,
       {"01234567", "10325476", "23016745", "32107654", "45670123", "54761032", "67452301", "76543210"}},
      {Swizzle::b128_atom32, {"01234567", "23016745", "45670123", "67452301"}},
      {Swizzle::b128_atom64, {"01234567", "45670123"}},
  };
  for (const PtxTable& t : tables) {
    EXPECT_EQ(swizzle_period(t.mode), t.lines.size() * 128);
    for (uint32_t line = 0; line < 16; ++line) {
      const std::string& cells = t.lines[line % t.lines.size()];
      for (uint32_t place = 0; place < 8; ++place) {
        const uint32_t logical = line * 128 + static_cast<uint32_t>(cells[place] - '0') * 16;
        EXPECT_EQ(swizzle_address(t.mode, logical), line * 128 + place * 16);
      }
    }
  }
}

TEST(Swizzle, FlipSwapsEightByteHalvesOfOddLines) {
  for (uint32_t a = 0; a < 1024; a += 4) {
    const uint32_t plain = swizzle_address(Swizzle::b128_atom32, a);
    const bool odd_line = a / 128 % 2 == 1;
    EXPECT_EQ(swizzle_address(Swizzle::b128_atom32_flip8, a), odd_line ? plain ^ 8 : plain) << a;
  }
}

TEST(Swizzle, PermutesEachPeriodInWholeAtoms) {
  for (unsigned i = 0; i < kSwizzleCount; ++i) {
    const auto mode = static_cast<Swizzle>(i);
    const uint32_t period = swizzle_period(mode), atom = swizzle_atom(mode);
    std::set<uint32_t> seen;
    for (uint32_t a = 0; a < 2048; ++a) {
      const uint32_t p = swizzle_address(mode, a);
      seen.insert(p);
      EXPECT_EQ(p / 2048, 0u);
      EXPECT_EQ(p % atom, a % atom);
      EXPECT_EQ(p / period, a / period);
      EXPECT_EQ(swizzle_address(mode, p), a) << "its own inverse";
      EXPECT_EQ(swizzle_address(mode, a + period), p + period);
    }
    EXPECT_EQ(seen.size(), 2048u);
  }
}

TEST(Swizzle, HasTheDocumentedSpansAndPeriods) {
  const uint32_t spans[] = {0, 32, 64, 128, 128, 128, 128}, periods[] = {1, 256, 512, 1024, 512, 512, 256};
  for (unsigned i = 0; i < kSwizzleCount; ++i) {
    EXPECT_EQ(swizzle_span(static_cast<Swizzle>(i)), spans[i]);
    EXPECT_EQ(swizzle_period(static_cast<Swizzle>(i)), periods[i]);
  }
}

}  // namespace
}  // namespace drywell::isa
