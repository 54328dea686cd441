// The explanation of a deadlock: the waiting warps, the ledger of the barrier, the missing arrivals.
#include <gtest/gtest.h>

#include "drywell/sim/check.h"
#include "support/async_run.h"

namespace drywell::test {
namespace {

std::string hang(const std::string& body, uint32_t threads) {
  AsyncCase c;
  c.threads = threads;
  c.body = body;
  sim::HazardChecker checker;
  const AsyncRun r = run_async(c, {.max_instructions = 1'000'000, .listeners = {checker.listener()}});
  EXPECT_FALSE(r.result.ok());
  if (r.result.ok()) return {};
  EXPECT_EQ(r.result.fault->code, Code::F3601);
  return r.result.fault->message;
}

const std::string kInit = R"(
  @first mbarrier.init.shared::cta.b64 [bar], 2;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
)";

// Warps 0 and 1 arrive in the first phase, only warp 0 in the second.
TEST(Hang, NamesTheWarpThatDidNotComeAgain) {
  const std::string why = hang(kInit + R"(
  and.b32 %r1, tid, 31;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 mbarrier.arrive.shared::cta.b64 _, [bar];
)" + wait_for("[bar]", 0) + R"(
  @first mbarrier.arrive.shared::cta.b64 _, [bar];
)" + wait_for("[bar]", 1),
                               64);
  EXPECT_NE(why.find("phase 1: 1 of 2 arrivals missing"), std::string::npos) << why;
  EXPECT_NE(why.find("so far: warp 0 arrived 1"), std::string::npos) << why;
  EXPECT_NE(why.find("in the phase before, and not in this one: warp 1 arrived 1"), std::string::npos) << why;
  EXPECT_NE(why.find("1 phases completed since"), std::string::npos) << why;
  EXPECT_NE(why.find("who waits for whom"), std::string::npos) << why;
}

TEST(Hang, TellsOfABarrierNobodyArrivesOn) {
  const std::string why = hang(kInit + wait_for("[bar]", 0), 32);
  EXPECT_NE(why.find("no thread has arrived on it"), std::string::npos) << why;
  EXPECT_NE(why.find("mbarrier.try_wait"), std::string::npos) << why;
}

TEST(Hang, CountsBytesThatNeverCame) {
  const std::string why = hang(kInit + R"(
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
)" + wait_for("[bar]", 0),
                               32);
  EXPECT_NE(why.find("512 bytes expected and not delivered"), std::string::npos) << why;
  EXPECT_NE(why.find("warp 0 expects bytes 512"), std::string::npos) << why;
}

TEST(Hang, CountsBytesThatNobodyExpected) {
  const std::string why = hang(kInit + R"(
  @first mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [bar], 128;
)" + wait_for("[bar]", 0),
                               32);
  EXPECT_NE(why.find("128 bytes delivered and not expected"), std::string::npos) << why;
}

TEST(Hang, NamesTheWarpsANamedBarrierLacks) {
  const std::string why = hang(R"(
  setp.lt.u32 %p2, tid, 32;
  @%p2 bar.sync 1, 64;
)",
                               64);
  EXPECT_NE(why.find("named barrier 1: 32 of 64 threads have arrived"), std::string::npos) << why;
}

// Both halves of a warp are at a bar.sync, but not at the same one.
TEST(Hang, TellsWhereTheLanesOfAWarpAre) {
  const std::string why = hang(R"(
  setp.lt.u32 %p2, tid, 16;
  @%p2 bra LOWER;
  bar.sync 0;
  bra END;
  LOWER: bar.sync 1;
  END: add.u32 %r1, tid, 2;
)",
                               32);
  EXPECT_NE(why.find("its lanes 0x0000ffff are at 'bar.sync 1;'"), std::string::npos) << why;
  EXPECT_NE(why.find("its lanes 0xffff0000 are at 'bar.sync 0;'"), std::string::npos) << why;
  EXPECT_NE(why.find("by all lanes of the warp together"), std::string::npos) << why;
}

}  // namespace
}  // namespace drywell::test
