// drywell run: one kernel, once.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/inspect/progress_line.h"
#include "launch/golden.h"
#include "tools/common/command.h"
#include "tools/common/command_guard.h"
#include "tools/common/limit_flags.h"
#include "tools/common/output_file.h"
#include "tools/common/parameters.h"
#include "tools/common/report_parts.h"
#include "tools/common/run_flags.h"
#include "tools/common/terminal_width.h"
#include "tools/run_report.h"
#include "tools/run_watch.h"

namespace drywell::tools {
namespace {

/// The directory of --save for a kernel's outputs. Checked before the run, and created only if the run has outputs.
class SaveDirectory {
 public:
  explicit SaveDirectory(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    const bool made = make();
    expect_writable_folder(path_);
    if (made) ::rmdir(path_.c_str());
  }

  void save(const kernels::KernelReport& r) const {
    if (path_.empty() || r.outputs.empty()) return;
    make();
    for (const auto& [name, array] : r.outputs) write_npy(file(name + ".npy"), array);
  }

 private:
  /// Returns false if the directory exists already.
  bool make() const {
    if (::mkdir(path_.c_str(), 0777) == 0) return true;
    if (errno != EEXIST) throw InputError(Code::E4008, fmt::format("{}: cannot be made: {}", path_, std::strerror(errno)));
    return false;
  }
  std::string file(const std::string& name) const { return (std::filesystem::path(path_) / name).string(); }

  std::string path_;
};

/// Returns the words that repeat the run, for the trace's header.
std::string run_words(const RunFlags& o, const kernels::Kernel& k, const kernels::RunContext& c) {
  const std::string given = print_given(c.params);
  return fmt::format("{}{}{} --driver={} --arch={}", kernels::kernel_word(o.subject, k, o.trace), given.empty() ? "" : " ", given,
                     kernels::print_driver(c.options), c.arch);
}

ExitCode exit_code(const kernels::KernelReport& r) {
  if (!r.run.ok()) return fault_exit(r.run);
  return r.verify.done && !r.verify.passed() ? ExitCode::verification_failed : ExitCode::ok;
}

/// Returns the difference between a run under another schedule and the first run; empty if there is none.
std::string difference(const kernels::KernelReport& first, const kernels::KernelReport& r) {
  if (!r.run.ok()) return r.run.fault->to_string();
  if (r.verify.done && !r.verify.passed()) return fmt::format("{} of {} values are wrong; first {}", r.verify.mismatches, r.verify.compared, r.verify.first_mismatch);
  for (size_t i = 0; i < r.outputs.size(); ++i) {
    if (r.outputs[i].second.data != first.outputs.at(i).second.data) return fmt::format("'{}' differs from the first run's", r.outputs[i].first);
  }
  return {};
}

/// Repeats a run that ended in a deadlock, with the hazard checker.
kernels::KernelReport explained(const kernels::Kernel& k, kernels::RunContext context) {
  sim::HazardChecker watcher;
  context.options.listeners = {watcher.listener()};
  context.phase = {};
  return k.run(context);
}

/// What the page shows: the kernel's launch, or each of those that its host code makes.
std::vector<HtmlLaunch> launches_of(const ReportRecorder& recorder, const kernels::Kernel& k, const kernels::KernelReport& r) {
  std::vector<HtmlLaunch> out;
  for (size_t i = 0; i < r.launches.size() && i < recorder.size(); ++i)
    if (r.launches[i].timing != nullptr) out.push_back(recorder.launch(i, r.launches[i].name, describe_launch(r.launches[i].config), *r.launches[i].timing));
  if (r.launches.empty() && r.run.timing != nullptr && recorder.size() != 0)
    out.push_back(recorder.launch(recorder.size() - 1, std::string(k.name), describe_launch(r.launch), *r.run.timing));
  return out;
}

/// The page of --report; none after a fault.
void write_page(RunOutputs& outputs, const ReportRecorder& recorder, const kernels::Kernel& k, kernels::KernelReport& r, const CheckedRun& check, const sim::ArchConfig& arch) {
  std::vector<HtmlLaunch> launches = launches_of(recorder, k, r);
  if (!r.run.ok() || launches.empty()) return;
  const std::string values = !r.verify.done ? "" : r.verify.passed() ? "verified bit for bit"
                                                                     : "WRONG values";
  outputs.report(html_report({fmt::format("{}  {}", k.name, r.shape), values, arch, std::move(launches), check.findings(), check.has_checker()}));
}

void expect_flags_of_kernels(const RunFlags& o) {
  if (o.plan.any())
    throw UsageError("--entry, --grid, --block, --cluster, --smem, --buffer, --map, --arg and --expect are for PTX files", "run");
  if (o.save.size() > 1) throw UsageError("--save takes one directory for a kernel's outputs", "run");
}

kernels::RunContext context_of(const kernels::Kernel& k, const RunFlags& o, const std::vector<std::string>& words) {
  kernels::RunContext context;
  context.params = kernels::Params(k.name, k.parameters, parse_parameters(k, words, "run"));
  context.arch = o.arch;
  context.options = run_options(o);
  context.input = o.input;
  context.verify = o.verify;
  context.keep_outputs = !o.save.empty() || o.explore != 0;
  return context;
}

kernels::KernelReport run_with_progress(const kernels::Kernel& k, kernels::RunContext& context) {
  sim::ProgressLine line(*context.options.progress);
  context.phase = [&](std::string_view what) { line.phase(what); };
  return k.run(context);
}

/// Runs the kernel under other schedules, and compares with `first`.
Exploration explored(uint64_t schedules, const kernels::Kernel& k, const kernels::RunContext& context, const kernels::KernelReport& first) {
  return explore(schedules, context.options, [&](const sim::RunOptions& options) {
    kernels::RunContext again = context;
    again.options = options;
    again.phase = {};
    const kernels::KernelReport r = k.run(again);
    sim::expect_within_limits(r.run);
    return difference(first, r);
  });
}

ExitCode run_kernel(const CommandContext& c, const RunFlags& o, const std::vector<std::string>& words) {
  const kernels::Kernel& k = kernels::find_kernel(o.subject);
  expect_flags_of_kernels(o);
  kernels::RunContext context = context_of(k, o, words);
  const CommandGuard guard(context.options);
  const sim::ArchConfig arch = sim::load_arch(o.arch);

  SaveDirectory directory(o.save.empty() ? "" : o.save[0]);
  RunOutputs outputs(o);
  CheckedRun check(o.check, context.options);
  // The trace's header alone cannot repeat a run on a user's file.
  RunWatch watch(o, outputs, o.trace.empty() || !context.input.empty() ? "" : run_words(o, k, context), context.options);
  kernels::KernelReport report = run_with_progress(k, context);
  if (is_unwatched_deadlock(report.run, context.options)) report = explained(k, context);
  watch.finish_trace(report.run);
  watch.commit_trace();
  if (watch.report() != nullptr) write_page(outputs, *watch.report(), k, report, check, arch);
  std::optional<Exploration> exploration;
  if (o.explore != 0 && report.run.ok()) exploration = explored(o.explore, k, context, report);
  const RunDescription description{k, context.params, arch, context.options, report, check, exploration};
  directory.save(report);
  check.write_sarif();
  check.draw_hang();
  const std::string json = o.json.empty() ? "" : json_report(description);
  outputs.json(json);
  print(o.json == "-" ? json : fitted(summary(description, c.colour_out), terminal_columns()));
  return exit_code_of(exit_code(report), exploration, check);
}

ExitCode run(const CommandContext& c, const RunFlags& f, const std::vector<std::string>& words) {
  if (f.subject.empty()) throw UsageError("which kernel? (drywell list), or a .ptx or .toml file", "run");
  return names_a_file(f.subject) ? run_file(c, f, words) : run_kernel(c, f, words);
}

ExitCode help(Command& sub, const RunFlags& o) {
  if (!o.subject.empty() && !names_a_file(o.subject)) {
    const kernels::Kernel& k = kernels::find_kernel(o.subject);
    sub.notes(fmt::format("{}: {}\n{}", k.name, k.doc, describe_parameters(k)));
    sub.examples(kernel_examples(k, o.subject));
  }
  print(fitted(sub.help(), terminal_columns()));
  return ExitCode::ok;
}

}  // namespace

void register_run(Command& app, CommandContext& context) {
  auto o = std::make_shared<RunFlags>();
  Command* sub = add_command(app, "run");
  sub->set_help_flag();
  sub->notes("Kernel parameters are given as --name=value; drywell run KERNEL --help lists them.");
  sub->add_flag("-h,--help", o->help, "print this help, with the parameters of KERNEL if one is given");
  sub->add_option("KERNEL|FILE", o->subject, kSubjectHelp);
  add_machine_flag(*sub, *o);
  sub->add_option("--driver", o->driver,
                  "when asynchronous work completes: eager, lazy, shuffled:SEED, parted:SEED or timed")
      ->capture_default_str()
      ->suggest(driver_names());
  sub->add_flag("--verify", o->verify,
                "compare every value with the host reference; exit code 1 if one differs");
  sub->add_option("--json", o->json, "write the report as JSON (- for standard output)");
  sub->add_option("--trace", o->trace, "write a trace (zstd if the name ends in .zst)");
  sub->add_option("--trace-profile", o->trace_profile, "arch (no cycles) or cycle (timed driver)")
      ->one_of({"arch", "cycle"});
  sub->add_option("--report", o->report, "timed driver: write the report as one HTML page, with timelines of CTAs");
  sub->add_option("--report-cta", o->report_ctas, "CTA whose timeline the report shows, x,y,z; may be given several times; default 0,0,0")->allow_extra_args(false);
  sub->add_flag("--trace-values", o->trace_values, "also the values that instructions wrote to registers");
  sub->add_option("--input", o->input, "input array (.npy) instead of a generated one");
  sub->add_option("--save", o->save, "kernel: directory for the outputs, as .npy; PTX file: NAME=FILE.npy")->allow_extra_args(false);
  sub->add_option("--threads", o->threads, "host threads; 0 = all cores. Results do not depend on it, unless CTAs race")
      ->capture_default_str();
  add_limit_flags(*sub, o->limits);
  sub->add_option("--caches", o->caches, "timed driver: what the L2 holds at each launch: nothing (cold), the allocations (warm), or what the launch before left (carry)")
      ->capture_default_str();
  sub->add_option("--clock", o->clock, "timed driver, for seconds: nominal, sustained (repeated for seconds with random data), or GHz")
      ->capture_default_str();
  sub->add_flag("--contract", o->contract, "PTX file: a product and a sum without rounding modifiers are one fma where ptxas makes one");
  sub->add_flag("--no-values", o->no_values, "timed driver: same cycles, tensor results not computed");
  sub->add_flag("--check{full}", o->check.level, "look for hazards (docs/hazards.md): off, basic or, plain --check, full; exit code 1 if there is an error")
      ->capture_default_str();
  sub->add_flag("--strict", o->check.strict, "warnings count as errors");
  sub->add_flag("--all-hazards", o->check.all, "print every hazard; without it, a screen at most");
  sub->add_option("--sarif", o->check.sarif, "write the hazards as SARIF 2.1.0");
  sub->add_option("--hang-picture", o->check.hang_picture, "if the run ends in a deadlock, draw its graph of waits as SVG (or DOT if the name ends in .dot)");
  sub->add_option("--explore", o->explore, "run N more random schedules, copies in flight poisoned, and compare; prints the first seed that differs, which `drywell step --seed` replays");
  add_plan_flags(*sub, o->plan);
  sub->allow_extras();
  sub->callback([o, sub, &context] {
    context.action = [o, sub, &context] {
      return o->help ? help(*sub, *o) : run(context, *o, sub->remaining());
    };
  });
}

}  // namespace drywell::tools
