// Reports about a program's launches, written when it ends.
#pragma once

#include <string>
#include <vector>

#include "cudart/launch.h"

namespace drywell::cudart {

/// One line per launch, for people.
std::string launch_summary(const std::vector<LaunchRecord>& records, bool timed);
/// The timing account of each timed launch.
std::string launch_text(const std::vector<LaunchRecord>& records);
std::string launch_json(const std::vector<LaunchRecord>& records, const ExecOptions& options);

}  // namespace drywell::cudart
