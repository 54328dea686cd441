// tcgen05.mma and tensor memory through real kernels on the timed driver (docs/facts/timing.md §4 and §5). Values
// are off: the cycles do not depend on them, and every shape runs.
#include <gtest/gtest.h>

#include "tests/timing/harness.h"
#include "tests/timing/umma_descriptor.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

struct UmmaCase {
  const char* name;
  uint32_t m;
  bool pair, a_in_tmem;
  std::array<double, 6> interval, latency;  // N = 64, 80, 96, 112, 128, 256: SemiAnalysis' medians on a B200
};
constexpr uint32_t kN[] = {64, 80, 96, 112, 128, 256};
const UmmaCase kCases[] = {
    {"OneSmM128Ts", 128, false, true, {32, 40, 48, 56, 64, 128}, {136, 144, 152, 160, 168, 232}},
    {"OneSmM128Ss", 128, false, false, {48, 52, 56, 60, 64, 128}, {168, 176, 184, 192, 200, 264}},
    {"OneSmM64Ts", 64, false, true, {32, 40, 48, 56, 64, 128}, {136, 144, 152, 160, 168, 232}},
    {"OneSmM64Ss", 64, false, false, {32, 40, 48, 56, 64, 128}, {152, 160, 168, 176, 184, 248}},
    {"PairM256Ts", 256, true, true, {32, 40, 48, 56, 64, 128}, {170, 178, 186, 194, 202, 266}},
    {"PairM256Ss", 256, true, false, {43.0, 45.3, 49.4, 56, 64, 128}, {202, 210, 218, 226, 234, 298}},
    {"PairM128Ts", 128, true, true, {18, 20, 24, 28, 32, 64}, {162, 166, 170, 174, 178, 210}},
    {"PairM128Ss", 128, true, false, {25, 27, 29, 30, 32, 64}, {173, 179, 185, 191, 197, 229}},
};

// Issue of the first of `count` MMAs to the return of the wait on the commit after the last.
double batch_cycles(const UmmaCase& c, uint32_t n, int count) {
  TimedKernel kernel;
  kernel.values = false;
  if (c.pair) kernel.launch = {.grid = {2}, .block = {32}, .cluster = {2}};
  const std::string group = c.pair ? "2" : "1";
  const auto r = run_timed_kernel(kernel, [&](KernelBuilder& k, Symbol, const auto&) {
    const Symbol bar = k.shared("bar", 8, 8), slot = k.shared("slot", 4, 4);
    const Reg tid = k.def("mov.u32", SpecialReg::tid_x), rank = k.def("mov.u32", SpecialReg::cluster_ctarank),
              leader = k.reg(Mod::pred);
    k(OpText("tcgen05.alloc.cta_group::" + group + ".sync.aligned.shared::cta.b32"), mem(slot), 512);
    const Reg first = k.reg(Mod::pred);
    k("setp.eq.u32", first, tid, 0);
    k.when(first)("mbarrier.init.shared::cta.b64", mem(bar), 1);
    k("bar.sync", 0);
    const Reg tmem = k.def("ld.shared.b32", mem(slot));
    const Reg idesc = k.def("mov.b32", bf16_descriptor(c.m, n).encode()), a = k.def("mov.b64", 0), b = k.def("mov.b64", 0),
              bar_at = k.def("mov.u32", bar);
    const Reg on = k.reg(Mod::pred);
    k("setp.eq.u32", on, tid, tid);
    k("setp.eq.u32", leader, rank, 0);
    k.if_(leader, [&] {
      k.elect_one([&] {
        for (int i = 0; i < count; ++i)
          k(OpText("tcgen05.mma.cta_group::" + group + ".kind::f16"), mem(tmem),
            c.a_in_tmem ? mem(tmem, 256) : Arg(a), b, idesc, on);
        k(OpText("tcgen05.commit.cta_group::" + group + ".mbarrier::arrive::one.shared::cluster.b64"), mem(bar_at));
      });
      k.do_while([&] {
        const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
        k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), 0);
        k("not.pred", again, done);
        return again;
      });
    });
    if (c.pair) {
      k("barrier.cluster.arrive.aligned");
      k("barrier.cluster.wait.aligned");
    }
    k(OpText("tcgen05.dealloc.cta_group::" + group + ".sync.aligned.b32"), tmem, 512);
  });
  return static_cast<double>(r.log.of("mbarrier.try_wait").front() - r.log.of("tcgen05.mma").front());
}

class Umma : public testing::TestWithParam<UmmaCase> {};

TEST_P(Umma, HasThePublishedLatencyAlone) {
  for (size_t i = 0; i < std::size(kN); ++i) {
    const double expected = GetParam().latency[i];
    EXPECT_NEAR(batch_cycles(GetParam(), kN[i], 1), expected, 0.05 * expected) << "N = " << kN[i];
  }
}

TEST_P(Umma, HasThePublishedIntervalInABatch) {
  for (size_t i = 0; i < std::size(kN); ++i) {
    const double interval = (batch_cycles(GetParam(), kN[i], 96) - batch_cycles(GetParam(), kN[i], 32)) / 64;
    EXPECT_NEAR(interval, GetParam().interval[i], 0.05 * GetParam().interval[i]) << "N = " << kN[i];
  }
}

// SA's fits of batches: II x D + b (docs/facts/timing.md §4.2).
TEST(UmmaBatch, HasThePublishedIntercept) {
  const double intercept[] = {116, 140, 116, 132};  // M=128 TS, M=128 SS (132 to 148), M=64 TS, M=64 SS
  for (size_t i = 0; i < std::size(intercept); ++i) {
    const double interval = kCases[i].interval[4];
    EXPECT_NEAR(batch_cycles(kCases[i], 128, 64), 64 * interval + intercept[i], 0.05 * 64 * interval)
        << kCases[i].name;
    EXPECT_NEAR(batch_cycles(kCases[i], 128, 64) - 64 * interval, intercept[i], 12) << kCases[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Umma, testing::ValuesIn(kCases),
                         [](const auto& p) { return std::string(p.param.name); });

// ---- TMEM ports

std::vector<uint64_t> port_cycles(const std::string& op, uint32_t registers, int count, bool wait_each,
                                  std::vector<uint64_t>* waits = nullptr) {
  const bool load = op.rfind("tcgen05.ld", 0) == 0;
  const auto r = run_timed_kernel({}, [&](KernelBuilder& k, Symbol, const auto&) {
    const Symbol slot = k.shared("slot", 4, 4);
    k("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", mem(slot), 512);
    const Reg tmem = k.def("ld.shared.b32", mem(slot));
    std::vector<RegArray> sets;  // enough that no load waits for the registers of an earlier one
    for (int s = 0; s < std::min(count, 6); ++s) {
      sets.push_back(k.regs(Mod::b32, registers));
      for (uint32_t i = 0; i < registers; ++i) k("mov.b32", sets.back()[i], i);
    }
    for (int i = 0; i < count; ++i) {
      const RegArray& v = sets[static_cast<size_t>(i) % sets.size()];
      if (load) {
        k(OpText(op), v, mem(tmem));
      } else {
        k(OpText(op), mem(tmem), v);
      }
      if (wait_each) k(OpText(load ? "tcgen05.wait::ld.sync.aligned" : "tcgen05.wait::st.sync.aligned"));
    }
    k(OpText(load ? "tcgen05.wait::ld.sync.aligned" : "tcgen05.wait::st.sync.aligned"));
    k("tcgen05.dealloc.cta_group::1.sync.aligned.b32", tmem, 512);
  });
  if (waits != nullptr) *waits = r.log.of(load ? "tcgen05.wait::ld" : "tcgen05.wait::st");
  return r.log.of(load ? "tcgen05.ld" : "tcgen05.st");
}

// ceil(N / 2) cycles of the port, and 22 more until the registers are available.
TEST(TmemLoad, TakesItsServiceTimeAndLatency) {
  for (const uint32_t n : {1u, 2u, 16u, 32u, 64u, 128u}) {
    std::vector<uint64_t> waits;
    const auto loads =
        port_cycles("tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(n) + ".b32", n, 1, false, &waits);
    const double expected = 22 + std::max(1.0, n / 2.0);
    EXPECT_NEAR(static_cast<double>(waits.front() - loads.front()), expected, 0.05 * expected) << n;
  }
}

TEST(TmemLoad, SharesThePortInOrder) {
  struct Case {
    const char* op;
    uint32_t registers;
    double service;
  };
  const Case cases[] = {{"tcgen05.ld.sync.aligned.32x32b.x16.b32", 16, 8},
                        {"tcgen05.ld.sync.aligned.32x32b.x64.b32", 64, 32},
                        {"tcgen05.ld.sync.aligned.32x32b.x128.b32", 128, 64},
                        {"tcgen05.ld.sync.aligned.16x64b.x32.b32", 32, 32},
                        {"tcgen05.ld.sync.aligned.16x128b.x16.b32", 32, 32},
                        {"tcgen05.ld.sync.aligned.16x256b.x4.b32", 16, 32},
                        {"tcgen05.ld.sync.aligned.32x32b.x16.pack::16b.b32", 16, 16}};
  for (const Case& c : cases) {
    std::vector<uint64_t> one, many;
    const auto a = port_cycles(c.op, c.registers, 4, false, &one),
               b = port_cycles(c.op, c.registers, 20, false, &many);
    const double each =
        (static_cast<double>(many.back() - b.front()) - static_cast<double>(one.back() - a.front())) / 16;
    EXPECT_NEAR(each, c.service, 0.05 * c.service) << c.op;
  }
}

// 8 cycles with its wait at the least (docs/facts/timing.md §5).
TEST(TmemStore, TakesEightCyclesAtTheLeast) {
  std::vector<uint64_t> waits;
  const auto stores = port_cycles("tcgen05.st.sync.aligned.32x32b.x1.b32", 1, 1, false, &waits);
  EXPECT_NEAR(static_cast<double>(waits.front() - stores.front()), 9, 1);
}

}  // namespace
}  // namespace drywell::sim
