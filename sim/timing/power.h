// The power a launch would draw if it were repeated for seconds, and the clock at which the chip holds it.
// Constants and their measurement: docs/lab/calibration.md.
#pragma once

#include <string_view>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/report.h"

namespace drywell::sim {

/// Shares of its most that each unit of the chip works in one cycle.
struct UnitUse {
  double tensor = 0, issue = 0, l2 = 0;
  double hbm_bytes_per_cycle = 0;
};

/// The use in a report whose units are complete.
UnitUse unit_use(const TimingReport& r, double sms);
/// Watts at a clock. 0 if the architecture has no figures of power.
double watts_at(const ArchConfig& arch, const UnitUse& use, double ghz);
/// The highest clock up to `most` at which the chip stays within its limit.
double sustained_clock(const ArchConfig& arch, const UnitUse& use, double most);

}  // namespace drywell::sim
