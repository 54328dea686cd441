// What a timed run's report means, in sentences.
#pragma once

#include <string>
#include <vector>

#include "drywell/sim/inspect/cost_recorder.h"
#include "drywell/sim/report.h"

namespace drywell::tools {

/// What binds, or what the warps wait for if nothing does, where, and what could change it; the most
/// important first.
std::vector<std::string> advice(const sim::TimingReport& r, const sim::LaunchCosts& costs);

}  // namespace drywell::tools
