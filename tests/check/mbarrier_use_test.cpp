// Instructions on mbarriers in the checker: arrivals of lanes, waits by lane, answers that the program does not test (PTX ISA 9.7.13.15).
#include "sim/check/mbarrier_use.h"

#include <gtest/gtest.h>

#include "tests/check/made_cluster.h"

namespace drywell::sim::check {
namespace {

using U = MbarrierUse;
constexpr uint32_t kBar = kSmemReserved;  // the first shared variable

/// Warp 0 initialises the object and arrives with all its lanes; warp 1 waits.
struct Mbarriers {
  explicit Mbarriers(const std::string& wait, uint32_t ctas = 1)
      : made("mov.u32 %r0, s;\nmbarrier.init.shared.b64 [%r0], 32;\nmbarrier.arrive.shared.b64 %rd0, [%r0];\n" + wait, ctas), use(*made.parts) {
    made.skip(made.warp(0), 1);
    made.skip(made.warp(1), 1);
    made.warp(1).pc = 3;
  }
  void init() {
    use.event(kBar, MbarrierEvent::init, 32);
    made.pass(made.warp(0), use, &U::instruction);
  }
  /// Warp 1 has seen the initialisation.
  void synchronise() {
    made.clock(1).acquire(made.clock(0).release());
    made.clock(0).tick();
  }
  void arrive() {
    for (int lane = 0; lane < 32; ++lane) use.event(kBar, MbarrierEvent::arrive, 1);
    use.event(kBar, MbarrierEvent::phase_complete, 0);
    made.pass(made.warp(0), use, &U::instruction);
  }
  void wait(LaneMask lanes = kFullMask) { made.pass(made.warp(1), use, &U::wait, lanes); }
  void until_wait() {
    init();
    synchronise();
    arrived = made.clock(0).time();
    arrive();
  }
  /// Warp 1 stores to the object's bytes.
  void store_over() {
    const AccessId store = made.parts->accesses.add(made.parts->warps.access(made.warp(1), 0, kFullMask, Agent::thread, true));
    made.parts->memory.touch({Memory::shared, 0, kBar, 8}, store, made.clock(1));
  }
  uint32_t known() { return made.clock(1).now.seen[made.clock(0).self]; }
  MadeCluster made;
  U use;
  uint32_t arrived = 0;
};

constexpr char kTested[] = "mbarrier.test_wait.parity.shared.b64 %p0, [%r0], 0;\n@!%p0 trap;";
constexpr char kUntested[] = "mbarrier.test_wait.parity.shared.b64 %p0, [%r0], 0;";
constexpr char kRelaxed[] = "mbarrier.test_wait.parity.relaxed.cta.shared.b64 %p0, [%r0], 0;\n@!%p0 trap;";

TEST(MbarrierUse, AnInitialisationIsAWriteOfTheObject) {
  Mbarriers x(kTested);
  x.init();
  EXPECT_TRUE(x.made.parts->mbarriers.live(kBar));
  EXPECT_NE(x.made.clock(0).inits, 0u) << "fence.mbarrier_init releases them";
  x.store_over();
  EXPECT_TRUE(x.made.found(Rule::mbarrier_bytes)) << "a store of the other warp, which has not seen it";
}

// A compiler gives the place of an mbarrier that nothing uses to something else.
TEST(MbarrierUse, BytesOfAnMbarrierThatNothingUsesAreAWarning) {
  Mbarriers x(kTested);
  x.init();
  x.synchronise();
  x.store_over();
  x.made.parts->mbarriers.finish(*x.made.cluster->ctas[0]);
  EXPECT_FALSE(x.made.found(Rule::mbarrier_bytes));
  EXPECT_TRUE(x.made.found(Rule::mbarrier_given_up));
}

TEST(MbarrierUse, BytesOfAnMbarrierThatIsUsedLaterAreAnError) {
  Mbarriers x(kTested);
  x.init();
  x.synchronise();
  x.store_over();
  EXPECT_FALSE(x.made.found(Rule::mbarrier_bytes));
  x.arrive();
  x.made.parts->mbarriers.finish(*x.made.cluster->ctas[0]);
  EXPECT_TRUE(x.made.found(Rule::mbarrier_bytes));
  EXPECT_FALSE(x.made.found(Rule::mbarrier_given_up));
}

TEST(MbarrierUse, BytesOfAnMbarrierThatWasUsedAreAnError) {
  Mbarriers x(kTested);
  x.init();
  x.synchronise();
  x.arrive();
  x.store_over();
  EXPECT_TRUE(x.made.found(Rule::mbarrier_bytes));
}

TEST(MbarrierUse, LanesOfOneInstructionAreOneEntry) {
  Mbarriers x(kTested);
  x.until_wait();
  const BarrierState* b = x.made.parts->mbarriers.find(kBar);
  ASSERT_NE(b, nullptr);
  ASSERT_EQ(b->last_ledger.size(), 1u);
  EXPECT_EQ(b->last_ledger[0].amount, 32);
}

TEST(MbarrierUse, AWaitAcquiresWhatThePhaseReleased) {
  Mbarriers x(kTested);
  x.until_wait();
  x.wait();
  EXPECT_EQ(x.known(), x.arrived);
  EXPECT_EQ(x.made.clock(1).met, x.made.clock(1).time()) << "all lanes passed";
  EXPECT_EQ(x.use.waits(), (std::map<uint32_t, bool>{{3, true}}));
}

TEST(MbarrierUse, LanesThatDidNotPassAcquireNothing) {
  Mbarriers x(kTested);
  x.until_wait();
  x.wait(0xFF);
  EXPECT_EQ(x.made.clock(1).ahead, 0xFFu);
  EXPECT_LT(x.made.clock(1).behind[x.made.clock(0).self], x.arrived);
}

TEST(MbarrierUse, ARelaxedWaitAcquiresAtTheNextFence) {
  Mbarriers x(kRelaxed);
  x.until_wait();
  x.wait();
  EXPECT_LT(x.known(), x.arrived);
  EXPECT_EQ(x.made.clock(1).observed.seen[x.made.clock(0).self], x.arrived);
}

TEST(MbarrierUse, AnAnswerThatIsNotTestedOrdersNothing) {
  Mbarriers x(kUntested);
  x.until_wait();
  x.wait();
  EXPECT_LT(x.known(), x.arrived);
  EXPECT_FALSE(x.made.found(Rule::answer_not_tested)) << "a later wait may test it";
  x.use.finish(*x.made.cluster->ctas[0]);
  EXPECT_TRUE(x.made.found(Rule::answer_not_tested));
}

TEST(MbarrierUse, AWarpThatDidNotSeeTheInitialisationIsReported) {
  Mbarriers x(kTested);
  x.init();
  x.arrive();
  x.wait();
  EXPECT_TRUE(x.made.found(Rule::init_not_seen));
}

// The shared window of a CTA of rank 1 begins at rank 1's bits.
TEST(MbarrierUse, TheAddressOfAnotherCtaIsReported) {
  Mbarriers x(kTested, 2);
  x.init();
  Warp& w = x.made.warp(0, 1);
  std::memcpy(w.bank[0], x.made.warp(0).bank[0], 128);  // %r0 of the other CTA, without a mapa
  x.use.instruction(w, x.made.program->code[2], kFullMask);
  EXPECT_TRUE(x.made.found(Rule::peer_address));
}

}  // namespace
}  // namespace drywell::sim::check
