// What main() and the subcommands (tools/cmd_*.cpp) agree on.
//
// A command adds itself with `void register_xxx(CLI::App& app, CommandContext& context)`: it makes a
// subcommand whose callback sets context.action. main() runs the action after parsing and turns every
// exception into one message and an exit code (drywell/core/error.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "drywell/core/error.h"

namespace CLI {
class App;
}

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

void register_list(CLI::App& app, CommandContext& context);
void register_run(CLI::App& app, CommandContext& context);
void register_arch(CLI::App& app, CommandContext& context);
void register_ptx(CLI::App& app, CommandContext& context);
void register_trace(CLI::App& app, CommandContext& context);
void register_build(CLI::App& app, CommandContext& context);
void register_device(CLI::App& app, CommandContext& context);
void register_device_record(CLI::App& device, CommandContext& context);  // subcommands of `device`
void register_conformance(CLI::App& app, CommandContext& context);
void register_mutate(CLI::App& app, CommandContext& context);
void register_bench_hw(CLI::App& app, CommandContext& context);
void register_isa(CLI::App& app, CommandContext& context);
void register_layout(CLI::App& app, CommandContext& context);
void register_desc(CLI::App& app, CommandContext& context);
void register_sf(CLI::App& app, CommandContext& context);
void register_fragment(CLI::App& app, CommandContext& context);
void register_smem(CLI::App& app, CommandContext& context);
void register_tmem(CLI::App& app, CommandContext& context);
void register_exec(CLI::App& app, CommandContext& context);
void register_nvcc(CLI::App& app, CommandContext& context);
void register_step(CLI::App& app, CommandContext& context);
void register_dap(CLI::App& app, CommandContext& context);

}  // namespace drywell::tools
