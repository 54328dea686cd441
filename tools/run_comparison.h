// Two JSON reports of runs side by side: what changed, by unit, stall and line (docs/inspect.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/reported_run.h"

namespace drywell::tools {

/// One quantity in both runs; 0 where a run does not have it.
struct Change {
  std::string name;
  double before = 0, after = 0;
  double difference() const { return after - before; }
};
struct LaunchComparison {
  std::string name;
  ReportedLaunch before, after;
  std::vector<Change> units, stalls, lines;  // the largest differences first, equal ones left out
  /// Cycles after over cycles before, less 1; 0 without a clock.
  double slower() const;
};
struct RunComparison {
  ReportedRun before, after;
  std::vector<std::string>
      notes;  // "the architecture is sm_100a before and sm_90a after", launches without a partner
  std::vector<LaunchComparison> launches;
  /// True if a launch is slower by more than `threshold` (0.02: 2 %), or wrong where it was not.
  bool worse_than(double threshold) const;
};

/// Launches are partners in their order among those of one name.
RunComparison compare_runs(ReportedRun before, ReportedRun after);

std::string comparison_text(const RunComparison& c, size_t most);
/// A page that needs no other file and no script.
std::string comparison_page(const RunComparison& c, size_t most);
/// Keys: docs/inspect.md.
nlohmann::ordered_json comparison_json(const RunComparison& c);

}  // namespace drywell::tools
