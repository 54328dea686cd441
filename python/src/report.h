// Results of a launch as Python dictionaries.
#pragma once

#include <vector>

#include "drywell/sim/check.h"
#include "drywell/sim/device.h"
#include "drywell/sim/inspect/timeline.h"
#include "python/src/binding.h"

namespace drywell::python {

nb::dict timing_dict(const sim::TimingReport& t);
nb::dict fault_dict(const sim::Fault& f);
nb::list findings_list(const std::vector<sim::Finding>& findings);
nb::dict wait_graph_dict(const sim::WaitGraph& g);
nb::dict timeline_dict(const sim::Timeline& t);

}  // namespace drywell::python
