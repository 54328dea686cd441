// The order that the timed driver gives a block's instructions: loads as early as they may be.
#include "sim/timing/block_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"

namespace drywell::sim {
namespace {

using testing::ElementsAre;

/// The instructions of a kernel with that body, in the new order, as lines of the body from 1 on.
std::vector<uint32_t> order(const std::string& body) {
  const std::string head =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred "
      "%p<4>;\n.reg .b32 %r<99>;\n.reg .f32 %f<99>;\n.reg .b64 %d<9>;\n"
      ".shared .b32 one[64];\n.shared .b32 other[64];\n";
  const auto lines = static_cast<uint32_t>(std::count(head.begin(), head.end(), '\n'));
  const isa::Module m = with_scheduled_blocks(isa::parse_ptx_or_throw(head + body + "}\n", "k.ptx"), load_arch("sm_90a"));
  std::vector<uint32_t> out;
  for (const isa::Instruction& i : m.functions.at(0).body) out.push_back(i.ptx_line - lines);
  return out;
}

TEST(BlockSchedule, ALoadAndItsAddressMoveOverWhatWaitsForAnother) {
  EXPECT_THAT(order("ld.global.f32 %f1, [%d1];\n"
                    "add.f32 %f2, %f1, %f2;\n"
                    "add.u64 %d2, %d1, 64;\n"
                    "ld.global.f32 %f3, [%d2];\n"
                    "add.f32 %f2, %f3, %f2;\n"
                    "ret;\n"),
              ElementsAre(1, 3, 4, 2, 5, 6));
}

// tile_wide of tests/corpus/timing/mechanisms: the store waits for its load, which is not in the L1; ptxas 13.0 has all loads of a pass before it, however
// long the arithmetic of their addresses is.
TEST(BlockSchedule, LoadsWithLongAddressesComeBeforeTheFirstStoreOfALoadedValue) {
  std::string body;
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    body += "add.u32 %r1" + n + ", %r9, " + std::to_string(64 * i) + ";\n";
    for (int k = 0; k < 10; ++k) body += "mad.lo.u32 %r1" + n + ", %r1" + n + ", %r8, %r7;\n";
    body += "mul.wide.u32 %d" + n + ", %r1" + n + ", 4;\nadd.u64 %d" + n + ", %d" + n + ", %d8;\nld.global.f32 %f" + n + ", [%d" + n + "];\nst.shared.f32 [one+" + std::to_string(4 * i) + "], %f" + n + ";\n";
  }
  const auto o = order(body + "ret;\n");
  const auto place = [&](uint32_t line) { return std::find(o.begin(), o.end(), line) - o.begin(); };
  constexpr uint32_t kLines = 15;  // of one load; the store is the last
  for (uint32_t i = 1; i <= 4; ++i) EXPECT_LT(place(kLines * i - 1), place(kLines)) << i;
}

// decode of tests/corpus/timing: ptxas 13.0 leaves a load behind the first exchanges of lanes that may be apart.
TEST(BlockSchedule, NoLoadMovesOverTheFirstExchangeOfLanesThatMayBeApart) {
  const auto loop = [](const std::string& first) {
    return order("mov.u32 %r1, " + first +
                 ";\nL:\nshfl.sync.bfly.b32 %r2, %r3, 1, 31, -1;\nshfl.sync.bfly.b32 %r4, %r2, 2, 31, -1;\nshfl.sync.bfly.b32 %r5, %r6, 2, 31, -1;\n"
                 "ld.global.u32 %r7, [%d1];\nadd.u32 %r1, %r1, 4;\nsetp.lt.u32 %p1, %r1, 99;\n@%p1 bra L;\nadd.u32 %r8, %r7, %r5;\nret;\n");
  };
  const auto apart = loop("%tid.x"), together = loop("%ctaid.x");
  const auto place = [](const std::vector<uint32_t>& o, uint32_t line) { return std::find(o.begin(), o.end(), line) - o.begin(); };
  EXPECT_GT(place(apart, 6), place(apart, 4));
  EXPECT_LT(place(apart, 6), place(apart, 5));
  EXPECT_LT(place(together, 6), place(together, 3));
}

TEST(BlockSchedule, NothingMovesOverABarrierABranchOrAnAtomicOperation) {
  for (const std::string wall :
       {"bar.sync 0;\n", "@%p1 bra L;\n", "red.shared.add.u32 [other], 5;\n", "membar.gl;\n",
        "ld.volatile.shared.u32 %r9, [other];\n", "st.volatile.shared.u32 [other], %r9;\n", "@%p1 exit;\n",
        "mov.u64 %d5, %clock64;\n"}) {
    EXPECT_THAT(order("add.u32 %r1, %r1, %r1;\n" + wall + "ld.shared.u32 %r2, [one];\nL:\nret;\n"),
                ElementsAre(1, 2, 3, 5))
        << wall;
  }
}

TEST(BlockSchedule, ALoadMovesOverAStoreToAnotherPlaceOnly) {
  const auto moves = [](const std::string& store, const std::string& load) {
    const std::vector<uint32_t> o = order("add.u32 %r1, %r1, %r1;\n" + store + "\n" + load + "\nret;\n");
    return o.at(0) == 3;
  };
  EXPECT_TRUE(moves("st.shared.u32 [%r8], %r1;", "ld.shared.u32 %r2, [%r8+4];"));
  EXPECT_TRUE(moves("st.shared.u32 [one], %r1;", "ld.shared.u32 %r2, [other];"));
  EXPECT_TRUE(moves("st.shared.u32 [one], %r1;", "ld.global.u32 %r2, [%d1];"));
  EXPECT_TRUE(moves("st.global.u32 [%d1], %r1;", "ld.global.nc.u32 %r2, [%d2];"));
  EXPECT_FALSE(moves("st.shared.v2.u32 [%r8], {%r1, %r1};", "ld.shared.u32 %r2, [%r8+4];"));
  EXPECT_FALSE(moves("st.shared.u32 [%r8], %r1;", "ld.shared.u32 %r2, [%r9+4];"));
  EXPECT_FALSE(moves("st.global.u32 [%d1], %r1;", "ld.global.u32 %r2, [%d2];"));
  EXPECT_FALSE(moves("st.u32 [%d1], %r1;", "ld.shared.u32 %r2, [one];"));
}

TEST(BlockSchedule, ABaseThatChangesBetweenIsAnotherPlace) {
  EXPECT_THAT(order("st.shared.u32 [%r8], %r1;\nadd.u32 %r8, %r8, 4;\nld.shared.u32 %r2, [%r8+-4];\nret;\n"),
              ElementsAre(1, 2, 3, 4));
}

TEST(BlockSchedule, RegistersKeepTheirValues) {
  // The load's register is read before, and its address changes after the first use.
  EXPECT_THAT(order("add.f32 %f5, %f1, %f5;\nld.global.f32 %f1, [%d1];\nret;\n"), ElementsAre(1, 2, 3));
  EXPECT_THAT(order("st.global.u64 [%d3], %d1;\nadd.u64 %d1, %d1, 8;\nld.global.nc.f32 %f1, [%d1];\nret;\n"),
              ElementsAre(1, 2, 3, 4));
  // A guarded load keeps the old value of its register where the guard is false.
  EXPECT_THAT(order("add.u32 %r5, %r5, %r5;\nmov.u32 %r1, 0;\n@%p1 ld.global.u32 %r1, [%d1];\nret;\n"),
              ElementsAre(2, 3, 1, 4));
}

TEST(BlockSchedule, IndependentChainsFillEachOthersWaits) {
  EXPECT_THAT(order("fma.rn.f32 %f1, %f1, %f1, %f9;\nfma.rn.f32 %f1, %f1, %f1, %f9;\nfma.rn.f32 %f1, %f1, %f1, %f9;\n"
                    "fma.rn.f32 %f2, %f2, %f2, %f9;\nfma.rn.f32 %f2, %f2, %f2, %f9;\nfma.rn.f32 %f2, %f2, %f2, %f9;\nret;\n"),
              ElementsAre(1, 4, 2, 5, 3, 6, 7));
}

// CC.CF is in no operand: what lies between an add.cc and its addc must not touch it.
TEST(BlockSchedule, ChainsOfCarriesStayApart) {
  const std::vector<uint32_t> o = order(
      "mad.lo.cc.u32 %r1, %r1, %r2, %r3;\naddc.u32 %r4, %r1, %r2;\nadd.cc.u32 %r11, %r12, %r13;\naddc.cc.u32 %r14, %r15, %r16;\nsubc.u32 %r17, %r18, %r19;\n"
      "sub.cc.u32 %r20, %r21, %r22;\nmadc.hi.u32 %r23, %r24, %r25, %r26;\nret;\n");
  EXPECT_THAT(o, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(BlockSchedule, AnInstructionMayWriteARegisterTwice) {
  EXPECT_THAT(order("setp.lt.u32 %p1|%p1, %r1, %r2;\nld.shared.v2.u32 {%r3, %r3}, [one];\nmov.b64 {%r4, %r4}, %d1;\n@%p1 st.shared.u32 [one], %r3;\nret;\n"), ElementsAre(2, 1, 3, 4, 5));
}

TEST(BlockSchedule, ArithmeticStaysOnItsSideOfAWall) {
  for (const std::string wall : {"bar.sync 0;\n", "mov.u64 %d5, %clock64;\n", "red.shared.add.u32 [other], 5;\n"}) {
    EXPECT_THAT(order("ex2.approx.ftz.f32 %f1, %f1;\nadd.f32 %f1, %f1, %f9;\n" + wall + "add.f32 %f2, %f2, %f9;\nret;\n"), ElementsAre(1, 2, 3, 4, 5)) << wall;
  }
}

TEST(BlockSchedule, TheTestOfABranchComesBeforeOtherWork) {
  // Three additions nobody waits for, then the loop's counter: its guard takes longest.
  EXPECT_THAT(order("add.f32 %f1, %f1, %f9;\nadd.f32 %f2, %f2, %f9;\nadd.f32 %f3, %f3, %f9;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nL:\nret;\n"),
              ElementsAre(4, 1, 2, 3, 5, 7));
}

TEST(BlockSchedule, AStoreStaysBehindTheLoadsBeforeIt) {
  // Loads wait for registers here; the store must not overtake the last one.
  std::string body;
  for (int i = 0; i < 40; ++i) body += "ld.global.u32 %r" + std::to_string(10 + i) + ", [%d1+" + std::to_string(4 * i) + "];\n";
  body += "st.global.u32 [%d2], %r1;\n";
  const std::vector<uint32_t> o = order(body + "ret;\n");
  EXPECT_THAT(std::vector<uint32_t>(o.end() - 2, o.end()), ElementsAre(41, 42));
}

TEST(BlockSchedule, LoadsRunAheadByAsManyRegistersAsPtxasWouldKeep) {
  std::string body;
  for (int i = 0; i < 12; ++i) {
    const auto r = [&](int k) { return "%f" + std::to_string(10 + 4 * i + k); };
    body += "ld.global.v4.f32 {" + r(0) + ", " + r(1) + ", " + r(2) + ", " + r(3) + "}, [%d1+" +
            std::to_string(16 * i) + "];\nadd.f32 %f5, " + r(0) + ", %f5;\n";
  }
  const std::vector<uint32_t> o = order("add.u32 %r1, %r1, %r1;\n" + body + "ret;\n");
  // Eight loads of four words come first; the ninth follows the first use.
  EXPECT_THAT(std::vector<uint32_t>(o.begin(), o.begin() + 8), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
}

}  // namespace
}  // namespace drywell::sim
