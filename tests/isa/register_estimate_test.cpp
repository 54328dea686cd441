// The estimate of registers per thread, against counts made by hand.
#include "drywell/isa/register_estimate.h"

#include <gtest/gtest.h>

#include "drywell/isa/parse.h"

namespace drywell::cudart {
namespace {

uint32_t estimate(const std::string& directives, const std::string& body) {
  const isa::Module m = isa::parse_ptx_or_throw(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p)" + directives +
                                                    "\n{\n.reg .pred %p<4>;\n.reg .b32 %r<200>;\n.reg .b64 %rd<8>;\n" + body + "ret;\n}\n",
                                                "k.ptx");
  return estimated_registers(m.functions.at(0));
}

/// `count` values are made, then all are used.
std::string alive_together(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "mov.u32 %r" + std::to_string(i) + ", %tid.x;\n";
  for (int i = 1; i < count; ++i) text += "add.u32 %r0, %r0, %r" + std::to_string(i) + ";\n";
  return text + "ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], %r0;\n";
}

TEST(RegisterEstimate, CountsValuesThatAreNeededAtOnePlace) {
  EXPECT_EQ(estimate("", ""), 16u);                    // the least
  EXPECT_EQ(estimate("", alive_together(100)), 104u);  // 100 and 4, in units of 8
  EXPECT_EQ(estimate("", alive_together(101)), 112u);
  EXPECT_EQ(estimate(".maxnreg 64", alive_together(100)), 104u);  // what a launch has is tests/exec/entry_registers_test.cpp
  // One after the other: two words of an address and one of a value.
  std::string one_by_one = "ld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < 100; ++i) one_by_one += "mov.u32 %r" + std::to_string(i) + ", %tid.x;\nst.global.u32 [%rd1], %r" + std::to_string(i) + ";\n";
  EXPECT_EQ(estimate("", one_by_one), 16u);
}

TEST(RegisterEstimate, ALoopNeedsWhatItReadsUntilItEnds) {
  // Twenty values from before are each read once at the top of a loop, in which twenty others live together.
  std::string text = "ld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < 20; ++i) text += "mov.u32 %r" + std::to_string(i) + ", %tid.x;\n";
  text += "TOP:\n";
  for (int i = 0; i < 20; ++i) text += "st.global.u32 [%rd1], %r" + std::to_string(i) + ";\n";
  for (int i = 20; i < 40; ++i) text += "mov.u32 %r" + std::to_string(i) + ", %tid.y;\n";
  for (int i = 20; i < 40; ++i) text += "st.global.u32 [%rd1], %r" + std::to_string(i) + ";\n";
  EXPECT_EQ(estimate("", text), 32u);                 // 22 and 4, without the branch
  EXPECT_EQ(estimate("", text + "bra TOP;\n"), 48u);  // 42 and 4
}

}  // namespace
}  // namespace drywell::cudart
