// The registers of one warp (docs/function-vs-time.md, "Sub-partitions": operands are tracked per virtual register; loads wait for memory).
#include "sim/timing/scoreboard.h"

#include <gtest/gtest.h>

namespace drywell::sim {
namespace {

constexpr Time kFar = Time{1} << 33;  // more cycles than 32 bits hold

struct Registers : testing::Test {
  Registers() { board.reset(8); }
  Scoreboard board;
  const std::vector<uint32_t> ab{0, 1}, c{2}, none;
};

TEST_F(Registers, AreThereInANewWarp) {
  const Readiness r = board.find({ab, c}, 5);
  EXPECT_EQ(r.ready, 5u);
  EXPECT_EQ(r.inputs, 0u);
  EXPECT_EQ(r.load, Readiness::kNoLoad);
}

TEST_F(Registers, TheLastOperandDecidesAndTellsWhy) {
  board.set(0, 30, Stall::register_dependency);
  board.set(1, 40, Stall::mbarrier);
  const Readiness r = board.find({ab, c}, 5);
  EXPECT_EQ(r.ready, 40u);
  EXPECT_EQ(r.inputs, 40u);
  EXPECT_EQ(r.why, Stall::mbarrier);
}

TEST_F(Registers, AWarpThatMayNotGoOnIsNotReadyWithItsOperands) {
  board.set(0, 30, Stall::register_dependency);
  const Readiness r = board.find({ab, c}, 100);
  EXPECT_EQ(r.ready, 100u);
  EXPECT_EQ(r.inputs, 30u) << "for what ptxas moves up within the block";
}

TEST_F(Registers, AResultIsNoOperand) {
  board.set(2, 30, Stall::register_dependency);
  EXPECT_EQ(board.find({ab, c}, 5).ready, 5u);
}

TEST_F(Registers, AGuardNeedsMoreThanItsValue) {
  board.set(3, 30, Stall::register_dependency);
  EXPECT_EQ(board.find({none, none, 3, 7}, 5).ready, 37u);
}

TEST_F(Registers, CyclesBeyond32BitsStay) {
  board.set(0, kFar, Stall::memory);
  EXPECT_EQ(board.find({ab, c}, 5).ready, kFar);
}

TEST_F(Registers, ALoadIsWaitedForByNumberUntilMemoryAnswers) {
  const uint64_t load = board.begin_load();
  board.set_load(0, load);
  EXPECT_EQ(board.find({ab, c}, 5).load, load);
  board.answer(load, kFar);
  const Readiness r = board.find({ab, c}, 5);
  EXPECT_EQ(r.load, Readiness::kNoLoad);
  EXPECT_EQ(r.ready, kFar);
  EXPECT_EQ(r.why, Stall::memory);
}

TEST_F(Registers, ALoadsAnswerDoesNotOvertakeALaterResult) {
  const uint64_t load = board.begin_load();
  board.set_load(2, load);
  EXPECT_EQ(board.find({ab, c}, 5).load, load);
}

TEST_F(Registers, AFoldedInstructionsResultsComeWithItsLastOperand) {
  const uint64_t load = board.begin_load();
  board.set(0, 50, Stall::mbarrier);
  board.fold({ab, c});
  EXPECT_EQ(board.find({c, none}, 5).ready, 50u);
  EXPECT_EQ(board.find({c, none}, 5).why, Stall::mbarrier);
  board.set_load(1, load);
  board.fold({ab, c});
  EXPECT_EQ(board.find({c, none}, 5).load, load);
}

TEST_F(Registers, LoadsInFlightAreBounded) {
  const uint64_t first = board.begin_load();
  uint64_t loads = 1;
  for (; board.blocking_load() == Readiness::kNoLoad && loads < 1000; ++loads) board.begin_load();
  EXPECT_EQ(board.blocking_load(), first) << "after " << loads << " loads";
  board.answer(first, 70);
  EXPECT_EQ(board.blocking_load(), Readiness::kNoLoad);
}

TEST_F(Registers, ALoadAnsweredLongAgoHoldsNobodyUp) {
  const uint64_t first = board.begin_load();
  board.set_load(0, first);
  for (int i = 0; i < 1000; ++i) board.answer(board.begin_load(), 900);
  EXPECT_EQ(board.find({ab, c}, 1000).load, Readiness::kNoLoad);
  EXPECT_EQ(board.find({ab, c}, 1000).ready, 1000u);
}

}  // namespace
}  // namespace drywell::sim
