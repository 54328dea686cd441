// Cycles beyond 2^32, two seconds of a chip's time: what comes then takes as long as at the start.
#include <gtest/gtest.h>

#include "drywell/sim/arch_config.h"
#include "sim/timing/memory_system.h"
#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

/// Sleeps `sleeps` milliseconds; then a chain of multiplications and two loads.
IssueLog chain_after(int64_t sleeps) {
  const auto body = [&](KernelBuilder& k, Symbol pointer, const auto&) {
    const Reg i = k.reg(Mod::u32), x = k.reg(Mod::u32), y = k.reg(Mod::u32), p = k.load_param(pointer, Mod::u64);
    k("mov.u32", i, 0);
    k.do_while([&] {
      const Reg again = k.reg(Mod::pred);
      k("nanosleep.u32", 1000000);
      k("add.u32", i, i, 1);
      k("setp.lt.u32", again, i, sleeps);
      return again;
    });
    k("mul.lo.u32", x, i, i);
    for (int n = 0; n < 7; ++n) k("mul.lo.u32", x, x, x);
    k("ld.global.u32", y, mem(p));
    k("add.u32", x, x, y);
    k("ld.global.u32", y, mem(p, 4));
    k("add.u32", x, x, y);
    k("st.global.u32", mem(p), x);
  };
  return run_timed_kernel({}, body).log;
}

uint64_t cycles(const IssueLog& log) { return log.of("st").back() - log.of("mul").front(); }

TEST(FarCycles, AChainTakesAsLongAsAtTheStart) {
  const IssueLog near = chain_after(8), far = chain_after(2400);
  ASSERT_GT(far.of("st").back(), uint64_t{1} << 32);
  EXPECT_EQ(cycles(far), cycles(near));
}

/// A read of device memory that comes at `first`, and one of the same line ten cycles later.
std::pair<double, double> answers(double first) {
  const ArchConfig arch = load_arch("sm_100a");
  Gmem gmem(1 << 20);
  const ByteRange line{gmem.allocate(1 << 19, "memory").value(), 128};
  MemorySystem memory(arch, gmem, 1);
  MemoryRequest one{.time = first, .count = 1}, two{.time = first + 10, .count = 1};
  memory.serve(one, &line);
  memory.serve(two, &line);
  return {static_cast<double>(one.done) - first, static_cast<double>(two.done) - first};
}

// The L2 keeps when a line arrives: a request for one on its way is not answered before the one that fetches it has it.
TEST(FarCycles, ALineOnItsWayIsWaitedFor) {
  const auto [one, two] = answers(0);
  EXPECT_GT(one, static_cast<double>(load_arch("sm_100a").l2.latency) + 100) << "from device memory";
  EXPECT_NEAR(two, one, 80);
  for (const double start : {0x1p29, 0x1p30, 0x1p33}) {
    const auto [far_one, far_two] = answers(start);
    EXPECT_NEAR(far_one, one, 1) << start;
    EXPECT_NEAR(far_two, two, 64) << start;
  }
}

}  // namespace
}  // namespace drywell::sim
