// One launch with a debugger in front of it: what `drywell step` and `drywell exec --break` do.
#pragma once

#include <optional>
#include <string>

#include "drywell/sim/device.h"

namespace drywell::sim {
struct Launch;
}

namespace drywell::sim::shell {

struct StepSession {
  std::string script;       // commands of this file; empty: the terminal, or what standard input brings
  bool colour = false;
  bool run_on = false;      // a launch the user leaves before its end is run to its end
};

/// Steps `launch`. Nothing if the user left it before its end, unless it was run on.
std::optional<RunResult> step_launch(const StepSession& s, const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim::shell
