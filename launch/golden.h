// Golden traces: a trace's header says how to make it again, so checking one is running it again and
// comparing.
#pragma once

#include <string>
#include <vector>

#include "drywell/sim/driver_words.h"
#include "drywell/sim/trace.h"
#include "launch/kernel.h"

namespace drywell::kernels {

/// A run as words: "tma-copy --rows=64 --driver=shuffled:3 --arch=sm_100a". Kernel parameters and run options
/// mix.
struct RunSpec {
  const Kernel* kernel = nullptr;
  RunContext context;
  /// `kernels`: where names are looked for. Throws InputError E43xx.
  static RunSpec parse(std::string_view words, std::span<const Kernel> kernels);
};

using sim::parse_driver;
using sim::print_driver;

/// "launch:PATH --driver=…": a run of a launch file (docs/running-ptx.md), PATH as seen from the trace's folder.
inline constexpr std::string_view kLaunchWord = "launch:";

/// Runs again what `header` describes and returns the new trace. `folder`: where launch files are looked for. Throws InputError
/// E4203 if the header names no run.
std::string record_again(const sim::TraceHeader& header, std::span<const Kernel> kernels, const std::string& folder = {});

/// One golden trace, run again.
struct GoldenResult {
  std::string path;
  uint64_t records = 0;
  bool equal = false, written = false;
  std::string message;  // the first divergence, or why it could not be run
  bool failed_to_run = false;
  double host_seconds = 0;
};

/// Files as they are; of directories every .trace and .trace.zst below, in order of their names. Throws InputError E4001 when
/// there are none.
std::vector<std::string> golden_files(const std::vector<std::string>& paths);
/// Never throws for a bad trace: that is a result too. `write`: replaces a trace that is not what the run leaves now.
GoldenResult check_golden(const std::string& path, std::span<const Kernel> kernels, uint64_t cycle_tolerance = 0, bool write = false);
/// For CI.
std::string golden_junit(const std::vector<GoldenResult>& results);

}  // namespace drywell::kernels
