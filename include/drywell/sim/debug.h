// A launch with the debugger in front of it, as `drywell step` and `drywell exec --break` have it (docs/step.md).
//
//   const std::unique_ptr<LaunchRunner> debugger = make_stepping_runner("");
//   options.runner = debugger.get();
//   RunResult r = device.launch(m, "kernel", config, args, options);
//
// Commands are read and answers printed on the calling thread. While a command runs, Ctrl-C ends it: the handler of SIGINT
// belongs to the debugger then, so that one launch of a process is stepped at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "drywell/sim/run.h"

namespace drywell::sim {

struct StepSession {
  std::string script;       // commands of this file; empty: the terminal, or what standard input brings
  bool colour = false;
  bool run_on = false;      // a launch the user leaves before its end is run to its end
};

/// Steps `launch`: for the body of a LaunchRunner. Nothing if the user left it before its end, unless it was run on. Throws
/// InputError E4001 if the script cannot be read.
std::optional<RunResult> step_launch(const StepSession& s, const Launch& launch, const RunOptions& options);

/// Steps every launch; one that is left is run to its end in any case. Colours as the terminal has them.
std::unique_ptr<LaunchRunner> make_stepping_runner(const std::string& script);

}  // namespace drywell::sim
