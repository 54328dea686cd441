#include "tools/observed_run.h"

#include <fmt/format.h>

#include "drywell/sim/limit_words.h"
#include "launch/golden.h"
#include "tools/common/command_guard.h"
#include "tools/common/limit_flags.h"
#include "tools/common/parameters.h"

namespace drywell::tools {

namespace {

sim::RunResult run_subject(const RunFlags& f, const std::vector<std::string>& words, std::string_view command, const sim::RunOptions& options) {
  if (!names_a_file(f.subject)) {
    const kernels::Kernel& k = kernels::find_kernel(f.subject);
    kernels::RunContext context;
    context.params = kernels::Params(k.name, k.parameters, parse_parameters(k, words, command));
    context.arch = f.arch;
    context.options = options;
    return k.run(context).run;
  }
  expect_no_parameters(words, command);
  kernels::SimulatedDevice device({.arch = machine_of(f), .max_memory = options.max_memory, .contract = f.contract});
  const kernels::PlanResult r = kernels::run_plan(make_plan(f), device, {options, {}});
  for (const sim::RunResult& run : r.runs)
    if (!run.ok()) return run;
  return r.runs.empty() ? sim::RunResult{} : r.runs.back();
}

}  // namespace

sim::RunResult run_observed(const RunFlags& f, const std::vector<std::string>& words, sim::Listener* listener, std::string_view command) {
  sim::RunOptions options = run_options(f);
  options.listeners.push_back(listener);
  const CommandGuard guard(options);
  sim::RunResult r = run_subject(f, words, command, options);
  sim::expect_within_limits(r);
  return r;
}

std::string run_title(const RunFlags& f, const std::vector<std::string>& words) {
  std::string out = f.subject;
  for (const std::string& w : words) out += " " + w;
  return out;
}

void add_observed_run(Command& sub, RunFlags& f) {
  sub.add_option("KERNEL|FILE", f.subject, kSubjectHelp)->required();
  add_machine_flag(sub, f);
  sub.add_option("--driver", f.driver, "eager, lazy, shuffled:SEED or timed")->capture_default_str()->suggest(driver_names());
  add_limit_flags(sub, f.limits);
  add_plan_flags(sub, f.plan);
  sub.allow_extras();
}

}  // namespace drywell::tools
