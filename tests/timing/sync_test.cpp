// Barriers and mbarriers (docs/facts/timing.md §3.3).
#include <gtest/gtest.h>

#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

// 20.7 cycles for 128 threads on a B200, and two more cycles a warp on every chip probed.
TEST(BarSync, TakesTwoCyclesAWarpMoreThanItsBase) {
  for (const uint32_t warps : {1u, 4u, 8u, 32u}) {
    const auto r = run_timed_kernel({.launch = {.grid = {1}, .block = {32 * warps}}},
                                    [&](KernelBuilder& k, Symbol, const auto&) {
                                      for (int i = 0; i < 20; ++i) k("bar.sync", 0);
                                    });
    const double expected = 20.7 + 2.0 * (static_cast<double>(warps) - 4);
    EXPECT_NEAR(spacing(r.log.of("bar")), expected, 0.05 * expected) << warps << " warps";
  }
}

// H200, measured: 12 + 2 W back to back, exactly.
TEST(BarSync, TakesTwelveAndTwoAWarpOnHopper) {
  for (const uint32_t warps : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const auto r = run_timed_kernel({.launch = {.grid = {1}, .block = {32 * warps}}, .arch = "sm_90a"},
                                    [&](KernelBuilder& k, Symbol, const auto&) {
                                      for (int i = 0; i < 20; ++i) k("bar.sync", 0);
                                    });
    EXPECT_EQ(spacing(r.log.of("bar")), 12.0 + 2 * warps);
  }
}

/// Cycles from one fence to the next.
double fence_spacing(const char* opcode, std::string_view mnemonic, const char* arch) {
  const auto r = run_timed_kernel({.arch = arch}, [&](KernelBuilder& k, Symbol, const auto&) {
    for (int i = 0; i < 20; ++i) k(OpText(opcode));
  });
  return spacing(r.log.of(mnemonic));
}

// H200: 145 cycles for all state spaces, 9.75 for shared memory alone; 179 on a B300.
TEST(ProxyFence, OfAllStateSpacesWaitsForGlobalMemory) {
  EXPECT_NEAR(fence_spacing("fence.proxy.async", "fence.proxy.async", "sm_90a"), 145, 1);
  EXPECT_NEAR(fence_spacing("fence.proxy.async.shared::cta", "fence.proxy.async", "sm_90a"), 9.75, 1);
  EXPECT_NEAR(fence_spacing("fence.proxy.async", "fence.proxy.async", "sm_100a"), 179, 1);
}

// H200: 1.2 cycles. There is nothing to wait for.
TEST(MbarrierInitFence, CostsAnIssueSlot) {
  for (const char* arch : {"sm_90a", "sm_100a"}) EXPECT_NEAR(fence_spacing("fence.mbarrier_init.release.cluster", "fence.mbarrier_init", arch), 1.2, 0.3) << arch;
}

void init_barrier(KernelBuilder& k, Symbol bar, Reg tid, uint32_t count) {
  const Reg first = k.reg(Mod::pred);
  k("setp.eq.u32", first, tid, 0);
  k.when(first)("mbarrier.init.shared::cta.b64", mem(bar), count);
  k("bar.sync", 0);
}

void wait(KernelBuilder& k, Symbol bar, Arg parity) {
  k.do_while([&] {
    const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
    k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), parity);
    k("not.pred", again, done);
    return again;
  });
}

// A warp arrives, another one waits: 65 cycles on a B200 (29 to be visible, the rest to wake).
TEST(Mbarrier, WakesAWaiterAfterTheRoundTrip) {
  const auto r =
      run_timed_kernel({.launch = {.grid = {1}, .block = {64}}}, [&](KernelBuilder& k, Symbol, const auto&) {
        const Symbol bar = k.shared("bar", 8, 8);
        const Reg tid = k.def("mov.u32", SpecialReg::tid_x);
        init_barrier(k, bar, tid, 32);
        const Reg second = k.reg(Mod::pred);
        k("setp.ge.u32", second, tid, 32);
        k.if_else(
            second, [&] { wait(k, bar, 0); },
            [&] {
              Reg v = k.def("add.u32", tid, 1);
              for (int i = 0; i < 100; ++i) k("xor.b32", v, v, i);  // the waiter is asleep by then
              k("mbarrier.arrive.shared::cta.b64", sink(), mem(bar));
            });
      });
  const auto arrive = r.log.of("mbarrier.arrive", 0), woken = r.log.of("mbarrier.try_wait", 1);
  ASSERT_EQ(arrive.size(), 1u);
  ASSERT_EQ(woken.size(), 1u);
  EXPECT_NEAR(static_cast<double>(woken[0] - arrive[0]), 65, 0.05 * 65);
}

// A phase that is already complete: 32 cycles on a B200 from the wait to the instruction that uses its
// answer.
TEST(Mbarrier, AnswersACompletePhaseAfterItsLatency) {
  const auto r = run_timed_kernel({}, [&](KernelBuilder& k, Symbol, const auto&) {
    const Symbol bar = k.shared("bar", 8, 8);
    const Reg tid = k.def("mov.u32", SpecialReg::tid_x);
    init_barrier(k, bar, tid, 32);
    Reg v = k.def("add.u32", tid, 1);
    k("mbarrier.arrive.shared::cta.b64", sink(), mem(bar));
    for (int i = 0; i < 100; ++i) k("xor.b32", v, v, i);
    const Reg done = k.reg(Mod::pred);
    k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
    k.when(done)("shl.b32", v, v, 1);
  });
  EXPECT_NEAR(static_cast<double>(r.log.of("shl")[0] - r.log.of("mbarrier.try_wait")[0]), 32, 0.05 * 32);
}

// H200: a wait whose phase does not complete returns false after 7825 cycles.
TEST(Mbarrier, GivesUpWaitingAfterTheSuspendWindow) {
  const auto r = run_timed_kernel({.arch = "sm_90a"}, [&](KernelBuilder& k, Symbol, const auto&) {
    const Symbol bar = k.shared("bar", 8, 8);
    const Reg tid = k.def("mov.u32", SpecialReg::tid_x);
    init_barrier(k, bar, tid, 33);
    const Reg done = k.reg(Mod::pred);
    k("fence.proxy.async.shared::cta");
    k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
  });
  const double waited =
      static_cast<double>(r.log.of("mbarrier.try_wait")[0] - r.log.of("fence.proxy.async")[0]);
  EXPECT_NEAR(waited, 7825, 0.05 * 7825);
}

TEST(Deadlock, IsFoundAndNamed) {
  EXPECT_THROW(run_timed_kernel({.launch = {.grid = {1}, .block = {64}}},
                                [&](KernelBuilder& k, Symbol, const auto&) {
                                  const Symbol bar = k.shared("bar", 8, 8);
                                  const Reg tid = k.def("mov.u32", SpecialReg::tid_x);
                                  init_barrier(k, bar, tid, 65);
                                  k("mbarrier.arrive.shared::cta.b64", sink(), mem(bar));
                                  wait(k, bar, 0);
                                }),
               InternalError);
}

}  // namespace
}  // namespace drywell::sim
