// drywell arch: the figures of an architecture, each with its source; several side by side.
#include <fmt/format.h>

#include "drywell/core/terminal.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/inspect/progress_line.h"
#include "drywell/sim/limit_words.h"
#include "kernels/registry.h"
#include "launch/plan.h"
#include "tools/arch_compare.h"
#include "tools/common/command.h"
#include "tools/common/command_guard.h"
#include "tools/common/limit_flags.h"
#include "tools/common/parameters.h"
#include "tools/common/run_flags.h"
#include "tools/common/terminal_width.h"
#include "tools/sensitivity.h"

namespace drywell::tools {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string subject;
  bool assumed = false, markdown = false, all = false;
  sim::RunLimits limits;
};

double seconds_of(const sim::RunResult& r) {
  sim::expect_within_limits(r);
  if (!r.ok()) throw InputError(Code::E4306, "--sensitivity: the launch faults: " + r.fault->to_string());
  return r.timing->seconds;
}

TimeOn time_of_kernel(const std::string& name, const std::vector<std::string>& words, const sim::RunOptions& timed) {
  const kernels::Kernel& k = kernels::find_kernel(name);
  kernels::RunContext context;
  context.params = kernels::Params(k.name, k.parameters, parse_parameters(k, words, "arch"));
  context.options = timed;
  return [&k, context](const std::string& arch) mutable {
    context.arch = arch;
    return seconds_of(k.run(context).run);
  };
}

TimeOn time_of_file(const std::string& file, const std::vector<std::string>& words, const sim::RunOptions& timed) {
  if (!words.empty()) throw UsageError(fmt::format("unexpected argument '{}'", words[0]), "arch");
  RunFlags flags;
  flags.subject = file;
  kernels::PlanOptions options;
  options.run = timed;
  return [plan = make_plan(flags), options](const std::string& arch) {
    kernels::SimulatedDevice device({.arch = arch, .max_memory = options.run.max_memory});
    double seconds = 0;
    for (const sim::RunResult& r : kernels::run_plan(plan, device, options).runs) seconds += seconds_of(r);
    return seconds;
  };
}

ExitCode print_sensitivity(const Options& o, const std::vector<std::string>& words) {
  if (o.names.size() != 1) throw UsageError("--sensitivity needs one architecture, and parameters as --name=value", "arch");
  sim::RunOptions timed;
  timed.driver = sim::DriverKind::timed;
  sim::set_limits_of_driver(o.limits, timed);
  const CommandGuard guard(timed);
  const TimeOn time = names_a_file(o.subject) ? time_of_file(o.subject, words, timed) : time_of_kernel(o.subject, words, timed);
  sim::ProgressLine line;
  const Sensitivity s = sensitivity(o.names.front(), time, [&line](size_t i, size_t n) { line.phase(fmt::format("figure {} of {}", i, n)); });
  line.end();
  print(to_text(s));
  return ExitCode::ok;
}

ExitCode side_by_side(const Options& o) {
  if (o.assumed || o.markdown) throw UsageError("--assumed and --markdown take one architecture", "arch");
  std::vector<sim::ArchConfig> machines;
  for (const std::string& name : o.names) machines.push_back(sim::load_arch(name));
  print(compare(machines, o.all));
  return ExitCode::ok;
}

ExitCode arch(const CommandContext& c, const Options& o, const std::vector<std::string>& words) {
  if (!words.empty() && o.subject.empty()) throw UsageError(fmt::format("unexpected argument '{}'", words[0]), "arch");
  if (o.all && o.names.size() < 2) throw UsageError("--all needs several architectures", "arch");
  if (!o.subject.empty()) return print_sensitivity(o, words);
  if (o.names.empty()) {
    if (o.assumed || o.markdown) throw UsageError("--assumed and --markdown need an architecture", "arch");
    for (const std::string_view name : sim::builtin_arch_names()) {
      const sim::ArchConfig a = sim::load_arch(std::string(name));
      print(fmt::format("{:<10} {}, {} SMs, {} GHz\n", paint(name, Colour::bold, c.colour_out), a.description,
                        a.chip.sms, a.chip.clock));
    }
    return ExitCode::ok;
  }
  if (o.names.size() > 1) return side_by_side(o);
  const sim::ArchConfig a = sim::load_arch(o.names.front());
  if (o.markdown && !o.assumed)
    throw UsageError("--markdown prints the assumed figures: give --assumed too", "arch");
  print(o.markdown ? sim::assumed_figures_markdown(a) : fitted(sim::describe(a, o.assumed), terminal_columns()));
  return ExitCode::ok;
}

}  // namespace

void register_arch(Command& app, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "arch");
  sub->add_option("NAME", o->names, "built-in name (sm_100a) or .toml file; without it: the built-in ones; several: side by side");
  sub->add_flag("--all", o->all, "several names: also show the figures that are equal");
  sub->add_flag("--assumed", o->assumed, "only figures that are not published");
  sub->add_flag("--markdown", o->markdown, "with --assumed: as the table of docs/deviations.md");
  sub->add_option("--sensitivity", o->subject, "a kernel of `drywell list` with its parameters, or a .toml launch file: how much its predicted time depends on each figure that is not measured on this chip");
  add_limit_flags(*sub, o->limits);
  sub->allow_extras();
  sub->callback([o, sub, &context] { context.action = [o, sub, &context] { return arch(context, *o, sub->remaining()); }; });
}

}  // namespace drywell::tools
