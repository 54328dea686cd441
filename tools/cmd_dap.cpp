// drywell dap: the debugger for editors (Debug Adapter Protocol over standard input and output; docs/dap.md).
#include <unistd.h>

#include <csignal>

#include "drywell/sim/dap.h"
#include "tools/common/command.h"
#include "tools/step/launch_picker.h"
#include "tools/step/step_flags.h"

namespace drywell::tools {
namespace {

/// A launch request's words, read as those of `drywell step`; what is left are the kernel's parameters.
std::vector<std::string> parse(std::vector<std::string> words, StepFlags& f) {
  Command app({}, "step");
  add_step_flags(app, f);
  app.allow_extras();
  if (const std::string error = app.parse(std::move(words)).error; !error.empty()) throw UsageError(error, "step");
  return app.remaining();
}

sim::DapOutcome run_program(const sim::DapLaunch& asked, const sim::DapBody& body) {
  if (!asked.cwd.empty() && ::chdir(asked.cwd.c_str()) != 0) throw UsageError("cwd: no such folder: " + asked.cwd);
  StepFlags f;
  const std::vector<std::string> words = parse(asked.words, f);
  LaunchPicker picker(asked.launch, body);
  const HostOutcome out = run_host(f.run, words, picker, asked.launch, "step");
  const ExitCode code = !out.run.ok() ? fault_exit(out.run) : out.passed ? ExitCode::ok : ExitCode::verification_failed;
  return {static_cast<int>(code), out.verification};
}

ExitCode run() {
  std::signal(SIGPIPE, SIG_IGN);
  sim::serve_dap(STDIN_FILENO, STDOUT_FILENO, run_program);
  return ExitCode::ok;
}

}  // namespace

void register_dap(Command& app, CommandContext& context) {
  Command* sub = add_command(app, "dap");
  sub->callback([&context] { context.action = run; });
}

}  // namespace drywell::tools
