// What is told about a program's launches when it ends.
#pragma once

#include <string>
#include <vector>

#include "cudart/launch.h"

namespace drywell::cudart {

/// A line per launch, for people.
std::string launch_summary(const std::vector<LaunchRecord>& records, bool timed);
/// The machine model's account of each timed launch.
std::string launch_text(const std::vector<LaunchRecord>& records);
std::string launch_json(const std::vector<LaunchRecord>& records, const ExecOptions& options);

}  // namespace drywell::cudart
