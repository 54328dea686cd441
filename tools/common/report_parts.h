// Shared parts of the reports of kernels and of PTX files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/device.h"
#include "drywell/sim/report.h"

namespace drywell::tools {

/// Returns for example "grid 4 x 2, block 128, cluster 2, 16,384 B dynamic shared memory"
std::string describe_launch(const sim::LaunchConfig& c);
/// Returns for example "12,345 warp instructions in 0.02 s on the host (600 k/s)"
std::string describe_speed(const sim::RunResult& run);
/// Simulated time of a launch, or of several launches together, which have cycles and no report of their own.
struct SimulatedTime {
  double seconds = 0, clock_ghz = 0;
};
SimulatedTime simulated_time(const sim::RunResult& run, const sim::ArchConfig& arch);
/// Returns the peak memory of this process in bytes: the simulated device and the host's own arrays.
uint64_t peak_memory();
/// The only part of a report that depends on the host: "seconds" of all launches, "peak_memory".
nlohmann::ordered_json host_json(double seconds);

nlohmann::ordered_json launch_json(const sim::LaunchConfig& c);
nlohmann::ordered_json lines_json(const std::vector<SourcePos>& lines);
/// Returns null if there is no fault.
nlohmann::ordered_json fault_json(const sim::RunResult& run);
/// Adds units, stalls and, with a timing report, roles, limits and traffic.
void add_timing(const sim::RunResult& run, nlohmann::ordered_json& j);
std::string print_json(const nlohmann::ordered_json& j);

}  // namespace drywell::tools
