// The interface between the programs (tools/common/program.h) and the subcommands (tools/cmd_*.cpp).
//
// A command adds itself with `void register_xxx(Command& app, CommandContext& context)`: it makes a subcommand whose
// callback sets context.action. run_commands (tools/common/program.h) runs the action after parsing and converts every exception to
// one message and an exit code (drywell/core/error.h).
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "drywell/core/error.h"
#include "tools/common/command_line.h"

namespace drywell::tools {

struct CommandContext {
  std::function<ExitCode()> action;  // set by the chosen subcommand
  std::string_view program;          // of commands.inc: the one that runs
  bool colour_out = false;           // stdout is a terminal that shows colours
  bool colour_err = false;
};

/// A wrong command line: exit code 2.
class UsageError : public Error {
 public:
  /// `help`: the command whose --help the message names ("run"); may be empty.
  explicit UsageError(std::string message, std::string_view help = {});
};

/// The words behind the name; nullptr: no more.
using Examples = std::array<const char*, 3>;

/// A row of commands.inc.
struct CommandRow {
  std::string_view name, program;
  const char *summary, *about;
  Examples examples;
};
std::span<const CommandRow> command_rows();
/// Returns the row of a subcommand, or nothing.
const CommandRow* find_command(std::string_view name);

/// Adds a subcommand with its summary, description and examples in commands.inc.
Command* add_command(Command& app, std::string_view name);
/// Adds a subcommand of a command with its summary and examples in subcommands.inc.
Command* add_subcommand(Command& command, std::string_view name);

/// The values of --driver that shells offer.
std::vector<std::string> driver_names();

#define COMMAND(ID_, NAME_, PROGRAM_, SUMMARY_, ...) void register_##ID_(Command& app, CommandContext& context);
#include "tools/common/commands.inc"
#undef COMMAND
void register_device_record(Command& device, CommandContext& context);  // a subcommand of `device`
void register_device_time(Command& device, CommandContext& context);    // a subcommand of `device`
void register_device_survey(Command& device, CommandContext& context);  // survey and compare, of `device`
void register_tmem_layout(Command& tmem, CommandContext& context);      // a subcommand of `tmem`
void register_tmem_show(Command& tmem, CommandContext& context);        // a subcommand of `tmem`

}  // namespace drywell::tools
