// Time account of a run by the timed driver, for people and programs.
//
// Every cycle between the start and the end of a warp has exactly one stall reason, so a role's row adds up to the time
// its warps existed. Units count busy cycles; a unit's utilisation is its work divided by the possible work while
// the kernel ran. A report is a value: any threads may read one at once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/sim/stall.h"

namespace drywell::sim {

/// One unit, all its instances together.
struct UnitTime {
  std::string name;        // "issue", "alu", "fma", "half", "f64", "xu", "lsu", "smem", "tensor", "tmem_port", "tma", "l2", "hbm", …
  uint64_t instances = 0;  // on the SMs that ran CTAs: 4 issue slots per SM, one hbm per chip
  double busy_cycles = 0;  // summed over the instances
  double utilisation = 0;  // busy_cycles / (instances * cycles)
  double work = 0;         // in `work_unit`s
  std::string work_unit;   // "warp instructions", "B", "instructions"
};

/// The warps of one role (Function::roles); warps without a role are "warps".
struct RoleTime {
  std::string name;                          // as the kernel names it
  uint64_t warps = 0;                        // over the whole grid
  uint64_t instructions = 0;                 // warp instructions executed
  std::array<double, kStallCount> cycles{};  // summed over its warps, by Stall

  /// Warp cycles over all reasons.
  double total() const {
    double t = 0;
    for (double c : cycles) t += c;
    return t;
  }
};

/// The least time that one resource alone would need for its work in the run.
struct Limit {
  std::string name;     // name of the unit
  double cycles = 0;    // if the busiest instance had worked without a gap
  double fraction = 0;  // cycles / cycles of the run: 1 = the kernel runs at this limit
  std::string what;     // "84.0 MB at 3924 B/clk"
};

/// The CTAs of an SM that one resource has room for.
struct ResidencyLimit {
  std::string what;     // "shared memory", "threads", "warps", "registers", "CTAs"
  uint64_t ctas = 0;    // at once
  uint64_t of_cta = 0;  // what a CTA takes, in the resource's units: bytes, threads, warps, registers; CTAs: 1
  uint64_t of_sm = 0;   // what an SM has
};

/// Cost of one source line (of the kernel's author), or of one PTX line if there is no source line.
struct LineTime {
  std::string file;           // as in the source position
  uint32_t line = 0;          // from 1
  uint64_t instructions = 0;  // warp instructions
  double cycles = 0;          // warp cycles from the previous issue to the issue of its instructions
};

/// Where the time of one launch went.
struct TimingReport {
  uint64_t cycles = 0;                                 // first CTA's start to the last CTA's end and the last write to memory
  double clock_ghz = 0;                                // RunOptions::clock
  double seconds = 0;                                  // cycles at that clock
  double watts = 0;                                    // at that clock, if the launch is repeated for seconds and its data is random; 0: no figures
  double watts_limit = 0;                              // of the chip
  double launch_seconds = 0;                           // an empty kernel from event to event: not included in `seconds`
  uint32_t sms = 0;                                    // of the chip
  uint32_t sms_used = 0;                               // that ran a CTA
  uint32_t ctas_per_sm = 0;                            // resident at once
  std::string residency_limit;                         // limit on resident CTAs: "shared memory", "threads", "registers", "CTAs", "grid"
  std::vector<ResidencyLimit> residency;               // what each resource has room for
  uint64_t hbm_bytes_read = 0, hbm_bytes_written = 0;  // bytes between L2 and memory
  std::vector<UnitTime> units;                         // in a fixed order
  std::vector<RoleTime> roles;                         // in the kernel's order
  std::vector<Limit> limits;                           // tightest first; limits[0] is the binding one
  std::vector<LineTime> lines;                         // most expensive first
  bool values = true;                                  // false: tensor values were not computed

  /// The unit of that name, or nullptr.
  const UnitTime* unit(std::string_view name) const;
  /// The role of that name, or nullptr.
  const RoleTime* role(std::string_view name) const;
};

/// The report as text: time, limits, units, stalls per role, the `lines` most expensive source lines.
std::string to_text(const TimingReport& r, size_t lines = 10);

}  // namespace drywell::sim
