// The cost of listeners: a run without a listener, with a listener that ignores all events, and with the hazard checker. One host
// thread each: any listener makes a run single-threaded.
#include <benchmark/benchmark.h>

#include "drywell/sim/check.h"
#include "kernels/registry.h"
#include "sim/events/hub.h"

namespace {

using namespace drywell;

enum Attached {
  kNothing,
  kDeaf,
  kChecker
};

void run_watched(benchmark::State& state, const char* name, const std::vector<std::pair<std::string, std::string>>& params, Attached what) {
  const kernels::Kernel& kernel = kernels::find_kernel(name);
  uint64_t instructions = 0;
  double seconds = 0;
  for (auto _ : state) {
    sim::Listener deaf;
    sim::HazardChecker checker;
    kernels::RunContext c;
    c.params = kernels::Params(kernel.name, kernel.parameters, params);
    c.options.threads = 1;
    if (what == kDeaf) c.options.listeners.push_back(&deaf);
    if (what == kChecker) c.options.listeners.push_back(checker.listener());
    const kernels::KernelReport r = kernel.run(c);
    if (!r.run.ok()) state.SkipWithError(r.run.fault->to_string().c_str());
    instructions += r.run.warp_instructions;
    seconds += r.run.host_seconds;  // the launch alone
    state.SetIterationTime(r.run.host_seconds);
  }
  state.counters["warp_instr_per_s"] = static_cast<double>(instructions) / seconds;
}

void add(const char* name, const std::vector<std::pair<std::string, std::string>>& params) {
  for (const auto& [label, what] : {std::pair("nothing", kNothing), std::pair("deaf_listener", kDeaf), std::pair("checker", kChecker)}) {
    benchmark::RegisterBenchmark((std::string(name) + "/" + label).c_str(), [=, w = what](benchmark::State& s) { run_watched(s, name, params, w); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

const bool kRegistered = [] {
  add("fused-rht", {{"m", "1024"}, {"n", "1024"}});
  add("quantize-nvfp4", {});
  return true;
}();

}  // namespace
