// `--break`: a launch with the debugger in front of it. The debugger's commands are a layer above; tools/step defines this.
#pragma once

#include <memory>
#include <string>

#include "sim/driver/functional.h"

namespace drywell::cudart {

/// Commands come from the file `script`, or from standard input. The launch is run to its end in any case.
std::unique_ptr<sim::LaunchRunner> make_stepping_runner(const std::string& script);

}  // namespace drywell::cudart
