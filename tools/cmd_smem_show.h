// The subcommand `show` of `drywell smem`.
#pragma once

#include "tools/common/command.h"

namespace drywell::tools {

void register_smem_show(Command& smem, CommandContext& context);

}  // namespace drywell::tools
