// Converts the groups' counters to a TimingReport.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/sim/report.h"
#include "sim/timing/group.h"
#include "sim/timing/residency.h"

namespace drywell::sim {

/// "19564 warp instructions", "83.96 MB", "6.933 M busy cycles".
std::string amount_of_work(double amount, std::string_view unit);

std::shared_ptr<const TimingReport> make_report(const TimingContext& context,
                                                const std::vector<std::unique_ptr<Group>>& groups,
                                                const MemorySystem& memory, const Residency& residency,
                                                Time cycles);

}  // namespace drywell::sim
