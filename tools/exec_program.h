// Runs a program with the simulator behind CUDA: what `drywell exec` and `drywell python` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cudart/options.h"
#include "tools/common/command.h"

namespace drywell::tools {

struct ExecFlags {
  cudart::ExecOptions options;
  std::string command;  // for messages: "exec"
  std::string corrupt, stop;
  bool no_values = false;
  std::vector<std::string> words;  // the program and its arguments
};

/// Adds the options of the simulated device to a command.
void add_exec_options(Command& sub, ExecFlags& flags);

/// Replaces this process by the program. Throws UsageError and InputError E43xx, E46xx for what can be
/// reported before.
ExitCode exec_program(ExecFlags flags);

}  // namespace drywell::tools
