#include "launch/launch_times.h"

#include <fmt/format.h>

#include <sstream>

#include "drywell/core/whole_number.h"
#include "drywell/sim/limit_words.h"
#include "drywell/sim/report.h"
#include "launch/forwarding_accelerator.h"
#include "launch/words.h"

namespace drywell::kernels {
namespace {

constexpr std::string_view kHead = "file,launch,warm_ns,cold_ns,GHz";

// A GPU's figures are of launches that follow others (launch/cuda_driver/launch_clock.h), whose results they find: a step of a search has
// nothing left to do. So the kernel runs once before.
class LaunchedTwice : public ForwardingAccelerator {
 public:
  LaunchedTwice(Accelerator& device, std::vector<LaunchTimes>& out)
      : ForwardingAccelerator(device), out_(out) {}
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args,
                        const sim::RunOptions& given) override {
    sim::RunOptions options = given;
    options.driver = sim::DriverKind::eager;
    if (sim::RunResult before = target().launch(kernel, config, args, options); !before.ok()) return before;
    options.driver = sim::DriverKind::timed;
    options.caches = sim::Caches::cold;
    const sim::RunResult cold = target().launch(kernel, config, args, options);
    if (!cold.ok()) return cold;
    options.caches = sim::Caches::carry;
    sim::RunResult warm = target().launch(kernel, config, args, options);
    if (warm.ok()) out_.push_back({period(warm), period(cold) + arch().launch.cold_start * 1e3, warm.timing->clock_ghz});
    return warm;
  }

 private:
  double period(const sim::RunResult& r) const {
    return r.timing->seconds * 1e9 + arch().launch.graph_node * 1e3;
  }
  std::vector<LaunchTimes>& out_;
};

/// file,launch,warm,cold,GHz
std::optional<LaunchTimes> times_of(const std::vector<std::string_view>& words) {
  constexpr double kMost = 1e18;  // thirty years, in nanoseconds
  const auto number = [&](size_t i) { return whole_number<double>(words[i]).value_or(-1); };
  const LaunchTimes t{number(2), number(3), number(4)};
  const bool sensible = t.warm > 0 && t.cold > 0 && t.gigahertz >= 0 && t.warm < kMost && t.cold < kMost && t.gigahertz < kMost;
  return sensible ? std::optional(t) : std::nullopt;
}

}  // namespace

std::string print_launch_record(const LaunchRecord& r) {
  std::string out = std::string(kHead) + "\n";
  for (const auto& [name, t] : r)
    out += fmt::format("{},{},{:.1f},{:.1f},{:.4f}\n", name.first, name.second, t.warm, t.cold, t.gigahertz);
  return out;
}

LaunchRecord parse_launch_record(std::string_view text, const std::string& path) {
  std::istringstream in{std::string(text)};
  std::string line;
  LaunchRecord out;
  for (size_t number = 1; std::getline(in, line); ++number) {
    if (number == 1 && line == kHead) continue;
    const auto words = split(line, ',');
    const std::optional<LaunchTimes> t = words.size() == 5 ? times_of(words) : std::nullopt;
    if (number == 1 || !t.has_value())
      throw InputError(Code::E4506, fmt::format("{}:{}: not a line of '{}'", path, number, kHead),
                       "times are positive numbers, the clock is 0 where it was not seen");
    out[{std::string(words[0]), std::string(words[1])}] = *t;
  }
  return out;
}

std::vector<LaunchTimes> predict_launches(const LaunchPlan& plan, const std::string& arch,
                                          const sim::RunOptions& options) {
  SimulatedDevice simulator({.arch = arch, .max_memory = options.max_memory});
  std::vector<LaunchTimes> times;
  LaunchedTwice twice(simulator, times);
  const PlanResult r = run_plan(plan, twice, {.run = options, .launched = {}});
  if (!r.runs.empty()) sim::expect_within_limits(r.runs.back());
  if (!r.runs.empty() && !r.runs.back().ok())
    throw InputError(Code::E4505, fmt::format("{}: {}", plan.ptx_path, r.runs.back().fault->to_string()));
  return times;
}

}  // namespace drywell::kernels
