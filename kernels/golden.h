// Golden traces: a trace's header says how to make it again, so checking one is running it again and
// comparing.
#pragma once

#include <string>

#include "drywell/sim/trace.h"
#include "kernels/registry.h"

namespace drywell::kernels {

/// A run as words: "tma-copy --rows=64 --driver=shuffled:3 --arch=sm_100a". Kernel parameters and run options
/// mix.
struct RunSpec {
  const Kernel* kernel = nullptr;
  RunContext context;
  /// Throws InputError E43xx.
  static RunSpec parse(std::string_view words);
};

/// Parses "eager", "lazy", "shuffled:SEED", "timed". Throws InputError E4306.
void parse_driver(std::string_view text, sim::RunOptions& options);
/// The inverse.
std::string print_driver(const sim::RunOptions& options);

/// Runs again what `header` describes and returns the new trace. Throws InputError E4203 if the header names
/// no run.
std::string record_again(const sim::TraceHeader& header);

}  // namespace drywell::kernels
