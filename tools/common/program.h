// What the programs of the command have in common: `drywell`, and those that it starts for some of its subcommands.
#pragma once

#include <string_view>
#include <vector>

#include "tools/common/command.h"

namespace drywell::tools {

/// A subcommand of this program.
struct OwnCommand {
  std::string_view name;
  void (*add)(Command&, CommandContext&);
};

/// Runs the command line with the subcommands of this program, and returns the exit code. A subcommand of another program is started
/// in place of this one; --help lists all.
int run_commands(const std::vector<OwnCommand>& own, int argc, char** argv);

}  // namespace drywell::tools
