// Which products ptxas fuses into sums. The expected counts were read off the machine code of ptxas 13.4 for sm_90a: FFMA, and
// FADD with a register that no FMUL feeds alone (docs/numerics.md).
#include "drywell/isa/contract.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "drywell/core/error.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"

namespace drywell::isa {
namespace {

struct Case {
  const char* name;
  const char* body;
  size_t fused;  // FFMA
};

// %a to %e are loaded, %x and %y are stored.
constexpr Case kCases[] = {
    {"Sum", "mul.f32 %t, %a, %b; add.f32 %x, %t, %c;", 1},
    {"SumOtherWay", "mul.f32 %t, %a, %b; add.f32 %x, %c, %t;", 1},
    {"Difference", "mul.f32 %t, %a, %b; sub.f32 %x, %t, %c;", 1},
    {"DifferenceOtherWay", "mul.f32 %t, %a, %b; sub.f32 %x, %c, %t;", 1},
    {"RoundedProduct", "mul.rn.f32 %t, %a, %b; add.f32 %x, %t, %c;", 0},
    {"RoundedSum", "mul.f32 %t, %a, %b; add.rn.f32 %x, %t, %c;", 0},
    {"Stored", "mul.f32 %t, %a, %b; add.f32 %x, %t, %c; mov.f32 %y, %t;", 0},
    {"TwoSums", "mul.f32 %t, %a, %b; add.f32 %x, %t, %c; add.f32 %y, %t, %d;", 2},
    {"TwoProducts", "mul.f32 %t, %a, %b; mul.f32 %u, %c, %d; add.f32 %x, %t, %u;", 1},
    {"TwoProductsOneStored", "mul.f32 %t, %a, %b; mul.f32 %u, %c, %d; add.f32 %x, %t, %u; mov.f32 %y, %t;", 1},
    {"SecondProductInTwoSums", "mul.f32 %t, %a, %b; mul.f32 %u, %c, %d; add.f32 %x, %t, %u; add.f32 %y, %u, %e;", 1},
    {"FirstProductInTwoSums", "mul.f32 %t, %a, %b; mul.f32 %u, %c, %d; add.f32 %x, %t, %u; add.f32 %y, %t, %e;", 1},
    {"BothInTwoSums", "mul.f32 %t, %a, %b; mul.f32 %u, %c, %d; add.f32 %x, %t, %u; sub.f32 %y, %u, %t;", 2},
    {"Negated", "mul.f32 %t, %a, %b; neg.f32 %u, %t; add.f32 %x, %u, %c;", 1},
    {"NegatedAndNot", "mul.f32 %t, %a, %b; neg.f32 %u, %t; add.f32 %x, %u, %c; add.f32 %y, %t, %d;", 2},
    {"NegatedStored", "mul.f32 %t, %a, %b; neg.f32 %u, %t; add.f32 %x, %u, %c; mov.f32 %y, %u;", 0},
    {"Absolute", "mul.f32 %t, %a, %b; abs.f32 %u, %t; add.f32 %x, %u, %c;", 0},
    {"Copied", "mul.f32 %t, %a, %b; mov.f32 %u, %t; add.f32 %x, %u, %c;", 1},
    {"BothFlush", "mul.ftz.f32 %t, %a, %b; add.ftz.f32 %x, %t, %c;", 1},
    {"ProductFlushes", "mul.ftz.f32 %t, %a, %b; add.f32 %x, %t, %c;", 0},
    {"SumFlushes", "mul.f32 %t, %a, %b; add.ftz.f32 %x, %t, %c;", 0},
    {"SumSaturates", "mul.f32 %t, %a, %b; add.sat.f32 %x, %t, %c;", 1},
    {"ProductSaturates", "mul.sat.f32 %t, %a, %b; add.f32 %x, %t, %c;", 0},
    {"WithItself", "mul.f32 %t, %a, %b; add.f32 %x, %t, %t;", 0},
    {"LessItself", "mul.f32 %t, %a, %b; sub.f32 %x, %t, %t;", 0},
    {"GuardedSum", "mul.f32 %t, %a, %b; @%p add.f32 %x, %t, %c;", 1},
    {"OppositeGuards", "mul.f32 %t, %a, %b; @%p add.f32 %x, %t, %c; @!%p add.f32 %x, %t, %d;", 2},
    {"GuardedProduct", "mov.f32 %t, %d; @%p mul.f32 %t, %a, %b; add.f32 %x, %t, %c;", 0},
    {"Chain", "mul.f32 %t, %a, %b; add.f32 %u, %t, %c; mul.f32 %v, %u, %d; add.f32 %x, %v, %e;", 2},
    {"LaterBlock", "mul.f32 %t, %a, %b; @%p bra L; add.f32 %x, %t, %c; L:", 0},
    {"InsideABlock", "@%p bra L; mul.f32 %t, %a, %b; add.f32 %x, %t, %c; L:", 1},
    {"UnusedLabel", "mul.f32 %t, %a, %b; L: add.f32 %x, %t, %c;", 1},
    {"JumpToTheNext", "mul.f32 %t, %a, %b; bra.uni L; L: add.f32 %x, %t, %c;", 1},
    {"Selected", "mul.f32 %t, %a, %b; selp.f32 %u, %t, %d, %p; add.f32 %x, %u, %c;", 0},
    {"Compared", "mul.f32 %t, %a, %b; add.f32 %u, %t, %c; setp.gt.f32 %p, %t, %d; selp.f32 %x, %u, %e, %p;", 0},
    {"IntoAFma", "mul.f32 %t, %a, %b; fma.rn.f32 %x, %c, %d, %t;", 0},
    {"Immediate", "mul.f32 %t, %a, 0f3F000000; add.f32 %x, %t, 0f3F8CCCCD;", 1},
    {"OverABarrier", "mul.f32 %t, %a, %b; bar.sync 0; add.f32 %x, %t, %c;", 1},
    {"UnusedProductOfIt", "mul.f32 %t, %a, %b; mul.f32 %u, %t, %c; add.f32 %x, %t, %d;", 1},
    {"UnusedChainOfIt", "mul.f32 %t, %a, %b; mul.f32 %u, %t, %c; selp.f32 %v, %u, %d, %p; add.f32 %x, %t, %d;", 1},
    {"UnusedSum", "mul.f32 %t, %a, %b; add.f32 %u, %t, %c; mov.f32 %x, %t;", 0},
    {"Quotient", "div.full.f32 %t, %a, %b; sub.f32 %x, %c, %t;", 1},
    {"ApproximateQuotient", "div.approx.f32 %t, %a, %b; add.f32 %x, %t, %c; add.f32 %y, %t, %d;", 2},
    {"FlushedQuotient", "div.full.ftz.f32 %t, %a, %b; add.ftz.f32 %x, %t, %c;", 1},
    {"QuotientOfFlushedOnly", "div.approx.ftz.f32 %t, %a, %b; add.f32 %x, %t, %c;", 0},
    {"QuotientAndProduct", "div.full.f32 %t, %a, %b; mul.f32 %u, %c, %d; add.f32 %x, %u, %t;", 1},
    {"RoundedQuotient", "div.rn.f32 %t, %a, %b; add.f32 %x, %t, %c;", 0},
    {"QuotientByAConstant", "div.full.f32 %t, %a, 0f43160000; add.f32 %x, %t, %c;", 1},
    {"Loop", "L: mul.f32 %t, %a, %b; add.f32 %x, %x, %t; setp.lt.f32 %p, %x, %c; @%p bra L;", 1},
    {"InvariantOfALoop", "mul.f32 %t, %a, %b; L: add.f32 %x, %x, %t; setp.lt.f32 %p, %x, %c; @%p bra L;", 0},
};

Module kernel(const std::string& body) {
  std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 in)\n{\n.reg .pred %p;\n.reg .b64 %m;\n";
  text += ".reg .f32 %a, %b, %c, %d, %e, %t, %u, %v, %x, %y;\nld.param.u64 %m, [in];\n";
  for (int i = 0; i < 5; ++i) text += fmt::format("ld.global.f32 %{}, [%m+{}];\n", "abcde"[i], 4 * i);
  text += "setp.eq.f32 %p, %e, 0f40E00000;\nmov.f32 %x, 0f00000000;\nmov.f32 %y, 0f00000000;\n" + body + "\nst.global.f32 [%m], %x;\nst.global.f32 [%m+4], %y;\nret;\n}\n";
  return parse_ptx_or_throw(text, "k.ptx");
}

class Contract : public testing::TestWithParam<Case> {};

TEST_P(Contract, IsWherePtxasFuses) {
  const Module m = kernel(GetParam().body);
  EXPECT_EQ(contractions(m.functions[0]).size(), GetParam().fused);
}

TEST_P(Contract, LeavesALegalModule) {
  const Module m = contracted(kernel(GetParam().body));
  const Diagnostics problems = validate(m);
  EXPECT_FALSE(problems.has_errors()) << print_module(m);
  EXPECT_TRUE(contractions(m.functions[0]).empty()) << print_module(m);
}

INSTANTIATE_TEST_SUITE_P(Each, Contract, testing::ValuesIn(kCases), [](const auto& p) { return std::string(p.param.name); });

}  // namespace
}  // namespace drywell::isa
