// What differs between lanes, and where lanes are apart.
#include "sim/timing/lanes_apart.h"

#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "sim/timing/block_motion.h"
#include "sim/timing/double_constants.h"
#include "sim/timing/register_room.h"

namespace drywell::sim {
namespace {

isa::Module kernel(const std::string& body) {
  return isa::parse_ptx_or_throw(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<20>;\n"
      ".reg .f64 %f<9>;\n.reg .b64 %d<9>;\n" +
          body + "}\n",
      "k.ptx");
}
LanesApart lanes(const isa::Function& f) { return lanes_apart(f, isa::registers_of(f)); }
bool varies(const isa::Function& f, const std::string& name) {
  for (isa::RegId r = 0; r < f.regs.size(); ++r) {
    if (f.regs[r].name == name) return lanes(f).varies[r] != 0;
  }
  ADD_FAILURE() << name;
  return false;
}

TEST(LanesApart, ValuesMadeOfTheThreadsNumberOrOfMemoryVary) {
  const isa::Module m = kernel(
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmad.lo.u32 %r3, %r2, 5, %r2;\nadd.u32 %r4, %r3, %r1;\nld.param.u64 %d1, [p];\n"
      "ld.global.u32 %r5, [%d1];\nadd.u32 %r6, %r5, 1;\nret;\n");
  const isa::Function& f = m.functions.at(0);
  for (const char* name : {"%r1", "%r4", "%r5", "%r6"}) EXPECT_TRUE(varies(f, name)) << name;
  for (const char* name : {"%r2", "%r3", "%d1"}) EXPECT_FALSE(varies(f, name)) << name;
}

TEST(LanesApart, OnlyUntilTheLanesMeet) {
  const isa::Module m = kernel("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\nadd.u32 %r2, %r1, 1;\nL:\nadd.u32 %r3, %r1, 2;\nret;\n");
  const LanesApart l = lanes(m.functions.at(0));
  EXPECT_EQ(l.parts, (std::vector<uint8_t>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(l.apart, (std::vector<uint8_t>{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(l.meets, (std::vector<uint8_t>{0, 0, 0, 0, 1, 0}));
}

TEST(LanesApart, NobodyWaitsForLanesThatEnd) {
  const isa::Module m = kernel("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r3, %r1, 2;\nL:\nret;\n");
  const LanesApart l = lanes(m.functions.at(0));
  EXPECT_EQ(l.apart, std::vector<uint8_t>(6, 0));
  EXPECT_EQ(l.parts, std::vector<uint8_t>(6, 0));
}

TEST(LanesApart, ALoopThatLanesLeaveOneByOne) {
  const isa::Module m = kernel("mov.u32 %r1, %tid.x;\nL:\nadd.u32 %r1, %r1, 4;\nsetp.lt.u32 %p1, %r1, 99;\n@%p1 bra L;\nadd.u32 %r3, %r1, 2;\nret;\n");
  EXPECT_EQ(lanes(m.functions.at(0)).apart, (std::vector<uint8_t>{0, 1, 1, 1, 0, 0}));
}

TEST(DoubleConstants, ThoseWithALowerWordAreBroughtOnceInALoop) {
  const isa::Module m = kernel("mov.f64 %f1, 0d3FE45F306DC9C883;\nfma.rn.f64 %f2, %f2, %f1, %f1;\nfma.rn.f64 %f3, %f2, %f1, 0d3FE0000000000000;\nret;\n");
  const isa::Function& f = m.functions.at(0);
  DoubleConstants constants(f);
  EXPECT_EQ(constants.new_words(f, f.body[1]), 2);
  EXPECT_EQ(constants.new_words(f, f.body[2]), 0);  // the other one has no lower word
  constants.forget();
  EXPECT_EQ(constants.new_words(f, f.body[2]), 2);
}

TEST(RegisterRoom, LeavesToABlockWhatValuesFromBeforeItDoNotTake) {
  const isa::Module m = kernel(
      "mov.u32 %r1, %tid.x;\ncvt.u64.u32 %d1, %r1;\nmov.u32 %r2, %ctaid.x;\nL:\nadd.u64 %d1, %d1, 4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 99;\n"
      "@%p1 bra L;\nst.global.u32 [%d1], %r1;\nret;\n");
  const isa::Function& f = m.functions.at(0);
  const std::vector<isa::Registers> registers = isa::registers_of(f);
  const std::vector<uint32_t> starts = block_starts(f);
  const auto room = register_room(f, live_ranges(f, registers), lanes(f), starts);
  ASSERT_EQ(starts[1], 3u);
  EXPECT_EQ(room[1], 30u - 3u);  // of 32 two are kept; an address and a number of the thread, not the counter that all lanes share
}

}  // namespace
}  // namespace drywell::sim
