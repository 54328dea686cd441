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

void BM_Gemm(benchmark::State& state, const char* kernel, std::pair<std::string, std::string> option) {
  const std::string side = std::to_string(state.range(0));
  run(state, kernel, {{"m", side}, {"n", side}, {"k", side}, std::move(option)},
      static_cast<sim::DriverKind>(state.range(1)));
}
void gemm_sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"side", "driver"})->UseManualTime()->Unit(benchmark::kMillisecond);
  for (const auto driver : {sim::DriverKind::eager, sim::DriverKind::timed})
    b->Args({1024, static_cast<int>(driver)});
}
BENCHMARK_CAPTURE(BM_Gemm, nvf4, "gemm-blockscaled", {"format", "nvf4"})->Apply(gemm_sizes);
BENCHMARK_CAPTURE(BM_Gemm, mxf8, "gemm-blockscaled", {"format", "mxf8-e4m3"})->Apply(gemm_sizes);
BENCHMARK_CAPTURE(BM_Gemm, bf16, "gemm-bf16", {"type", "bf16"})->Apply(gemm_sizes);

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
