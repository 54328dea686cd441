// Text for people. Tests of the parser check that printed modules read back and assemble.
#include "drywell/isa/print.h"

#include <gtest/gtest.h>

#include "drywell/isa/parse.h"

namespace drywell::isa {
namespace {

TEST(PrintBriefly, ShowsTheEndsOfLongVectors) {
  std::string registers;
  for (int i = 0; i < 64; ++i) registers += (i ? ", %r" : "%r") + std::to_string(i);
  const Module m = parse_ptx_or_throw(
      ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<80>;\n"
      "tcgen05.ld.sync.aligned.32x32b.x64.b32 {" +
          registers +
          "}, [%r70];\n"
          "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r0, %r1, %r2, %r3}, [%r70];\nret;\n}\n",
      "k.ptx");
  const Function& f = m.functions.at(0);
  EXPECT_EQ(print_instruction_briefly(f, f.body.at(0)), "tcgen05.ld.sync.aligned.32x32b.x64.b32 {%r0, %r1, ..., %r63}, [%r70];");
  EXPECT_EQ(print_instruction_briefly(f, f.body.at(1)), print_instruction(f, f.body.at(1)));
}

TEST(PrintBriefly, LeavesNothingOutOfShortVectors) {
  const std::string a(50, 'a'), b(50, 'b');
  const Module m = parse_ptx_or_throw(".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .b64 %rd<1>;\n.reg .b32 " + a + ", " + b + ";\n" +
                                          "ld.global.v2.b32 {" + a + ", " + b + "}, [%rd0];\nret;\n}\n",
                                      "k.ptx");
  const Function& f = m.functions.at(0);
  EXPECT_EQ(print_instruction_briefly(f, f.body.at(0)), print_instruction(f, f.body.at(0)));
}

}  // namespace
}  // namespace drywell::isa
