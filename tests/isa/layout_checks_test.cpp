#include "drywell/isa/layout/checks.h"

#include <gtest/gtest.h>

#include "drywell/core/error.h"
#include "drywell/isa/layout/expression.h"

namespace drywell::layout {
namespace {

ComposedLayout parsed(const char* text) { return evaluate(text).layout(); }

TEST(LayoutCheck, InjectiveNamesTwoCoordinatesThatCollide) {
  EXPECT_TRUE(check_injective(parsed("(8,4):(4,1)")).ok);
  EXPECT_TRUE(check_injective(parsed("(3,2):(2,3)")).ok);  // 0 2 4 3 5 7: interleaved, found by visiting
  const CheckResult r = check_injective(parsed("(4,3):(1,2)"));
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.detail, "(2,0) and (0,1) both map to 2");
  EXPECT_FALSE(check_injective(parsed("(4,2):(1,0)")).ok);
  EXPECT_TRUE(check_injective(parsed("(4,2):(-1,4)")).ok);
  EXPECT_TRUE(check_injective(parsed("(1,2):(0,1)")).ok);
}

TEST(LayoutCheck, InjectiveOnCoordinates) {
  EXPECT_TRUE(check_injective(parsed("(4,(2,3)):(1@0,(1@0@1,1@1@1))")).ok);
  EXPECT_FALSE(check_injective(parsed("(4,4):(1@0,2@0)")).ok);
}

TEST(LayoutCheck, LargeLayoutsAreAnsweredWithoutVisiting) {
  EXPECT_TRUE(check_injective(parsed("(1000000,1000000):(1000000,1)")).ok);
  EXPECT_TRUE(check_bijective(parsed("(1000000,1000000):(1000000,1)")).ok);
  EXPECT_TRUE(check_in_bounds(parsed("(1000000,1000000):(1000000,1)"), 1000000000000).ok);
  EXPECT_THROW(check_injective(parsed("(1000000,1000000):(3,2)")), InputError);
}

TEST(LayoutCheck, BijectiveNeedsExactlyTheFirstIndices) {
  EXPECT_TRUE(check_bijective(parsed("(4,(2,2)):(2,(1,8))")).ok);
  EXPECT_EQ(check_bijective(parsed("(4,2):(2,16)")).detail, "the indices lie in [0,22], not in [0,8)");
  EXPECT_TRUE(check_bijective(parsed("Sw<3,4,3> o smem_ptr[16b](unset) o (_64,_8):(_1,_64)")).ok);
  EXPECT_FALSE(check_bijective(parsed("(4,2):(0,1)")).ok);
}

TEST(LayoutCheck, ContiguousNamesTheFirstHole) {
  EXPECT_TRUE(check_contiguous(parsed("(4,3):(1,2)")).ok);  // overlapping but without holes
  EXPECT_EQ(check_contiguous(parsed("(4,2):(1,8)")).detail, "index 4 between 0 and 11 is not reached");
  EXPECT_TRUE(check_contiguous(parsed("Sw<1,1,2> o 4 o 4:1")).ok);
}

TEST(LayoutCheck, InBoundsUsesTheSwizzledIndices) {
  EXPECT_TRUE(check_in_bounds(parsed("(4,2):(1,8)"), 12).ok);
  EXPECT_FALSE(check_in_bounds(parsed("(4,2):(1,8)"), 11).ok);
  EXPECT_FALSE(check_in_bounds(parsed("4:-1"), 4).ok);
  // Row 4 alone: 4 -> 5 under Sw<1,0,2>.
  EXPECT_TRUE(check_in_bounds(parsed("(1,2):(0,4)"), 5).ok);
  EXPECT_FALSE(check_in_bounds(parsed("Sw<1,0,2> o 0 o (1,2):(0,4)"), 5).ok);
}

TEST(LayoutCheck, EqualNamesTheFirstCellThatDiffers) {
  EXPECT_TRUE(check_equal(parsed("(2,(1,6)):(1,(6,2))"), parsed("12:1")).ok);
  EXPECT_TRUE(check_equal(parsed("(2,2):(1@0,1@1)"), parsed("(2,2):(1@0,1@1)")).ok);
  const CheckResult r = check_equal(parsed("((128,16),1,1,16):((65536,1),0,0,16)"),
                                    parsed("((128,16),1,1,16):((65536,1),0,0,8)"));
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.detail,
            "first difference at coordinate 2048 (((0,0),0,0,1) in the one, ((0,0),0,0,1) in the other): 16 "
            "against 8");
  EXPECT_EQ(check_equal(parsed("4:1"), parsed("5:1")).detail, "the sizes 4 and 5 differ");
  EXPECT_FALSE(check_equal(parsed("4:1"), parsed("4:1@0")).ok);
  EXPECT_TRUE(check_equal(parsed("4:0"), parsed("4:0@3")).ok);
}

TEST(LayoutCheck, RangesOfEmptyAndNegativeLayouts) {
  EXPECT_LT(index_range(parsed("(0,4):(1,1)")).high, 0);
  const IndexRange r = index_range(parsed("(4,2):(-1,8)"));
  EXPECT_EQ(r.low, -3);
  EXPECT_EQ(r.high, 8);
  EXPECT_THROW(index_range(parsed("4:1@0")), InputError);
}

}  // namespace
}  // namespace drywell::layout
