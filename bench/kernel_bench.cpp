// Warp instructions per second and host seconds of whole kernels, functional and timed.
#include <benchmark/benchmark.h>

#include "kernels/registry.h"

namespace {

using namespace drywell;
using namespace drywell::kernels;

void run(benchmark::State& state, const char* name,
         const std::vector<std::pair<std::string, std::string>>& given, sim::DriverKind driver) {
  const Kernel& k = find_kernel(name);
  RunContext c;
  c.params = Params(k.name, k.parameters, given);
  c.options.driver = driver;
  uint64_t instructions = 0;
  for (auto _ : state) {
    const KernelReport r = k.run(c);
    if (!r.run.ok()) state.SkipWithError(r.run.fault->to_string().c_str());
    instructions += r.run.warp_instructions;
    state.SetIterationTime(r.run.host_seconds);  // the launch alone: no input generation, no reference
  }
  state.counters["warp_instr"] =
      benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
}

void BM_FusedRht(benchmark::State& state) {
  run(state, "fused-rht", {{"m", std::to_string(state.range(0))}, {"n", std::to_string(state.range(1))}},
      static_cast<sim::DriverKind>(state.range(2)));
}
BENCHMARK(BM_FusedRht)
    ->ArgNames({"m", "n", "driver"})
    ->Args({1024, 1024, static_cast<int>(sim::DriverKind::eager)})
    ->Args({1024, 1024, static_cast<int>(sim::DriverKind::timed)})
    ->Args({8192, 5120, static_cast<int>(sim::DriverKind::eager)})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

void BM_TmaCopy(benchmark::State& state) {
  run(state, "tma-copy", {{"rows", "2048"}, {"columns", "2048"}},
      static_cast<sim::DriverKind>(state.range(0)));
}
BENCHMARK(BM_TmaCopy)
    ->ArgName("driver")
    ->Arg(static_cast<int>(sim::DriverKind::eager))
    ->Arg(static_cast<int>(sim::DriverKind::timed))
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
