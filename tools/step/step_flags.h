// Command-line flags of both debuggers: drywell step, and the launch request of drywell dap.
#pragma once

#include <string>

#include "tools/common/run_flags.h"

namespace drywell::tools {

struct StepFlags {
  RunFlags run;
  std::string script;
  uint32_t launch = 1;
};

void add_step_flags(Command& sub, StepFlags& f);

}  // namespace drywell::tools
