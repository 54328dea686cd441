// A launch under the debugger, as in `drywell step` and `drywell exec --break` (docs/step.md).
//
//   const std::unique_ptr<LaunchRunner> debugger = make_stepping_runner("");
//   options.runner = debugger.get();
//   RunResult r = device.launch(m, "kernel", config, args, options);
//
// Commands are read and answers printed on the calling thread. While a command runs, Ctrl-C interrupts it: the debugger then
// owns the handler of SIGINT, so a process can step only one launch at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// A session of the debugger at a terminal or from a file.
struct StepSession {
  std::string script;   // path of a command file; empty: the terminal, or standard input
  bool colour = false;  // the output has colours
  bool run_on = false;  // if the user leaves the launch before its end, run it to its end
};

/// Steps `launch`: called from the run() of a LaunchRunner. Returns nothing if the user left it before its end and run_on is false. Throws
/// InputError E4001 if the script cannot be read.
std::optional<RunResult> step_launch(const StepSession& s, const Launch& launch, const RunOptions& options);

/// Steps every launch. A launch that the user leaves is always run to its end. Uses colours if the terminal has them.
std::unique_ptr<LaunchRunner> make_stepping_runner(const std::string& script);

}  // namespace drywell::sim
