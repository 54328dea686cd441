// Warp instructions per CPU second of every launch of the timing corpus (tests/corpus/timing: nvcc's and Triton's kernels),
// functional and timed. `compare.py rates RESULT.json` gives the median and the slowest. `--threads=N` launches with N host threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "launch/forwarding_accelerator.h"
#include "launch/plan.h"

namespace {

using namespace drywell;

constexpr const char* kCorpus = DRYWELL_SOURCE_DIR "/tests/corpus/timing";

/// A device whose launches are the benchmark's iterations: buffers are made once.
class Repeated : public kernels::ForwardingAccelerator {
 public:
  Repeated(kernels::Accelerator& to, benchmark::State& state) : ForwardingAccelerator(to), state_(state) {}
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) override {
    sim::RunResult r;
    uint64_t instructions = 0;
    for (auto _ : state_) {
      r = target().launch(kernel, config, args, options);
      instructions += r.warp_instructions;
    }
    state_.counters["warp_instr"] = benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
    return r;
  }

 private:
  benchmark::State& state_;
};

void run(benchmark::State& state, const kernels::LaunchPlan& plan, sim::DriverKind driver) {
  kernels::SimulatedDevice device({.arch = "sm_90a"});
  Repeated repeated(device, state);
  sim::RunOptions options;
  options.driver = driver;
  options.threads = static_cast<unsigned>(state.range(0));
  const kernels::PlanResult r = kernels::run_plan(plan, repeated, {.run = options, .launched = {}});
  if (!r.ok()) state.SkipWithError("the launch faulted");
}

/// The launch alone, with the buffers of its file.
kernels::LaunchPlan only(const kernels::LaunchPlan& all, const kernels::LaunchSpec& launch) {
  kernels::LaunchPlan one = all;
  one.launches = {launch};
  return one;
}

void add(const std::string& name, const kernels::LaunchPlan& plan, sim::DriverKind driver, int threads) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& s) { run(s, plan, driver); })
      ->ArgName("threads")
      ->Arg(threads)
      ->MeasureProcessCPUTime()
      ->Unit(benchmark::kMillisecond);
}

void add_file(const std::filesystem::path& file, int threads) {
  const kernels::LaunchPlan plan = kernels::read_launch_file(file);
  for (const kernels::LaunchSpec& launch : plan.launches) {
    const std::string name = "corpus/" + file.stem().string() + "/" + (launch.name.empty() ? launch.entry : launch.name);
    add(name + "/eager", only(plan, launch), sim::DriverKind::eager, threads);
    add(name + "/timed", only(plan, launch), sim::DriverKind::timed, threads);
  }
}

constexpr std::string_view kThreads = "--threads=";

/// The value of the option, which is taken out of the arguments; 1 without it.
int threads_of(int& argc, char** argv) {
  int threads = 1;
  const auto given = std::remove_if(argv, argv + argc, [&](const char* word) {
    const bool ours = std::string_view(word).starts_with(kThreads);
    if (ours) threads = std::max(1, std::atoi(word + kThreads.size()));
    return ours;
  });
  argc = static_cast<int>(given - argv);
  return threads;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const int threads = threads_of(argc, argv);
  for (const auto& file : files) add_file(file, threads);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
