// fused-rht next to the same function written for this machine's vectors, on the same cores in the same process.
#include <benchmark/benchmark.h>

#include "drywell/launch/generate.h"
#include "kernels/fused_rht/fused_rht.h"
#include "kernels/reference/rht_nvfp4.h"
#include "kernels/registry.h"
#include "tests/bench/native_rht.h"

namespace {

using namespace drywell;
using namespace drywell::kernels;

struct Problem {
  uint64_t m, n;
  std::vector<uint16_t> input;
  reference::RhtNvfp4Options options;
  float amax;

  Problem(uint64_t rows, uint64_t columns) : m(rows), n(columns) {
    input = generate_bf16(m, n, {.distribution = Distribution::heavy_tailed});
    options.m = m;
    options.n = n;
    amax = reference::rht_amax(input, options);
    options.amax = amax;
  }
};

void elements(benchmark::State& state, const Problem& p) {
  state.counters["elements"] = benchmark::Counter(static_cast<double>(p.m * p.n * state.iterations()), benchmark::Counter::kIsRate);
}

void native(benchmark::State& state) {
  const Problem p(static_cast<uint64_t>(state.range(0)), static_cast<uint64_t>(state.range(1)));
  const auto threads = static_cast<unsigned>(state.range(2));
  bench::NativeRht out;
  bench::native_rht(p.input, p.m, p.n, p.amax, threads, out);
  const reference::RhtNvfp4Result want = reference::rht_nvfp4(p.input, p.options);
  if (out.codes != want.codes || out.scales != want.scales) {
    state.SkipWithError("differs from the reference");
    return;
  }
  for (auto _ : state) {
    bench::native_rht(p.input, p.m, p.n, p.amax, threads, out);
    benchmark::DoNotOptimize(out.codes.data());
  }
  elements(state, p);
}
BENCHMARK(native)
    ->ArgNames({"m", "n", "threads"})
    ->Args({8192, 5120, 1})
    ->Args({8192, 5120, 2})
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// The launch alone: no input generation, no verification.
void simulated(benchmark::State& state) {
  const Problem p(static_cast<uint64_t>(state.range(0)), static_cast<uint64_t>(state.range(1)));
  FusedRhtOptions o;
  o.m = p.m;
  o.n = p.n;
  sim::RunOptions run;
  run.threads = static_cast<unsigned>(state.range(2));
  run.driver = static_cast<sim::DriverKind>(state.range(3));
  uint64_t instructions = 0;
  for (auto _ : state) {
    RunContext c;
    const std::unique_ptr<Accelerator> device = c.open();
    const FusedRhtResult r = run_fused_rht(*device, p.input, p.amax, o, run);
    if (!r.run.ok()) state.SkipWithError(r.run.fault->to_string().c_str());
    instructions += r.run.warp_instructions;
    state.SetIterationTime(r.run.host_seconds);
  }
  elements(state, p);
  state.counters["warp_instr"] = benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}
constexpr int kEager = static_cast<int>(sim::DriverKind::eager), kTimed = static_cast<int>(sim::DriverKind::timed);
BENCHMARK(simulated)
    ->ArgNames({"m", "n", "threads", "driver"})
    ->Args({2048, 1280, 1, kEager})
    ->Args({4096, 2560, 1, kEager})
    ->Args({8192, 5120, 1, kEager})
    ->Args({8192, 5120, 2, kEager})
    ->Args({8192, 5120, 1, kTimed})
    ->Args({8192, 5120, 2, kTimed})
    ->MeasureProcessCPUTime()
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
