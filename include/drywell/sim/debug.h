// A launch with the debugger in front of it, as `drywell exec --break` has it (docs/step.md).
//
//   const std::unique_ptr<LaunchRunner> debugger = make_stepping_runner("");
//   options.runner = debugger.get();
//   RunResult r = device.launch(module, "kernel", config, args, options);
#pragma once

#include <memory>
#include <string>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// Commands come from the file `script`; empty: from standard input. The launch is run to its end in any case.
std::unique_ptr<LaunchRunner> make_stepping_runner(const std::string& script);

}  // namespace drywell::sim
