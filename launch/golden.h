// Golden traces: a trace's header describes its run, so a check repeats the run and compares the traces.
#pragma once

#include <string>
#include <vector>

#include "drywell/launch/kernel.h"
#include "drywell/sim/driver_words.h"
#include "drywell/sim/limit_words.h"
#include "drywell/sim/trace.h"

namespace drywell::kernels {

/// A run as words: "tma-copy --rows=64 --driver=shuffled:3 --arch=sm_100a". Kernel parameters and run options may be in
/// any order.
struct RunSpec {
  const Kernel* kernel = nullptr;
  RunContext context;
  /// Parses the words; looks up the kernel's name in `kernels`, or in a shared object whose path is relative to `folder`. Throws InputError
  /// E43xx.
  static RunSpec parse(std::string_view words, std::span<const Kernel> kernels, const std::string& folder = {});
};

/// The word that names `kernel` in the header of a trace at `trace`: its name, or for a `subject` that is a shared object's
/// ("./libmine.so:gemm") that, relative to the trace's folder.
std::string kernel_word(const std::string& subject, const Kernel& kernel, const std::string& trace);

using sim::parse_driver;
using sim::print_driver;

/// "launch:PATH --driver=…": a run of a launch file (docs/running-ptx.md), PATH relative to the trace's folder.
inline constexpr std::string_view kLaunchWord = "launch:";

/// Repeats the run that `header` describes, within the bounds of `limits`, and returns the new trace. `folder`: the folder of relative
/// launch files. Throws InputError E4203 if the header has no run, F3602 to F3606 if a bound ended it.
std::string record_again(const sim::TraceHeader& header, std::span<const Kernel> kernels, const sim::RunOptions& limits = {}, const std::string& folder = {});

/// Result of one golden trace.
struct GoldenResult {
  std::string path;
  uint64_t records = 0;
  bool equal = false, written = false;
  std::string message;  // the first divergence, or the reason why the run was not possible
  bool failed_to_run = false;
  double host_seconds = 0;
};

/// Returns the files of `paths`, and for a directory all .trace and .trace.zst files below it, in order of their names.
/// Throws InputError E4001 if there are none.
std::vector<std::string> golden_files(const std::vector<std::string>& paths);
/// Never throws for a bad trace: the result describes it. `write`: replaces a trace that differs from the new run's
/// trace.
GoldenResult check_golden(const std::string& path, std::span<const Kernel> kernels, const sim::RunOptions& limits = {}, uint64_t cycle_tolerance = 0, bool write = false);
/// Returns the results as JUnit XML, for CI.
std::string golden_junit(const std::vector<GoldenResult>& results);

}  // namespace drywell::kernels
