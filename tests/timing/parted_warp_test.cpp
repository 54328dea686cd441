// A warp whose lanes have parted: lanes that wait for the others at a barrier do not slow these down. On an H200 every turn of the loop
// takes the same time, however many went before.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

using Barrier = std::function<void(KernelBuilder&)>;

constexpr int kTurns = 320;

/// Cycles of each turn of a loop of `working` lanes of a warp; the other lanes go on to the barrier.
std::vector<uint64_t> turns(uint32_t working, const Barrier& barrier) {
  const auto r = run_timed_kernel({.arch = "sm_90a"}, [&](KernelBuilder& k, Symbol, const auto&) {
    const Reg tid = k.def("mov.u32", SpecialReg::tid_x), mine = k.reg(Mod::pred), x = k.def("mov.f32", 1.0f), i = k.def("mov.u32", 0);
    k("setp.lt.u32", mine, tid, working);
    k.if_(mine, [&] {
      k.do_while([&] {
        const Reg again = k.reg(Mod::pred);
        for (int n = 0; n < 4; ++n) k("fma.rn.f32", x, x, x, x);
        k("add.u32", i, i, 1);
        k("setp.lt.u32", again, i, kTurns);
        return again;
      });
    });
    barrier(k);
  });
  const std::vector<uint64_t> starts = r.log.of("fma");
  std::vector<uint64_t> out;
  for (size_t n = 4; n < starts.size(); n += 4) out.push_back(starts[n] - starts[n - 4]);
  return out;
}

struct Case {
  const char* name;
  Barrier barrier;
};
const Case kBarriers[] = {
    {"bar.sync", [](KernelBuilder& k) { k("bar.sync", 0); }},
    {"barrier.sync", [](KernelBuilder& k) { k("barrier.sync", 0); }},
    {"bar.red", [](KernelBuilder& k) { k("bar.red.popc.u32", k.reg(Mod::u32), 0, k.reg(Mod::pred)); }},
    {"bar.warp.sync", [](KernelBuilder& k) { k("bar.warp.sync", 0xFFFFFFFFu); }},
    {"barrier.cluster",
     [](KernelBuilder& k) {
       k("barrier.cluster.arrive.aligned");
       k("barrier.cluster.wait.aligned");
     }},
};

double sum(const std::vector<uint64_t>& cycles) { return std::accumulate(cycles.begin(), cycles.end(), 0.0); }

// The other lanes arrive at a bar.warp.sync after 64 backward branches of these (sim/schedule/warp_runner.cpp).
constexpr double kOneArrival = 4;

TEST(PartedWarp, WorksAtTheSameSpeedAfterManyTurns) {
  for (const Case& c : kBarriers) {
    const std::vector<uint64_t> together = turns(32, c.barrier), alone = turns(1, c.barrier);
    ASSERT_EQ(alone.size(), static_cast<size_t>(kTurns - 1)) << c.name;
    EXPECT_NEAR(sum(alone), sum(together), kOneArrival) << c.name;
    for (const size_t turn : {40u, 70u, 140u, 300u}) EXPECT_EQ(alone[turn], together[turn]) << c.name << ", turn " << turn;
  }
}

// The lanes that spin may wait for lanes that have not come to the barrier: those still get their turn.
TEST(PartedWarp, LanesThatSpinDoNotStarveTheOthers) {
  const auto r = run_timed_kernel({.arch = "sm_90a"}, [](KernelBuilder& k, Symbol pointer, const auto&) {
    const Reg flag = k.load_param(pointer, Mod::u64), tid = k.def("mov.u32", SpecialReg::tid_x), first = k.reg(Mod::pred), one = k.def("mov.u32", 1);
    k("setp.eq.u32", first, tid, 0);
    k.if_else(
        first,
        [&] {
          k.do_while([&] {
            const Reg seen = k.reg(Mod::u32), again = k.reg(Mod::pred);
            k("ld.volatile.global.u32", seen, mem(flag));
            k("setp.eq.u32", again, seen, 0);
            return again;
          });
        },
        [&] { k("st.volatile.global.u32", mem(flag), one); });
    k("bar.sync", 0);
  });
  EXPECT_TRUE(r.result.ok());
}

// An arrival costs the warp 18 cycles (docs/facts/timing.md §3.3) and does not wait for the barrier's other warps.
TEST(BarArrive, DoesNotWait) {
  for (const char* arch : {"sm_90a", "sm_100a"}) {
    const auto r = run_timed_kernel({.launch = {.grid = {1}, .block = {64}}, .arch = arch}, [](KernelBuilder& k, Symbol, const auto&) {
      const Reg tid = k.def("mov.u32", SpecialReg::tid_x), first = k.reg(Mod::pred);
      k("setp.lt.u32", first, tid, 32);
      k.if_else(
          first,
          [&] {
            for (int i = 1; i < 9; ++i) k("bar.arrive", i, 64);
          },
          [&] {
            k("nanosleep.u32", 1000);
            for (int i = 1; i < 9; ++i) k("bar.sync", i, 64);
          });
    });
    EXPECT_EQ(spacing(r.log.of("bar")), 18) << arch;
  }
}

}  // namespace
}  // namespace drywell::sim
