#include "drywell/sim/debug.h"

#include <atomic>
#include <csignal>
#include <cstdio>

#include "drywell/core/terminal.h"
#include "sim/debug/shell/console.h"
#include "sim/debug/shell/shell.h"

namespace drywell::sim {
namespace {

using shell::Console, shell::Shell;

/// Ctrl-C while a command runs ends that command.
class InterruptGuard {
 public:
  // Without SA_RESTART: at the prompt it ends the line.
  InterruptGuard() {
    struct sigaction now {};
    now.sa_handler = [](int) { pressed().store(true, std::memory_order_relaxed); };
    ::sigaction(SIGINT, &now, &before_);
  }
  ~InterruptGuard() { ::sigaction(SIGINT, &before_, nullptr); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// Once per press. A signal handler reaches nothing but static storage.
  static bool take() { return pressed().exchange(false, std::memory_order_relaxed); }

 private:
  static std::atomic<bool>& pressed() {
    static std::atomic<bool> flag{false};
    return flag;
  }
  struct sigaction before_ {};
};

/// Reads and executes until the input ends or the user leaves.
void converse(Shell& commands, Console& console) {
  const InterruptGuard guard;
  print(commands.greeting());
  std::string last;
  while (!commands.done()) {
    std::fflush(stdout);
    std::optional<std::string> line = console.read_line();
    if (!line.has_value()) {
      if (console.interactive()) print("\n");
      return;
    }
    if (!console.interactive()) print(shell::kPrompt + *line + "\n");
    if (line->find_first_not_of(" \t") == std::string::npos && console.interactive()) line = last;
    last = *line;
    InterruptGuard::take();  // presses at the prompt were for the line
    print(commands.execute(*line));
  }
}

}  // namespace

std::optional<RunResult> step_launch(const StepSession& s, const Launch& launch, const RunOptions& options) {
  Debugger debugger(launch, options);
  Shell commands(debugger, s.colour);
  debugger.interrupted = [] { return InterruptGuard::take(); };
  const auto complete = [&commands](std::string_view line) { return commands.complete(line); };
  const std::unique_ptr<Console> console = s.script.empty() ? shell::open_console(complete) : shell::open_script(s.script);
  converse(commands, *console);
  Session& session = debugger.session();
  if (!session.over() && !s.run_on) return std::nullopt;
  while (!session.over()) session.step();
  return session.result();
}

}  // namespace drywell::sim
