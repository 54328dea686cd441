// What main() and the subcommands (tools/cmd_*.cpp) agree on.
//
// A command adds itself with `void register_xxx(Command& app, CommandContext& context)`: it makes a
// subcommand whose callback sets context.action. main() runs the action after parsing and turns every
// exception into one message and an exit code (drywell/core/error.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "drywell/core/error.h"
#include "tools/common/command_line.h"

namespace drywell::tools {

struct CommandContext {
  std::function<ExitCode()> action;  // set by the chosen subcommand
  bool colour_out = false;           // stdout is a terminal that shows colours
  bool colour_err = false;
};

/// A command line that makes no sense: exit code 2.
class UsageError : public Error {
 public:
  /// `help`: the command whose --help to point to ("run"); may be empty.
  explicit UsageError(std::string message, std::string_view help = {});
};

void register_list(Command& app, CommandContext& context);
void register_run(Command& app, CommandContext& context);
void register_arch(Command& app, CommandContext& context);
void register_ptx(Command& app, CommandContext& context);
void register_trace(Command& app, CommandContext& context);
void register_build(Command& app, CommandContext& context);
void register_device(Command& app, CommandContext& context);
void register_device_record(Command& device, CommandContext& context);  // subcommands of `device`
void register_conformance(Command& app, CommandContext& context);
void register_mutate(Command& app, CommandContext& context);
void register_bench_hw(Command& app, CommandContext& context);
void register_isa(Command& app, CommandContext& context);
void register_layout(Command& app, CommandContext& context);
void register_desc(Command& app, CommandContext& context);
void register_sf(Command& app, CommandContext& context);
void register_fragment(Command& app, CommandContext& context);
void register_smem(Command& app, CommandContext& context);
void register_tmem(Command& app, CommandContext& context);
void register_exec(Command& app, CommandContext& context);
void register_nvcc(Command& app, CommandContext& context);
void register_step(Command& app, CommandContext& context);
void register_dap(Command& app, CommandContext& context);

}  // namespace drywell::tools
