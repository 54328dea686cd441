// How much a predicted time depends on the figures of its architecture that are not measured on that chip.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "drywell/sim/arch_config.h"

namespace drywell::tools {

/// One figure, and how the time of the launch changes if the figure is wrong, as a fraction of the predicted time.
struct Effect {
  sim::ArchEntry figure;
  double error = 0;  // of the figure, for example 0.25
  double with_less = 1, with_more = 1;
  double most() const;  // the larger change of the two
};

struct Sensitivity {
  double seconds = 0;           // predicted
  std::vector<Effect> effects;  // the strongest first; those without an effect are left out
  size_t varied = 0;            // figures
  size_t bound = 0;             // of those, figures that a rule ties to others (E2011), so that they cannot change alone
  double least = 0, most = 0;   // seconds; all errors together, independent of each other
};

/// Seconds of the launch on the machine in an architecture file (a name or a path).
using TimeOn = std::function<double(const std::string& arch)>;

/// Varies every real figure whose provenance is `assumed` (by a quarter) or `derived` (by a tenth), one at a
/// time. `progress` is called before each with its number and the count. Figures of power and clocks are not
/// varied.
Sensitivity sensitivity(const std::string& arch, const TimeOn& time,
                        const std::function<void(size_t, size_t)>& progress);
std::string to_text(const Sensitivity& s);

}  // namespace drywell::tools
