// TMA: issue spacing, latency from L2 and from device memory, bandwidth of one SM and of the chip
// (docs/facts/timing.md §8).
#include <gtest/gtest.h>

#include "drywell/sim/arch_config.h"

#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

constexpr uint32_t kInner = 64;  // bf16 elements: one swizzle span

TensorMap map_of(uint64_t address, uint32_t rows, uint32_t box_rows) {
  TensorMapFields f;
  f.type = TensorType::bf16;
  f.rank = 2;
  f.address = address;
  f.dim = {kInner, rows, 1, 1, 1};
  f.stride = {kInner * 2, 0, 0, 0};
  f.box = {kInner, box_rows, 1, 1, 1};
  f.element_stride = {1, 1, 1, 1, 1};
  f.swizzle = Swizzle::b128;
  return encode(f);
}

struct Loads {
  uint32_t box_rows = 4;  // 128 bytes each
  int count = 1;          // loads, one after the other into their own place
  bool twice = false;     // the same rows again: they are in the L2 then
  uint32_t ctas = 1;
  uint32_t skip = 0;  // rows before the first
  std::string arch = "sm_100a";
};

struct Outcome {
  std::vector<uint64_t> issue, done;
  uint64_t cycles = 0;
};

Outcome load(const Loads& l) {
  TimedKernel kernel;
  kernel.arch = l.arch;
  const uint32_t bytes = l.box_rows * 128;
  const int rounds = l.twice ? 2 : 1;
  const auto rows = l.skip + static_cast<uint32_t>(l.count) * l.box_rows * l.ctas;
  kernel.global_bytes = uint64_t{rows} * 128;
  kernel.launch = {
      .grid = {l.ctas}, .block = {32}, .dynamic_smem = bytes * static_cast<uint32_t>(l.count) + 1024};
  kernel.listen = l.ctas == 1;
  const auto r = run_timed_kernel(
      kernel,
      [&](KernelBuilder& k, Symbol, const std::vector<Symbol>& maps) {
        const Symbol bar = k.shared("bar", 8, 8), data = k.dynamic_shared("data", 1024);
        const Reg tid = k.def("mov.u32", SpecialReg::tid_x), first = k.reg(Mod::pred);
        const Reg row0 = k.def("add.u32", k.def("mul.lo.u32", k.def("mov.u32", SpecialReg::ctaid_x), static_cast<uint32_t>(l.count) * l.box_rows), l.skip);
        k("setp.eq.u32", first, tid, 0);
        k.when(first)("mbarrier.init.shared::cta.b64", mem(bar), 1);
        k("bar.sync", 0);
        const Reg map = k.reg(Mod::u64);
        k("cvta.param.u64", map, maps[0]);
        const Reg bar_at = k.def("mov.u32", bar), data_at = k.def("mov.u32", data),
                  zero = k.def("mov.u32", 0);
        for (int round = 0; round < rounds; ++round) {
          k.elect_one([&] {
            k("mbarrier.arrive.expect_tx.shared::cta.b64", sink(), mem(bar),
              bytes * static_cast<uint32_t>(l.count));
            for (int i = 0; i < l.count; ++i) {
              const Reg row = k.def("add.u32", row0, static_cast<uint32_t>(i) * l.box_rows);
              k("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
                mem(data_at, static_cast<int64_t>(i) * bytes), tensor(map, {zero, row}), mem(bar_at));
            }
          });
          k.do_while([&] {
            const Reg done = k.reg(Mod::pred), again = k.reg(Mod::pred);
            k("mbarrier.try_wait.parity.shared::cta.b64", done, mem(bar), round);
            k("not.pred", again, done);
            return again;
          });
        }
      },
      [&](uint64_t address) { return std::vector{map_of(address, rows, l.box_rows)}; });
  return {r.log.of("cp.async.bulk.tensor"), r.log.of("mbarrier.try_wait"), r.result.cycles};
}

// One thread issues tensor loads at the engine's spacing, for every size: 8 cycles if the operands are uniform (traces/hw,
// tma.sixteen.512B: sixteen loads and their latency in 453 cycles), also on sm_100a until another figure is published. The 50 to
// 57 of docs/facts/timing.md §8 are for a loop that computes its operands.
TEST(TensorLoad, IssuesAtTheEnginesSpacing) {
  for (const uint32_t rows : {4u, 32u}) {
    for (const auto& [arch, cycles] : {std::pair{"sm_100a", 8.0}, std::pair{"sm_90a", 8.0}}) {
      auto issue = load({.box_rows = rows, .count = 24, .arch = arch}).issue;
      issue.erase(issue.begin());  // it fetches the tensor map
      EXPECT_NEAR(spacing(issue), cycles, 0.05 * cycles) << rows << ' ' << arch;
    }
  }
}

// 182 to 197 ns from the L2 and 492 to 546 ns from device memory for 512 B to 4 KiB, the cost of the barrier
// (28 ns) taken off; measured at 1.84 to 1.97 GHz on a B200.
TEST(TensorLoad, HasThePublishedLatencies) {
  const double wake = 36;
  for (const uint32_t rows : {4u, 32u}) {
    double cold = 0, warm = 0;
    constexpr uint32_t kTiles = 16;  // device memory does not take the same time for each
    for (uint32_t tile = 0; tile < kTiles; ++tile) {
      const Outcome o = load({.box_rows = rows, .twice = true, .skip = tile * 32});
      cold += (static_cast<double>(o.done[0] - o.issue[0]) - wake) / kTiles;
      warm += (static_cast<double>(o.done[1] - o.issue[1]) - wake) / kTiles;
    }
    EXPECT_GE(warm, 0.95 * 182 * 1.9) << rows;
    EXPECT_LE(warm, 1.05 * 197 * 1.97) << rows;
    // The first load also fetches the tensor map.
    const double map = load_arch("sm_100a").tma.tensor_map_miss;
    EXPECT_GE(cold - map, 0.95 * 492 * 1.9) << rows;
    EXPECT_LE(cold - map, 1.05 * 546 * 1.97) << rows;
  }
}

// 125 B/clk into one SM (docs/facts/timing.md §8: 120 on a B200, 125 to 130 on a B300).
TEST(TensorLoad, FillsOneSmAtItsPort) {
  const Outcome few = load({.box_rows = 64, .count = 2, .twice = true}),
                many = load({.box_rows = 64, .count = 22, .twice = true});
  const double cycles =
      static_cast<double>(many.done[1] - many.issue[22]) - static_cast<double>(few.done[1] - few.issue[2]);
  EXPECT_NEAR(20 * 8192 / cycles, 125, 0.05 * 125);
}

// 7.26 TB/s with 64 KiB in flight per SM (docs/facts/timing.md §8); here the ramp costs a little.
TEST(TensorLoad, SharesDeviceMemoryAmongTheSms) {
  const Outcome small = load({.box_rows = 128, .count = 6, .ctas = 148}),
                large = load({.box_rows = 128, .count = 13, .ctas = 148});
  const double bytes = 7.0 * 16384 * 148, seconds = static_cast<double>(large.cycles - small.cycles) / 1.85e9;
  EXPECT_NEAR(bytes / seconds / 1e12, 7.26, 0.05 * 7.26);
}

}  // namespace
}  // namespace drywell::sim
