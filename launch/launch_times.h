// Times of launches, measured on a GPU and predicted: from one launch to the next of a graph in which each
// waits for the one before.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/plan.h"

namespace drywell::kernels {

/// Nanoseconds of one launch, with the gap between two launches.
struct LaunchTimes {
  double warm = 0;       // after the same launch: the L2 holds what that left
  double cold = 0;       // after loads of 132 MiB of other memory: the L2 holds nothing of the launch's
  double gigahertz = 0;  // the SMs' clock meanwhile; 0: not seen
};

/// Measured times by launch file (without its folder) and launch.
using LaunchRecord = std::map<std::pair<std::string, std::string>, LaunchTimes>;
std::string print_launch_record(const LaunchRecord& r);
/// `path` is the text's name in messages. Throws InputError E4506.
LaunchRecord parse_launch_record(std::string_view text, const std::string& path);

/// The timed driver's times of a plan's launches, in order: each runs with a cold L2, and once more with
/// what it left there. Throws InputError E4505 if one faults.
std::vector<LaunchTimes> predict_launches(const LaunchPlan& plan, const std::string& arch,
                                          const sim::RunOptions& options);

}  // namespace drywell::kernels
