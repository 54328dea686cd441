// Where an integer quotient takes its divisor's reciprocal: what ptxas 13.0 makes for sm_90a of the same code (one MUFU.RCP each).
#include "sim/timing/divisors.h"

#include <gtest/gtest.h>

#include <numeric>

#include "drywell/isa/parse.h"

namespace drywell::sim {
namespace {

int reciprocals(const std::string& body) {
  const isa::Module m = isa::parse_ptx_or_throw(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b64 %d<9>;\n" + body + "ret;\n}\n", "k.ptx");
  const isa::Function& f = m.functions.at(0);
  const std::vector<uint8_t> takes = takes_reciprocal(f, isa::registers_of(f));
  return std::accumulate(takes.begin(), takes.end(), 0);
}

TEST(Divisors, OneReciprocalForADivisor) {
  EXPECT_EQ(reciprocals("div.u32 %r1, %r2, %r3;\nrem.u32 %r4, %r5, %r3;\n"), 1);
  EXPECT_EQ(reciprocals("div.u32 %r1, %r2, %r3;\nrem.u32 %r4, %r5, %r6;\n"), 2);
  EXPECT_EQ(reciprocals("div.u32 %r1, %r2, %r3;\nadd.u32 %r3, %r3, 1;\nrem.u32 %r4, %r5, %r3;\n"), 2) << "another value";
  EXPECT_EQ(reciprocals("div.s32 %r1, %r2, %r3;\n@%p1 bra L;\nmembar.cta;\ndiv.s32 %r4, %r5, %r3;\nL:\n"), 1) << "known in what follows";
  EXPECT_EQ(reciprocals("@%p1 bra L;\ndiv.s32 %r1, %r2, %r3;\nL:\ndiv.s32 %r4, %r5, %r3;\n"), 2) << "not all lanes took the first";
}

TEST(Divisors, BeforeALoopThatDoesNotChangeIt) {
  EXPECT_EQ(reciprocals("L:\ndiv.u32 %r1, %r1, %r3;\nsetp.gt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"), 0);
  EXPECT_EQ(reciprocals("L:\nadd.u32 %r3, %r3, 1;\ndiv.u32 %r1, %r1, %r3;\nsetp.gt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"), 1);
  EXPECT_EQ(reciprocals("L:\n@%p2 bra OVER;\ndiv.u32 %r1, %r1, %r3;\nOVER:\nsetp.gt.u32 %p1, %r1, 9;\n@%p1 bra L;\n"), 1) << "some passes divide";
}

// Of 64 bits ptxas calls a routine, and a product replaces a quotient by a constant.
TEST(Divisors, NotOf64BitsNorConstants) { EXPECT_EQ(reciprocals("div.u64 %d1, %d2, %d3;\ndiv.u32 %r1, %r2, 7;\n"), 0); }

}  // namespace
}  // namespace drywell::sim
