// Names of drivers, as on command lines and in trace headers, and of what the caches hold.
#pragma once

#include <string>
#include <string_view>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// Seeds of the shuffled driver with this bit part the lanes of warps, too: in some turns a part of them, that stands where the others
/// do, is held back. PTX keeps only those instructions of lanes together that say so.
inline constexpr uint64_t kPartLanes = uint64_t{1} << 63;

/// Whether the schedule parts lanes. The hazard checker follows warps as wholes and is not for such a schedule; its verdicts do not depend on one.
bool parts_lanes(const RunOptions& options);

/// Parses "eager", "lazy", "shuffled:SEED", "timed", and "parted:SEED": shuffled with the bit kPartLanes. SEED is below 2^63. Throws InputError E4306.
void parse_driver(std::string_view text, RunOptions& options);
/// The inverse of parse_driver.
std::string print_driver(const RunOptions& options);
/// The random schedule of this number among those that `drywell run --explore` tries: the even ones part the lanes of warps, too.
void set_schedule(uint64_t seed, RunOptions& options);
/// "cold", "warm" or "carry". Throws InputError E4306.
Caches parse_caches(std::string_view text);
/// "nominal", "sustained", or a number of GHz between 0.1 and 10. Throws InputError E4306.
ClockChoice parse_clock(std::string_view text);

}  // namespace drywell::sim
