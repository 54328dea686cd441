// drywell run: one kernel, once.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "drywell/core/files.h"
#include "drywell/sim/trace.h"
#include "kernels/golden.h"
#include "tools/command.h"
#include "tools/parameters.h"
#include "tools/run_report.h"
#include "tools/terminal.h"

namespace drywell::tools {
namespace {

struct Options {
  std::string kernel, arch = "sm_100a", driver = "eager", json, trace, trace_profile, input, save;
  bool verify = false, trace_values = false, no_values = false, help = false;
  unsigned threads = 0;
  uint64_t max_instructions = 0;
};

/// Every place a run writes to, opened before it starts: what cannot be written is known at once, and what is
/// there already stays until the run is over.
class Outputs {
 public:
  explicit Outputs(const Options& o) : save_(o.save) {
    if (!o.json.empty() && o.json != "-") json_.emplace(o.json);
    if (!o.trace.empty()) trace_.emplace(o.trace);
    if (!save_.empty()) probe_directory();
  }
  ~Outputs() {
    if (made_directory_) ::rmdir(save_.c_str());  // only an empty one goes
  }
  std::optional<sim::TraceFile>& trace() { return trace_; }

  void save(const kernels::KernelReport& r) {
    for (const auto& [name, array] : r.outputs)
      write_npy((std::filesystem::path(save_) / (name + ".npy")).string(), array);
    if (!r.outputs.empty()) made_directory_ = false;
  }
  void json(const std::string& text) {
    if (!json_.has_value()) return;
    json_->write(text);
    json_->commit();
  }

 private:
  void probe_directory() {
    struct stat st {};
    if (::stat(save_.c_str(), &st) != 0) {
      if (::mkdir(save_.c_str(), 0777) != 0)
        throw InputError("E4008", fmt::format("{}: cannot be made: {}", save_, std::strerror(errno)));
      made_directory_ = true;
    }
    const PendingFile probe((std::filesystem::path(save_) / "drywell-probe").string());
  }

  std::string save_;
  std::optional<PendingFile> json_;
  std::optional<sim::TraceFile> trace_;
  bool made_directory_ = false;
};

/// What makes the run again, for the trace's header.
std::string run_words(const kernels::Kernel& k, const kernels::RunContext& c) {
  const std::string given = print_given(c.params);
  return fmt::format("{}{}{} --driver={} --arch={}", k.name, given.empty() ? "" : " ", given,
                     kernels::print_driver(c.options), c.arch);
}

sim::TraceOptions trace_options(const Options& o, const kernels::Kernel& k, const kernels::RunContext& c) {
  sim::TraceOptions t;
  const bool timed = c.options.driver == sim::DriverKind::timed;
  if (o.trace_profile == "cycle" && !timed)
    throw UsageError("--trace-profile=cycle needs --driver=timed: other drivers have no clock", "run");
  t.profile = o.trace_profile == "cycle" || (o.trace_profile.empty() && timed) ? sim::TraceProfile::cycle
                                                                               : sim::TraceProfile::arch;
  t.values = o.trace_values;
  // A run on a user's file cannot be made again from the header alone.
  if (c.input.empty()) t.run = run_words(k, c);
  t.arch = c.arch;
  t.seed = c.options.seed;
  return t;
}

ExitCode exit_code(const kernels::KernelReport& r) {
  if (!r.run.ok()) return r.run.fault->code.starts_with('U') ? ExitCode::unsupported : ExitCode::guest_fault;
  return r.verify.done && !r.verify.passed() ? ExitCode::verification_failed : ExitCode::ok;
}

ExitCode run(const CommandContext& c, const Options& o, const std::vector<std::string>& words) {
  if (o.kernel.empty()) throw UsageError("which kernel? (drywell list)", "run");
  const kernels::Kernel& k = kernels::find_kernel(o.kernel);
  kernels::RunContext context;
  context.params = kernels::Params(k.name, k.parameters, parse_parameters(k, words, "run"));
  context.arch = o.arch;
  kernels::parse_driver(o.driver, context.options);
  context.options.threads = o.threads;
  context.options.max_instructions = o.max_instructions;
  context.options.values = !o.no_values;
  context.input = o.input;
  context.verify = o.verify;
  context.keep_outputs = !o.save.empty();
  if (o.no_values && (context.options.driver != sim::DriverKind::timed || o.verify || !o.save.empty())) {
    throw UsageError(
        "--no-values is for --driver=timed without --verify and --save: there are no results to look at",
        "run");
  }
  const sim::ArchConfig arch = sim::load_arch(o.arch);

  Outputs outputs(o);
  std::optional<sim::TraceWriter> trace;
  if (outputs.trace().has_value()) {
    trace.emplace(*outputs.trace(), trace_options(o, k, context));
    context.options.listeners.push_back(trace->listener());
  }
  kernels::KernelReport report;
  {
    sim::RunProgress progress;
    ProgressLine line(progress);
    context.options.progress = &progress;
    context.phase = [&](std::string_view what) { line.phase(what); };
    report = k.run(context);
  }
  if (trace.has_value()) {
    trace->finish(report.run);
    outputs.trace()->commit();
  }
  const RunDescription description{k, context.params, arch, context.options, report};
  outputs.save(report);
  const std::string json = o.json.empty() ? "" : json_report(description);
  outputs.json(json);
  print(o.json == "-" ? json : summary(description, c.colour_out));
  return exit_code(report);
}

ExitCode help(const CLI::App& sub, const Options& o) {
  print(sub.help());
  if (o.kernel.empty()) {
    print("\nKernel parameters are given as --name=value; drywell run KERNEL --help lists them.\n");
  } else {
    const kernels::Kernel& k = kernels::find_kernel(o.kernel);
    print(fmt::format("\n{}: {}\n{}", k.name, k.doc, describe_parameters(k)));
  }
  return ExitCode::ok;
}

}  // namespace

void register_run(CLI::App& app, CommandContext& context) {
  auto o = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("run", "Run a kernel: values, verification, cycles, trace");
  sub->set_help_flag();
  sub->add_flag("-h,--help", o->help, "this, with the parameters of KERNEL if one is given");
  sub->add_option("KERNEL", o->kernel, "a kernel of `drywell list`");
  sub->add_option("--arch", o->arch, "architecture: a name of `drywell arch` or a .toml file")
      ->capture_default_str();
  sub->add_option("--driver", o->driver,
                  "when asynchronous work happens: eager, lazy, shuffled:SEED or timed")
      ->capture_default_str();
  sub->add_flag("--verify", o->verify,
                "compare every value with the host reference; exit code 1 if one differs");
  sub->add_option("--json", o->json, "write the report as JSON (- for standard output)");
  sub->add_option("--trace", o->trace, "write a trace (zstd if the name ends in .zst)");
  sub->add_option("--trace-profile", o->trace_profile, "arch (no cycles) or cycle (timed driver)")
      ->check(CLI::IsMember({"arch", "cycle"}));
  sub->add_flag("--trace-values", o->trace_values, "also what instructions wrote to registers");
  sub->add_option("--input", o->input, "input array (.npy) instead of a generated one");
  sub->add_option("--save", o->save, "directory for the outputs, as .npy");
  sub->add_option("--threads", o->threads, "host threads; 0 = all cores. Results do not depend on it")
      ->capture_default_str();
  sub->add_option("--max-instructions", o->max_instructions,
                  "stop a runaway kernel after this many warp instructions; 0 = never")
      ->capture_default_str();
  sub->add_flag("--no-values", o->no_values, "timed driver: same cycles, tensor results not computed");
  sub->allow_extras();
  sub->callback([o, sub, &context] {
    context.action = [o, sub, &context] {
      return o->help ? help(*sub, *o) : run(context, *o, sub->remaining());
    };
  });
}

}  // namespace drywell::tools
