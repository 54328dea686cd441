// drywell step: a debugger that goes forward and back.
#include <fmt/format.h>

#include <optional>

#include "drywell/core/terminal.h"
#include "drywell/sim/debug.h"
#include "tools/common/command.h"
#include "tools/common/limit_flags.h"
#include "tools/common/run_flags.h"
#include "tools/step/launch_picker.h"
#include "tools/step/step_flags.h"

namespace drywell::tools {
namespace {

ExitCode run(const CommandContext& c, const StepFlags& f, const std::vector<std::string>& words) {
  if (f.run.subject.empty()) throw UsageError("which kernel? (drywell list), or a .ptx or .toml file", "step");
  if (f.launch == 0) throw UsageError("--launch counts from 1", "step");
  LaunchPicker picker(f.launch, [&](const sim::Launch& l, const sim::RunOptions& o) {
    std::optional<sim::RunResult> r = sim::step_launch({f.script, c.colour_out, false}, l, o);
    if (!r.has_value()) throw Abandoned();
    return *std::move(r);
  });
  try {
    const HostOutcome out = run_host(f.run, words, picker, f.launch, "step");
    if (!out.run.ok()) return fault_exit(out.run);
    if (!out.verification.empty()) print(out.verification + "\n");
    return out.passed ? ExitCode::ok : ExitCode::verification_failed;
  } catch (const Abandoned&) {
    return ExitCode::ok;
  }
}

}  // namespace

void add_step_flags(Command& sub, StepFlags& f) {
  sub.add_option("KERNEL|FILE", f.run.subject, kSubjectHelp);
  sub.add_option("--launch", f.launch, "number of the launch to step; earlier launches run to their end")->capture_default_str();
  add_machine_flag(sub, f.run);
  sub.add_option("--driver", f.run.driver, "when asynchronous work completes: eager, lazy, shuffled:SEED, parted:SEED or timed")->capture_default_str()->suggest(driver_names());
  sub.add_option("--seed", f.run.seed, "the schedule that a run with --explore named: shuffled:SEED (parted:SEED if even), destinations of copies in flight poisoned");
  sub.add_flag("--verify", f.run.verify, "compare with the host reference if the launch was stepped to its end");
  sub.add_option("--input", f.run.input, "input array (.npy) instead of a generated one");
  add_limit_flags(sub, f.run.limits);
  add_plan_flags(sub, f.run.plan);
}

void register_step(Command& app, CommandContext& context) {
  auto f = std::make_shared<StepFlags>();
  Command* sub = add_command(app, "step");
  add_step_flags(*sub, *f);
  sub->add_option("--script", f->script, "read commands from this file instead of the terminal; each is printed with its output");
  sub->allow_extras();
  sub->callback([f, sub, &context] { context.action = [f, sub, &context] { return run(context, *f, sub->remaining()); }; });
}

}  // namespace drywell::tools
