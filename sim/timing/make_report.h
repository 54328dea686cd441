// From the groups' counters to a TimingReport.
#pragma once

#include <memory>
#include <vector>

#include "drywell/sim/report.h"
#include "sim/timing/group.h"
#include "sim/timing/residency.h"

namespace drywell::sim {

std::shared_ptr<const TimingReport> make_report(const TimingContext& context,
                                                const std::vector<std::unique_ptr<Group>>& groups,
                                                const MemorySystem& memory, const Residency& residency,
                                                Time cycles);

}  // namespace drywell::sim
