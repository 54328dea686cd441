// Names of drivers, as on command lines and in trace headers, and of what the caches hold.
#pragma once

#include <string>
#include <string_view>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// Parses "eager", "lazy", "shuffled:SEED", "timed". Throws InputError E4306.
void parse_driver(std::string_view text, RunOptions& options);
/// The inverse of parse_driver.
std::string print_driver(const RunOptions& options);
/// "cold", "warm" or "carry". Throws InputError E4306.
Caches parse_caches(std::string_view text);
/// "nominal", "sustained", or a number of GHz between 0.1 and 10. Throws InputError E4306.
ClockChoice parse_clock(std::string_view text);

}  // namespace drywell::sim
