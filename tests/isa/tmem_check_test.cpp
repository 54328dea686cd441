// Layouts that the articles (docs/facts/articles.md) print, held against what the instructions touch; and wrong ones, with the first cell
// that differs.
#include "drywell/isa/inspect/tmem_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/isa/layout/expression.h"

namespace drywell::isa {
namespace {

using testing::HasSubstr;

TmemUseForm use(TmemOperand operand, MmaKind kind, unsigned m, unsigned n, ScaleVector scale = ScaleVector::none, uint8_t ctas = 1) {
  return {operand, {kind, ctas, false, false, operand == TmemOperand::a, scale}, m, n, kind == MmaKind::f16 ? MmaElement::f16 : MmaElement::e4m3};
}

TmemCheck check(const char* layout, const TmemUseForm& u) { return check_tmem_layout(layout::evaluate(layout).layout(), u); }

struct Case {
  const char* name;
  const char* layout;
  TmemUseForm form;
  const char* detail;  // "" for one that agrees
};

class TmemLayoutCheck : public testing::TestWithParam<Case> {};

TEST_P(TmemLayoutCheck, AgreesOrNamesTheFirstCell) {
  const TmemCheck r = check(GetParam().layout, GetParam().form);
  const std::string detail = GetParam().detail;
  EXPECT_EQ(r.ok, detail.empty()) << r.detail;
  EXPECT_THAT(r.detail, HasSubstr(detail));
}

constexpr auto kD = TmemOperand::d, kSfa = TmemOperand::sfa, kSfb = TmemOperand::sfb;
INSTANTIATE_TEST_SUITE_P(
    Each, TmemLayoutCheck,
    testing::Values(
        // "NVFP4 training in TransformerEngine", section "Epilogue Setup", bulk_tmem_mma:
        // ((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16)
        Case{"AccumulatorOfTheHadamardKernel", "((_128,_16),_1,_1,_16):((_65536,_1),_0,_0,_16)", use(kD, MmaKind::f16, 128, 16), ""},
        Case{"RowsAlongColumns", "((128,16),1,1,16):((1,65536),0,0,16)", use(kD, MmaKind::f16, 128, 16),
             "instruction (0,0,0), element (1,0): the layout says lane 0 column 1, tcgen05.mma's D lane 1 column 0"},
        Case{"PastTheLastColumn", "((128,16),1,1,33):((65536,1),0,0,16)", use(kD, MmaKind::f16, 128, 16),
             "instruction (0,0,32), element (0,0): lane 0 column 512 is outside tensor memory"},
        // "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section "Loading Scale Factor Data to TMEM":
        // ((128,256),1,1,1):((65536,1),0,0,0)
        Case{"AccumulatorOfTheTutorial", "((128,256),1,1,1):((65536,1),0,0,0)", use(kD, MmaKind::f8f6f4, 128, 256), ""},
        // M = 64 uses 16 lanes of each partition (layout F).
        Case{"HalfLanes", "(((16,4),64),1,1):(((65536,2097152),1),0,0)", use(kD, MmaKind::f16, 64, 64), ""},
        Case{"HalfLanesTakenForWhole", "((64,64),1,1):((65536,1),0,0)", use(kD, MmaKind::f16, 64, 64),
             "element (16,0): the layout says lane 16 column 0, tcgen05.mma's D lane 32 column 0"},
        // The same section: tCtSFA and tCtSFB of mxf8
        Case{"SfaOfMxf8", "((((32,4),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)", use(kSfa, MmaKind::mxf8f6f4, 128, 256, ScaleVector::x1), ""},
        Case{"SfbOfMxf8", "((((32,8),4),(32,1)),1,4):((((262144,4),8388608),(0,0)),0,1)", use(kSfb, MmaKind::mxf8f6f4, 128, 256, ScaleVector::x1), ""},
        // The same of nvf4
        Case{"SfaOfNvf4", "((((32,4),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,16)", use(kSfa, MmaKind::mxf4nvf4, 128, 256, ScaleVector::x4), ""},
        Case{"SfbOfNvf4", "((((32,8),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,32)", use(kSfb, MmaKind::mxf4nvf4, 128, 256, ScaleVector::x4), ""},
        // The shared-memory tile taken for the tensor-memory one: rows 16 bytes apart are columns there.
        Case{"SmemStridesInTmem", "((((32,4),4),(16,4)),1,4):((((16,4),8388608),(0,1)),0,512)", use(kSfa, MmaKind::mxf4nvf4, 128, 128, ScaleVector::x4),
             "element ((1,0),(0,0)): the layout says lane 0 column 4, tcgen05.mma's SFA lane 1 column 0"},
        // Only the first partition filled.
        Case{"NoCopies", "((((32,4),4),(16,4)),1,4):((((262144,4),0),(0,1)),0,16)", use(kSfa, MmaKind::mxf4nvf4, 128, 128, ScaleVector::x4),
             "element ((0,1),(0,0)): the layout says lane 0 column 0, tcgen05.mma's SFA lane 32 column 0"},
        // MMAs one byte apart, where .scale_vec::4X takes whole cells.
        Case{"NoFactorId", "((((32,4),4),(16,4)),1,4):((((262144,4),8388608),(0,1)),0,1)", use(kSfa, MmaKind::mxf4nvf4, 128, 128, ScaleVector::x4),
             "instruction (0,1): its factors start at byte 1 of the cell"}),
    [](const auto& i) { return std::string(i.param.name); });

TEST(TmemLayoutCheck, EveryLayoutOfTheLibraryAgrees) {
  const std::tuple<const char*, MmaKind, ScaleVector> kinds[] = {
      {"mxf8", MmaKind::mxf8f6f4, ScaleVector::x1}, {"mxf4", MmaKind::mxf4, ScaleVector::x2}, {"nvf4", MmaKind::mxf4nvf4, ScaleVector::x4}};
  for (const auto& [name, kind, scale] : kinds) {
    for (const unsigned n : {64u, 128u, 192u, 256u}) {
      const std::string tile = std::string(name) + ", (128," + std::to_string(n) + "))";
      EXPECT_TRUE(check(("make_tmem_layout_sfa(" + tile).c_str(), use(kSfa, kind, 128, n, scale)).ok) << tile;
      EXPECT_TRUE(check(("make_tmem_layout_sfb(" + tile).c_str(), use(kSfb, kind, 128, n, scale)).ok) << tile;
    }
  }
  for (const unsigned n : {16u, 64u, 256u}) {
    const std::string shape = "tmem_fragment(((128," + std::to_string(n) + "),1,1), 32)";
    EXPECT_TRUE(check(shape.c_str(), use(kD, MmaKind::f16, 128, n)).ok) << n;
  }
}

TEST(TmemLayoutCheck, RefusesLayoutsOfAnotherForm) {
  EXPECT_THROW(check("(128,16):(65536,1)", use(kD, MmaKind::f16, 128, 16)), InputError);
  EXPECT_THROW(check("((128,8),1):((65536,1),0)", use(kD, MmaKind::f16, 128, 16)), InputError);
  EXPECT_THROW(check("((128,4),1):((65536,1),0)", use(kSfa, MmaKind::mxf4nvf4, 128, 16, ScaleVector::x4)), InputError);
}

// "NVFP4 training in TransformerEngine", section "Load from tmem to registers", tDtC: tmem_[32b](0x0000.0000) o
// (((_64,_32),_1),_1,_1,_1):(((_1,_65536),_0),_0,_0,_0)
TEST(TmemAccessCheck, LoadOfTheHadamardKernel) {
  const TmemAccess access{TmemShape::s32x32b, 64};
  const auto good = layout::evaluate("tmem_[32b](0x0000.0000) o (((_64,_32),_1),_1,_1,_1):(((_1,_65536),_0),_0,_0,_0)");
  EXPECT_TRUE(check_tmem_access(good.layout(), access).ok);
  const auto swapped = layout::evaluate("(((64,32),1),1):(((65536,1),0),0)");
  EXPECT_THAT(check_tmem_access(swapped.layout(), access).detail, HasSubstr("element ((1,0),0): the layout says lane 1 column 0, tcgen05.ld lane 0 column 1"));
}

}  // namespace
}  // namespace drywell::isa
