// What the programs of the command have in common: `drywell`, and those that it starts for some of its subcommands.
#pragma once

#include <cstdint>
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

/// The programs of commands.inc.
enum class Program : uint8_t {
  drywell,
  inspect,
  lab,
  debug,
  cuda
};

/// run_commands with the program's rows of commands.inc; every program can make pages of its commands.
template <Program P>
int run_program(int argc, char** argv) {
  std::vector<OwnCommand> own;
#define COMMAND(ID_, NAME_, PROGRAM_, SUMMARY_, ...) \
  if constexpr (P == Program::PROGRAM_) own.push_back({NAME_, register_##ID_});
#include "tools/common/commands.inc"
#undef COMMAND
  if constexpr (P != Program::drywell) own.push_back({"pages", register_pages});
  return run_commands(own, argc, argv);
}

}  // namespace drywell::tools
