// The flags that bound a run, for every command that executes kernels.
#pragma once

#include "drywell/sim/limit_words.h"
#include "tools/common/command.h"

namespace drywell::tools {

/// Adds --max-instructions, --max-cycles, --timeout and --memory.
void add_limit_flags(Command& sub, sim::RunLimits& limits);

}  // namespace drywell::tools
