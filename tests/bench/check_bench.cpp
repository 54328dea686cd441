// The cost of hazard checking (docs/hazards.md): CPU time of launches without it, at the basic and at the full level, one after the
// other in every iteration, so that other load of the machine affects all three. Counters: milliseconds without it, and the factors.
// --benchmark_repetitions=7 --benchmark_report_aggregates_only=true prints their medians. One host thread.
#include <benchmark/benchmark.h>

#include <ctime>
#include <optional>

#include "drywell/sim/check.h"
#include "kernels/registry.h"
#include "sim/events/hub.h"
#include "sim/schedule/functional.h"
#include "sim/timing/timed.h"

namespace {

using namespace drywell;
using Given = std::vector<std::pair<std::string, std::string>>;

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// From the start of each launch to its end; as the last listener, to that of the listeners' work behind it.
class Watch : public sim::LaunchRunner, public sim::Listener {
 public:
  sim::RunResult run(const sim::Launch& l, const sim::RunOptions& o) override {
    const double start = cpu_seconds();
    sim::RunResult r = o.driver == sim::DriverKind::timed ? sim::run_timed(l, o) : sim::run_functional(l, o);
    end_ = cpu_seconds();
    total_ += end_ - start;
    return r;
  }
  bool concurrent() const override { return true; }
  bool wants_memory() const override { return false; }
  bool wants_instruction(const sim::Program&, const sim::DecodedOp&) const override { return false; }
  bool wants_waits() const override { return false; }
  void launch_finished() override { total_ += cpu_seconds() - end_; }
  double total() const { return total_; }

 private:
  double end_ = 0, total_ = 0;
};

double launch(const char* name, const Given& given, sim::DriverKind driver, std::optional<sim::CheckLevel> level, benchmark::State& state) {
  const kernels::Kernel& kernel = kernels::find_kernel(name);
  sim::CheckOptions options;
  options.level = level.value_or(sim::CheckLevel::basic);
  sim::HazardChecker checker(options);
  Watch watch;
  kernels::RunContext c;
  c.params = kernels::Params(kernel.name, kernel.parameters, given);
  c.options.threads = 1;
  c.options.driver = driver;
  c.options.runner = &watch;
  if (level.has_value()) c.options.listeners = {checker.listener(), &watch};
  const kernels::KernelReport r = kernel.run(c);
  if (!r.run.ok()) state.SkipWithError(r.run.fault->to_string().c_str());
  return watch.total();
}

void compare(benchmark::State& state, const char* name, const Given& given, sim::DriverKind driver) {
  launch(name, given, driver, std::nullopt, state);  // the first one pays for the process's memory
  double off = 0, basic = 0, full = 0;
  for (auto _ : state) {
    const double one = launch(name, given, driver, std::nullopt, state);
    off += one;
    basic += launch(name, given, driver, sim::CheckLevel::basic, state);
    full += launch(name, given, driver, sim::CheckLevel::full, state);
    state.SetIterationTime(one);
  }
  state.counters["off_ms"] = benchmark::Counter(off * 1e3, benchmark::Counter::kAvgIterations);
  state.counters["basic"] = basic / off;
  state.counters["full"] = full / off;
}

void add(const char* kernel, const char* label, const Given& given) {
  for (const sim::DriverKind driver : {sim::DriverKind::eager, sim::DriverKind::timed}) {
    const std::string name = std::string(kernel) + "/" + label + "/" + std::string(sim::driver_name(driver));
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& s) { compare(s, kernel, given, driver); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
}

const bool kRegistered = [] {
  const Given cube{{"m", "2048"}, {"n", "2048"}, {"k", "2048"}};
  const Given large{{"m", "4096"}, {"n", "4096"}, {"k", "4096"}};
  // Small ones, for counting instructions (docs/lab/performance.md, "The house in order").
  const Given small{{"m", "512"}, {"n", "512"}, {"k", "512"}};
  for (const char* name : {"gemm-blockscaled", "gemm-bf16", "gemm-fp8"}) add(name, "512", small);
  add("quantize-nvfp4", "512", {{"rows", "512"}, {"columns", "512"}});
  add("fused-rht", "512", {{"m", "512"}, {"n", "512"}});
  add("gemm-blockscaled", "2048", cube);
  add("gemm-blockscaled", "4096", large);
  add("gemm-bf16", "2048", cube);
  add("gemm-fp8", "2048", cube);
  add("quantize-nvfp4", "4096", {{"rows", "4096"}, {"columns", "4096"}});
  add("fused-rht", "4096", {{"m", "4096"}, {"n", "4096"}});
  return true;
}();

}  // namespace
