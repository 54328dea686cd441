// A run's result as text for people and as JSON for machines.
#pragma once

#include <optional>
#include <string>

#include "drywell/sim/arch_config.h"
#include "kernels/registry.h"
#include "tools/common/check_report.h"
#include "tools/explore.h"

namespace drywell::tools {

struct RunDescription {
  const kernels::Kernel& kernel;
  const kernels::Params& params;
  const sim::ArchConfig& arch;
  const sim::RunOptions& options;
  const kernels::KernelReport& report;
  const CheckedRun& check;
  const std::optional<Exploration>& exploration;
};

std::string summary(const RunDescription& d, bool colour);
/// Keys: docs/cli.md. Ends with a newline.
std::string json_report(const RunDescription& d);

}  // namespace drywell::tools
