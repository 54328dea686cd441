// drywell step: a debugger that goes forward and back.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>

#include "tools/command.h"
#include "tools/run_flags.h"
#include "tools/step/console.h"
#include "tools/step/launch_picker.h"
#include "tools/step/shell.h"
#include "tools/step/step_flags.h"
#include "tools/terminal.h"

namespace drywell::tools {
namespace {

/// Ctrl-C while a command runs ends that command.
class InterruptGuard {
 public:
  InterruptGuard() : before_(std::signal(SIGINT, [](int) { pressed().store(true, std::memory_order_relaxed); })) {}
  ~InterruptGuard() { std::signal(SIGINT, before_); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Once per press. A signal handler reaches nothing but static storage.
  static bool take() { return pressed().exchange(false, std::memory_order_relaxed); }

 private:
  static std::atomic<bool>& pressed() {
    static std::atomic<bool> flag{false};
    return flag;
  }
  void (*before_)(int);
};

/// Reads and executes until the input ends or the user leaves.
void converse(Shell& shell, Console& console) {
  const InterruptGuard guard;
  print(shell.greeting());
  std::string last;
  while (!shell.done()) {
    std::fflush(stdout);
    std::optional<std::string> line = console.read_line();
    if (!line.has_value()) {
      if (console.interactive()) print("\n");
      return;
    }
    if (!console.interactive()) print(kPrompt + *line + "\n");
    if (line->find_first_not_of(" \t") == std::string::npos && console.interactive()) line = last;
    last = *line;
    InterruptGuard::take();  // presses at the prompt were for the line
    print(shell.execute(*line));
  }
}

sim::RunResult step_launch(const CommandContext& c, const StepFlags& f, const sim::Launch& launch, const sim::RunOptions& options) {
  sim::Debugger debugger(launch, options);
  Shell shell(debugger, c.colour_out);
  debugger.interrupted = [] { return InterruptGuard::take(); };
  const auto complete = [&shell](std::string_view line) { return shell.complete(line); };
  const std::unique_ptr<Console> console = f.script.empty() ? open_console(complete) : open_script(f.script);
  converse(shell, *console);
  if (!debugger.session().over()) throw Abandoned();
  return debugger.session().result();
}

ExitCode run(const CommandContext& c, const StepFlags& f, const std::vector<std::string>& words) {
  if (f.run.subject.empty()) throw UsageError("which kernel? (drywell list), or a .ptx or .toml file", "step");
  if (f.launch == 0) throw UsageError("--launch counts from 1", "step");
  LaunchPicker picker(f.launch, [&](const sim::Launch& l, const sim::RunOptions& o) { return step_launch(c, f, l, o); });
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

void add_step_flags(CLI::App& sub, StepFlags& f) {
  sub.add_option("KERNEL|FILE", f.run.subject, "a kernel of `drywell list`, a .ptx file, or a launch file (.toml)");
  sub.add_option("--launch", f.launch, "which launch to step; those before it just run")->capture_default_str();
  sub.add_option("--arch", f.run.arch, "architecture: a name of `drywell arch` or a .toml file")->capture_default_str();
  sub.add_option("--driver", f.run.driver, "when asynchronous work happens: eager, lazy or shuffled:SEED")->capture_default_str();
  sub.add_option("--seed", f.run.seed, "the schedule a run with --explore named: shuffled:SEED, destinations of copies in flight poisoned");
  sub.add_flag("--verify", f.run.verify, "compare with the host reference if the launch was stepped to its end");
  sub.add_option("--input", f.run.input, "input array (.npy) instead of a generated one");
  add_plan_flags(sub, f.run.plan);
}

void register_step(CLI::App& app, CommandContext& context) {
  auto f = std::make_shared<StepFlags>();
  CLI::App* sub = app.add_subcommand("step", "Debug a kernel: forward and back, by instruction, with breakpoints and watches");
  add_step_flags(*sub, *f);
  sub->add_option("--script", f->script, "commands of a file instead of the terminal; they are shown with what they say");
  sub->allow_extras();
  sub->callback([f, sub, &context] { context.action = [f, sub, &context] { return run(context, *f, sub->remaining()); }; });
}

}  // namespace drywell::tools
