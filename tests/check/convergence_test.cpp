// The lanes and warps that take part in an instruction, and registers that have no value.
#include "sim/check/convergence.h"

#include <gtest/gtest.h>

#include "sim/check/register_use.h"
#include "tests/check/made_cluster.h"

namespace drywell::sim::check {
namespace {

constexpr char kCommit[] = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r0];";

TEST(Convergence, AProductOfSeveralLanesIsSeveralProducts) {
  MadeCluster made(kCommit);
  Convergence part(*made.parts);
  part.product(made.warp(0), made.program->code[0], 1);
  EXPECT_FALSE(made.found(Rule::many_lanes));
  part.product(made.warp(0), made.program->code[0], 3);
  EXPECT_TRUE(made.found(Rule::many_lanes));
}

TEST(Convergence, ACommitOfNothingWhileAnotherThreadHasIssuedIsReported) {
  MadeCluster made(kCommit);
  Convergence part(*made.parts);
  const DecodedOp& op = made.program->code[0];
  part.commit(made.warp(0), op, 1);
  EXPECT_FALSE(made.found(Rule::commit_of_nothing)) << "no thread has anything to track";
  OperationQueue& theirs = made.parts->state_of(made.warp(1)).tensor.of(0, made.parts->components);
  theirs.last = made.parts->accesses.add(made.parts->access(made.warp(1), op, 1, Agent::mma, true));
  theirs.issue();
  part.commit(made.warp(1), op, 1);
  EXPECT_FALSE(made.found(Rule::commit_of_nothing)) << "its own";
  theirs.issue();
  part.commit(made.warp(0), op, 1);
  EXPECT_TRUE(made.found(Rule::commit_of_nothing));
}

constexpr char kResize[] = "setmaxnreg.dec.sync.aligned.u32 64;\nsetmaxnreg.dec.sync.aligned.u32 32;\nsetmaxnreg.dec.sync.aligned.u32 32;";

TEST(Convergence, ASecondChangeOfTheRegistersNeedsABarrierBefore) {
  MadeCluster made(kResize);
  Convergence part(*made.parts);
  part.set_registers(made.warp(0), made.program->code[1], kFullMask);
  part.set_registers(made.warp(0), made.program->code[2], kFullMask);
  EXPECT_FALSE(made.found(Rule::setmaxnreg_twice)) << "the same number changes nothing";
  made.parts->state_of(made.warp(0)).resized = false;  // a barrier
  part.set_registers(made.warp(0), made.program->code[0], kFullMask);
  EXPECT_FALSE(made.found(Rule::setmaxnreg_twice));
  part.set_registers(made.warp(0), made.program->code[1], kFullMask);
  EXPECT_TRUE(made.found(Rule::setmaxnreg_twice));
}

TEST(Convergence, TheWarpsOfAGroupSetTheSameNumbers) {
  const auto reported = [](uint32_t second) {
    MadeCluster made(kResize);
    Convergence part(*made.parts);
    part.set_registers(made.warp(0), made.program->code[1], kFullMask);
    part.set_registers(made.warp(1), made.program->code[second], kFullMask);
    part.finish(*made.cluster->ctas[0]);
    return made.found(Rule::setmaxnreg_part);
  };
  EXPECT_FALSE(reported(2)) << "another instruction with the same number";
  EXPECT_TRUE(reported(0));
}

TEST(RegisterUse, ARegisterWithoutAValueIsReportedWhereWhatWasMadeOfItIsUsed) {
  MadeCluster made("add.u32 %r1, %r0, 1;\nadd.u32 %r2, %r1, 1;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;");
  RegisterUse part(*made.parts);
  ASSERT_TRUE(made.state.follows_registers());
  for (int i = 0; i < 2; ++i) made.pass(made.warp(0), part, &RegisterUse::follow);
  EXPECT_TRUE(made.parts->reporter.all().empty());
  made.pass(made.warp(0), part, &RegisterUse::follow);
  EXPECT_EQ(made.parts->reporter.all().size(), 1u);
}

TEST(RegisterUse, AGuardWithoutAValueIsReportedWhereItExcludesAllLanes) {
  MadeCluster made("@%p0 mov.u32 %r0, 0;");
  RegisterUse part(*made.parts);
  part.skipped(made.warp(0), made.program->code[0]);
  EXPECT_TRUE(made.found(Rule::register_unwritten));
}

TEST(RegisterUse, AUseOfALoadedRegisterShowsThatItsLoadHasWritten) {
  MadeCluster made("add.u32 %r1, %r0, 1;");
  RegisterUse part(*made.parts);
  WarpState& state = made.parts->state_of(made.warp(0));
  const Program::RegUse& use = made.program->reg_use[0];
  ASSERT_EQ(use.reads, 1u);
  state.loads.open(made.parts->components, true);
  state.loading.add(made.warp(0).frame_base + made.program->reg_lists[use.first], {3, 0});
  part.take_loaded(made.warp(0), made.program->code[0], kFullMask);
  EXPECT_EQ(state.clock.now.seen[state.loads.read], 3u);
  EXPECT_EQ(state.clock.now.seen[state.loads.done], 0u) << "not a wait";
  EXPECT_TRUE(made.found(Rule::load_not_waited));
}

}  // namespace
}  // namespace drywell::sim::check
