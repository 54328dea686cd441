// The explanation of a deadlock: the waiting warps, the ledger of the barrier, the missing arrivals.
#include <gtest/gtest.h>

#include <regex>

#include "drywell/sim/check.h"
#include "support/async_run.h"

namespace drywell::test {
namespace {

std::string hang(const std::string& body, uint32_t threads, sim::DriverKind driver = sim::DriverKind::eager, sim::WaitGraph* graph = nullptr) {
  AsyncCase c;
  c.threads = threads;
  c.body = body;
  c.buffers = {Bytes(1024)};
  sim::HazardChecker checker;
  const AsyncRun r = run_async(c, {.driver = driver, .max_instructions = 1'000'000, .listeners = {checker.listener()}});
  if (graph != nullptr) *graph = checker.wait_graph();
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
  EXPECT_NE(why.find("warp 1 came in the phase before and waits itself, for the mbarrier at 0x400 (bar) of CTA rank 0, parity 1"), std::string::npos) << why;
}

TEST(Hang, NamesWarpsThatHaveExited) {
  const std::string why = hang(kInit + R"(
  setp.ge.u32 %p2, tid, 32;
  @%p2 exit;
  @first mbarrier.arrive.shared::cta.b64 _, [bar];
)" + wait_for("[bar]", 0),
                               128);
  EXPECT_NE(why.find("1 of 2 arrivals are missing; so far warp 0 alone came; warps 1 to 3 have exited"), std::string::npos) << why;
}

// Halves of one warp wait for each other, each on an mbarrier of its own: both have their ledger, under their names.
TEST(Hang, TellsWhichOfTwoBarriersOfOneWarpIsMeant) {
  const std::string why = hang(kInit + R"(
  @first mbarrier.init.shared::cta.b64 [bar+8], 16;
  bar.sync 0;
  setp.lt.u32 %p2, tid, 16;
  @%p2 bra LOW;
)" + wait_for("[bar]", 0) + R"(
  bra END;
LOW:
)" + wait_for("[bar+8]", 0) + "END: bar.warp.sync -1;",
                               32);
  EXPECT_NE(why.find("      the mbarrier at 0x400 (bar) of CTA rank 0:\n"), std::string::npos) << why;
  EXPECT_NE(why.find("      the mbarrier at 0x408 (bar+0x8) of CTA rank 0:\n"), std::string::npos) << why;
}

// Each of two warps begins with a wait for the other's arrival.
TEST(Hang, NamesACircleOfWaits) {
  const std::string why = hang(R"(
  setp.ge.u32 %p2, tid, 32;
  @%p2 bra SECOND;
  bar.sync 1, 64;
  bar.arrive 2, 64;
  bra END;
SECOND:
  bar.sync 2, 64;
  bar.arrive 1, 64;
END:
  bar.sync 0;
)",
                               64);
  EXPECT_NE(why.find("a circle of waits: warp 0 -> barrier 1 of CTA rank 0 -> warp 1 -> barrier 2 of CTA rank 0 -> warp 0\n"), std::string::npos) << why;
}

TEST(Hang, LanesAtTwoNamedBarriers) {
  const std::string why = hang(R"(
  and.b32 %r1, tid, 31;
  setp.lt.u32 %p2, %r1, 16;
  @%p2 bra LOW;
  barrier.sync 2, 64;
  bra END;
LOW:
  barrier.sync 1, 64;
END:
  bar.warp.sync -1;
)",
                               64);
  EXPECT_NE(why.find("for the barrier that it names"), std::string::npos) << why;
  EXPECT_NE(why.find("for lanes of its own warp that are elsewhere"), std::string::npos) << why;
}

TEST(Hang, TellsOfABarrierNobodyArrivesOn) {
  const std::string why = hang(kInit + wait_for("[bar]", 0), 32);
  EXPECT_NE(why.find("no thread has arrived on it"), std::string::npos) << why;
  EXPECT_NE(why.find("mbarrier.try_wait"), std::string::npos) << why;
}

// Two stages with two arrivals each; warp 1 leaves out the second one, whose phase is the first.
TEST(Hang, NamesTheWarpThatArrivesOnTheOtherStages) {
  const std::string why = hang(R"(
  mov.u32 %r5, bar;
  mov.u32 %r6, 0;
INIT:
  @first mbarrier.init.shared::cta.b64 [%r5], 2;
  add.u32 %r5, %r5, 8;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 2;
  @%p1 bra INIT;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  and.b32 %r1, tid, 31;
  mov.u32 %r5, bar;
  mov.u32 %r6, 0;
  mov.u32 %r7, tid;
ROUND:
  setp.eq.u32 %p2, %r1, 0;
  setp.eq.u32 %p3, %r7, 33;
  @%p3 bra NEXT;
  @%p2 mbarrier.arrive.shared::cta.b64 _, [%r5];
NEXT:
  add.u32 %r7, %r7, 1;
  add.u32 %r5, %r5, 8;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 2;
  @%p1 bra ROUND;
)" + wait_for("[bar+8]", 0),
                               64);
  EXPECT_NE(why.find("1 of 2 arrivals are missing; so far warp 0 alone came; warp 1, which arrives on other mbarriers of that line of initialisation, waits itself"), std::string::npos) << why;
}

// Both warps wait for each other; warp 1's wait was true twice for phase 0, because its parity did not change.
TEST(Hang, SuspectsAParityThatDoesNotChange) {
  const std::string why = hang(R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  and.b32 %r1, tid, 31;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra END;
  mov.u32 %r6, 0;
  setp.ge.u32 %p2, tid, 32;
  @%p2 bra CONSUMER;
  mbarrier.arrive.shared::cta.b64 _, [bar];
)" + wait_for("[bar+8]", 0) + wait_for("[bar+8]", 1) +
                                   wait_for("[bar+8]", 0) + R"(
  mbarrier.arrive.shared::cta.b64 _, [bar];
  bra END;
CONSUMER:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra CONSUMER;
  mbarrier.arrive.shared::cta.b64 _, [bar+8];
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 2;
  @%p1 bra CONSUMER;
)" + wait_for("[bar]", 1) + "  mbarrier.arrive.shared::cta.b64 _, [bar+8];\nEND: bar.warp.sync -1;\n",
                               64);
  EXPECT_EQ(why.find("the cause:"), std::string::npos) << why;
  EXPECT_NE(why.find("suspicious: warp 1 of CTA rank 0 passed 'mbarrier.try_wait.parity.shared::cta.b64"), std::string::npos) << why;
  EXPECT_NE(why.find("1 time for a phase that the same wait had been true for: its parity may be that of a phase that is over"), std::string::npos) << why;
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

constexpr sim::DriverKind kDrivers[] = {sim::DriverKind::eager, sim::DriverKind::lazy, sim::DriverKind::shuffled, sim::DriverKind::timed};

// Warp 1 waits for bytes, warp 2 for what warp 1 would commit, warp 0 for the slot: the bytes are the cause.
TEST(Hang, PutsTheCauseBeforeWhatFollows) {
  const std::string why = hang(R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  @first mbarrier.init.shared::cta.b64 [bar+16], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  setp.ge.u32 %p2, tid, 64;
  @%p2 bra LAST;
  setp.ge.u32 %p2, tid, 32;
  @%p2 bra MIDDLE;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 528;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];
)" + wait_for("[bar+8]", 0) + R"(
  bra END;
MIDDLE:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra MIDDLE;
  mbarrier.arrive.shared::cta.b64 _, [bar+8];
  mbarrier.arrive.shared::cta.b64 _, [bar+16];
  bra END;
LAST:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar+16], 0;
  @!%p1 bra LAST;
END: bar.warp.sync -1;
)",
                               96);
  const size_t cause = why.find("  the cause: phase 0 of the mbarrier at 0x400 (bar)"), follows = why.find("  it may follow from that: phase 0 of the mbarrier at ");
  ASSERT_NE(cause, std::string::npos) << why;
  ASSERT_NE(follows, std::string::npos) << why;
  EXPECT_LT(cause, follows) << why;
  EXPECT_NE(why.find("16 bytes expected and not delivered: 512 delivered, 528 expected"), std::string::npos) << why;
  EXPECT_EQ(why.find("the cause", cause + 10), std::string::npos) << why;
}

// Each warp waits for the other one's first arrival.
TEST(Hang, NamesTheChoiceWhereNobodyHasArrived) {
  const std::string why = hang(R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  bar.sync 0;
  setp.ge.u32 %p2, tid, 32;
  @%p2 bra CONSUMER;
)" + wait_for("[bar+8]", 0) + R"(
  @first mbarrier.arrive.shared::cta.b64 _, [bar];
  bra END;
CONSUMER:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra CONSUMER;
END: bar.warp.sync -1;
)",
                               64);
  EXPECT_NE(why.find("  the cause is one of these, and the others follow from it:\n    phase 0 of the mbarrier at "), std::string::npos) << why;
  EXPECT_NE(why.find("(a wait for parity 1 of a fresh mbarrier is true at once: so begins who waits for a free slot)"), std::string::npos) << why;
}

// The producer's first wait for a free slot is for parity 0.
TEST(Hang, NamesTheWaitThatBeginsWithTheWrongParity) {
  const std::string why = hang(R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  bar.sync 0;
  setp.ge.u32 %p2, tid, 32;
  @%p2 bra CONSUMER;
)" + wait_for("[bar+8]", 0) + R"(
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];
  bra END;
CONSUMER:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra CONSUMER;
  ld.shared.u32 %r1, [smem];
  mbarrier.arrive.shared::cta.b64 _, [bar+8];
END: bar.warp.sync -1;
)",
                               64);
  const size_t cause = why.find("  the cause: phase 0 of the mbarrier at "), follows = why.find("  it may follow from that: phase 0 of the mbarrier at ");
  ASSERT_NE(cause, std::string::npos) << why;
  ASSERT_NE(follows, std::string::npos) << why;
  EXPECT_LT(cause, follows) << why;
  EXPECT_NE(why.find("begins with parity 1"), std::string::npos) << why;
  EXPECT_NE(why.substr(cause, follows - cause).find("+0x8"), std::string::npos) << why;
}

// Thread 0 of CTA 0 arrives on its own mbarrier where it means that of each CTA.
TEST(Hang, NamesTheCtaWhoseMbarrierIsLeftOut) {
  AsyncCase c;
  c.threads = 64;
  c.ctas = c.cluster = 2;
  c.body = R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  setp.ge.u32 %p2, tid, 32;
  @%p2 bra SECOND;
  @leader mbarrier.arrive.shared::cta.b64 _, [bar];
)" + wait_for("[bar]", 0) +
           R"(
  @first mbarrier.arrive.shared::cta.b64 _, [bar+8];
  bra END;
SECOND:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar+8], 0;
  @!%p1 bra SECOND;
END:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)";
  sim::HazardChecker checker;
  const AsyncRun r = run_async(c, {.driver = sim::DriverKind::eager, .max_instructions = 1'000'000, .listeners = {checker.listener()}});
  ASSERT_FALSE(r.result.ok());
  const std::string& why = r.result.fault->message;
  EXPECT_NE(why.find("  the cause: phase 0 of the mbarrier at 0x400 (bar) of CTA rank 1"), std::string::npos) << why;
  EXPECT_NE(why.find("no thread has arrived on it; that of another CTA has been arrived on"), std::string::npos) << why;
}

// One lane spins on an mbarrier, the others wait for it: the mbarrier is the cause.
class PartedLanes : public testing::TestWithParam<const char*> {};

TEST_P(PartedLanes, TheMbarrierIsNamed) {
  for (const sim::DriverKind driver : kDrivers) {
    sim::WaitGraph graph;
    const std::string why = hang(kInit + "@first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 96;\n@!first bra MEET;\n" + wait_for("[bar]", 0) + "MEET: " + GetParam(), 64, driver, &graph);
    SCOPED_TRACE(sim::driver_name(driver));
    EXPECT_NE(why.find("  the cause: phase 0 of the mbarrier at "), std::string::npos) << why;
    EXPECT_NE(why.find("(bar) of CTA rank 0 (parity 0) is incomplete, 1 of 2 arrivals are missing, 96 bytes expected and not delivered"), std::string::npos) << why;
    EXPECT_NE(why.find("its lanes 0x00000001 are at 'mbarrier.try_wait"), std::string::npos) << why;
    EXPECT_NE(why.find(", for parity 0 of the mbarrier at"), std::string::npos) << why;
    EXPECT_NE(why.find("its lanes 0xfffffffe are at '"), std::string::npos) << why;
    EXPECT_NE(why.find("so far: warp 0 arrived 1"), std::string::npos) << why;
    EXPECT_NE(why.find("its first wait at this place; it has waited since"), std::string::npos) << why;
    const auto barrier = std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const auto& n) { return n.lines[0].starts_with("mbarrier"); });
    ASSERT_NE(barrier, graph.nodes.end());
    EXPECT_EQ(barrier->lines.at(1), "1 of 2 arrivals missing");
    EXPECT_TRUE(std::any_of(graph.edges.begin(), graph.edges.end(), [&](const auto& e) { return &graph.nodes[e.to] == &*barrier && e.label == "lanes 0x00000001 wait for parity 0"; }));
  }
}
INSTANTIATE_TEST_SUITE_P(Hang, PartedLanes, testing::Values("bar.warp.sync -1;\n", "bar.sync 0;\n", "barrier.sync 0;\n", "barrier.sync.aligned 0;\n"),
                         [](const auto& i) { return "At" + std::to_string(i.index); });

// CTAs that wait for the same barrier are one entry.
TEST(Hang, CtasOfAClusterAreFolded) {
  AsyncCase c;
  c.ctas = c.cluster = 4;
  c.body = kInit + wait_for("[bar]", 0);
  sim::HazardChecker checker;
  const AsyncRun r = run_async(c, {.max_instructions = 1'000'000, .listeners = {checker.listener()}});
  ASSERT_FALSE(r.result.ok());
  const std::string& why = r.result.fault->message;
  EXPECT_NE(why.find("(bar) of CTA ranks 0 to 3 (parity 0) is incomplete, 2 of 2 arrivals are missing; no thread has arrived on it\n  CTA (0,0,0)"), std::string::npos) << why;
  EXPECT_NE(why.find("  CTA (3,0,0) is as CTA rank 0\n"), std::string::npos) << why;
}

// A ring of two stages; the third round's first stage is never filled.
TEST(Hang, TellsTheStageAndTheRoundOfAWait) {
  for (const sim::DriverKind driver : kDrivers) {
    const std::string why = hang(R"(
  mov.u32 %r8, bar;
  mov.u32 %r1, 0;
  INIT: shl.b32 %r2, %r1, 3;
  add.u32 %r2, %r2, %r8;
  @first mbarrier.init.shared::cta.b64 [%r2], 1;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p2, %r1, 2;
  @%p2 bra INIT;
  bar.sync 0;
  mov.u32 %r1, 0;
  NEXT: and.b32 %r2, %r1, 1;
  shl.b32 %r3, %r2, 3;
  add.u32 %r3, %r3, %r8;
  shr.u32 %r4, %r1, 1;
  and.b32 %r4, %r4, 1;
  setp.lt.u32 %p2, %r1, 5;
  and.pred %p2, %p2, first;
  @%p2 mbarrier.arrive.shared::cta.b64 _, [%r3];
  WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], %r4;
  @!%p1 bra WAIT;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p3, %r1, 8;
  @%p3 bra NEXT;
)",
                                 32, driver);
    EXPECT_NE(why.find("it has passed this wait 5 times; the mbarrier is number 1 of 0 to 1 that one line initialises"), std::string::npos) << why;
    EXPECT_NE(why.find("phase 2 of the mbarrier at"), std::string::npos) << why;
    EXPECT_NE(why.find("(bar+0x8)"), std::string::npos) << why;
  }
}

// A timed run tells what an eager one tells, but for the times: what is missing, who should have come, who waits, and where.
struct Hanging {
  const char* name;
  const char* body;
  uint32_t threads, ctas;
  std::vector<const char*> tells;  // of every driver
};
void PrintTo(const Hanging& h, std::ostream* out) { *out << h.name; }

std::string without_times(const std::string& text) { return std::regex_replace(text, std::regex("since [0-9]+, now is [0-9]+"), "since T, now is T"); }

class EveryDriver : public testing::TestWithParam<Hanging> {};

TEST_P(EveryDriver, ExplainsTheHang) {
  const Hanging& h = GetParam();
  std::string eager;
  for (const sim::DriverKind driver : kDrivers) {
    SCOPED_TRACE(sim::driver_name(driver));
    AsyncCase c;
    c.threads = h.threads;
    c.ctas = c.cluster = h.ctas;
    c.buffers = {Bytes(4096)};
    c.body = h.body;
    sim::HazardChecker checker;
    const AsyncRun r = run_async(c, {.driver = driver, .max_instructions = 1'000'000, .listeners = {checker.listener()}});
    ASSERT_FALSE(r.result.ok());
    EXPECT_EQ(r.result.fault->code, Code::F3601);
    const std::string why = without_times(r.result.fault->message);
    for (const char* text : h.tells) EXPECT_NE(why.find(text), std::string::npos) << text << "\n"
                                                                                  << why;
    if (driver == sim::DriverKind::eager) eager = why;
    if (driver == sim::DriverKind::timed) {
      EXPECT_EQ(why, eager);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hang, EveryDriver,
    testing::Values(
        Hanging{"AMissingArriver", R"(
  @first mbarrier.init.shared::cta.b64 [bar], 2;
  bar.sync 0;
  setp.eq.u32 %p2, tid, 32;
  @first mbarrier.arrive.shared::cta.b64 _, [bar];
  @%p2 mbarrier.arrive.shared::cta.b64 _, [bar];
  ONE: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra ONE;
  @first mbarrier.arrive.shared::cta.b64 _, [bar];
  TWO: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 1;
  @!%p1 bra TWO;
)",
                64,
                1,
                {"phase 1 of the mbarrier at", "(bar)", "1 of 2 arrivals are missing", "so far: warp 0 arrived 1", "in the phase before, and not in this one: warp 1 arrived 1"}},
        Hanging{"AWrongParity", R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  bar.sync 0;
  @first mbarrier.arrive.shared::cta.b64 _, [bar];
  ONE: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra ONE;
  @first mbarrier.arrive.shared::cta.b64 _, [bar];
  TWO: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra TWO;
)",
                32,
                1,
                {"the cause: ", "(bar)", "parity 0"}},
        Hanging{"BytesThatNeverCome", R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  bar.sync 0;
  @first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 528;
  @first cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [smem], [buf0], 512, [bar];
  ONE: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra ONE;
)",
                32,
                1,
                {"16 bytes expected and not delivered"}},
        Hanging{"PartedLanes", R"(
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  bar.sync 0;
  @!first bra MEET;
  ONE: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar+8], 0;
  @!%p1 bra ONE;
  MEET: bar.warp.sync -1;
)",
                32,
                1,
                {"the cause: phase 0 of the mbarrier at", "(bar+0x8)", "its lanes 0x00000001 are at 'mbarrier.try_wait", "its lanes 0xfffffffe are at 'bar.warp.sync", "no thread has arrived on it"}},
        Hanging{"APeerThatDoesNotArrive", R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  setp.eq.u32 %p2, rank, 1;
  mov.u32 %r4, bar;
  mapa.shared::cluster.u32 %r5, %r4, 1;
  @leader mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];
  ONE: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra ONE;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
)",
                32,
                2,
                {"the cause: phase 0 of the mbarrier at", "(bar) of CTA rank 0", "1 of 1 arrivals are missing", "barrier.cluster.wait"}},
        Hanging{"ACommitThatNeverComes", R"(
  @first mbarrier.init.shared::cta.b64 [bar], 1;
  @first mbarrier.init.shared::cta.b64 [bar+8], 1;
  bar.sync 0;
  setp.eq.u32 %p2, tid, 32;
  @%p2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar+8];
  ONE: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
  @!%p1 bra ONE;
)",
                64,
                1,
                {"the cause: phase 0 of the mbarrier at", "(bar) of CTA rank 0", "1 of 1 arrivals are missing", "no thread has arrived on it"}}),
    [](const auto& i) { return std::string(i.param.name); });

}  // namespace
}  // namespace drywell::test
