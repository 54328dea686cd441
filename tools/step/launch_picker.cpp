#include "tools/step/launch_picker.h"

#include <fmt/format.h>

#include "drywell/sim/check.h"
#include "drywell/sim/driver_words.h"
#include "kernels/registry.h"
#include "tools/common/command_guard.h"
#include "tools/common/parameters.h"

namespace drywell::tools {
namespace {

HostOutcome run_kernel(const RunFlags& f, const std::vector<std::string>& words, sim::RunOptions options, std::string_view command) {
  const kernels::Kernel& k = kernels::find_kernel(f.subject);
  if (f.plan.any()) throw UsageError("--entry, --grid, --buffer and the like are for PTX files", command);
  kernels::RunContext c;
  c.params = kernels::Params(k.name, k.parameters, parse_parameters(k, words, command));
  c.arch = f.arch;
  c.options = std::move(options);
  c.input = f.input;
  c.verify = f.verify;
  const kernels::KernelReport r = k.run(c);
  HostOutcome out{r.run, {}, true};
  if (r.run.ok() && r.verify.done) {
    out.passed = r.verify.passed();
    out.verification = out.passed ? fmt::format("verified: {} values", r.verify.compared) : fmt::format("WRONG: {} of {} values differ; first {}", r.verify.mismatches, r.verify.compared, r.verify.first_mismatch);
  }
  return out;
}

HostOutcome run_plan_file(const RunFlags& f, const std::vector<std::string>& words, sim::RunOptions options, std::string_view command) {
  expect_no_parameters(words, command);
  kernels::PlanOptions o;
  o.run = std::move(options);
  kernels::SimulatedDevice device({.arch = machine_of(f), .max_memory = o.run.max_memory});
  const kernels::PlanResult r = kernels::run_plan(make_plan(f), device, o);
  HostOutcome out;
  if (!r.runs.empty()) out.run = r.runs.back();
  for (const kernels::BufferComparison& c : r.comparisons) {
    out.passed = out.passed && c.mismatches == 0;
    if (!out.verification.empty()) out.verification += "; ";
    out.verification += c.mismatches == 0 ? fmt::format("verified: {}, {} values", c.buffer, c.compared) : fmt::format("WRONG: {}, {} of {} values differ; first {}", c.buffer, c.mismatches, c.compared, c.first);
  }
  return out;
}

}  // namespace

sim::RunResult LaunchPicker::run(const sim::Launch& launch, const sim::RunOptions& options) {
  if (++seen_ != which_) return sim::run_by_driver(launch, options);
  in_body(true);
  sim::RunResult r = body_(launch, options);
  in_body(false);
  return r;
}

HostOutcome run_host(const RunFlags& f, const std::vector<std::string>& words, LaunchPicker& picker, uint32_t which, std::string_view command) {
  sim::RunOptions options = run_options(f);
  sim::InFlightPoison poison;
  if (f.seed.has_value()) {
    sim::set_schedule(*f.seed, options);
    options.listeners.push_back(poison.listener());
  }
  options.runner = &picker;
  CommandGuard guard(options);
  picker.in_body = [&guard](bool on) { guard.rest(on); };
  HostOutcome out = names_a_file(f.subject) ? run_plan_file(f, words, std::move(options), command) : run_kernel(f, words, std::move(options), command);
  if (picker.seen() < which) throw InputError(Code::E4327, fmt::format("--launch {}: the run ended after {} {}", which, picker.seen(), picker.seen() == 1 ? "launch" : "launches"));
  return out;
}

}  // namespace drywell::tools
