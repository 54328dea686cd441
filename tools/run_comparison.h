// Two JSON reports of runs side by side: what changed, by unit, stall and line (docs/inspect.md).
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace drywell::tools {

/// What a report says of one launch.
struct ReportedLaunch {
  std::string name;
  double cycles = 0;                     // 0: the driver has no clock
  std::string limit;                     // the binding one; may be empty
  double limit_fraction = 0;             // of the limit that the run reaches
  double instructions = 0;               // of warps
  std::map<std::string, double> units;   // utilisation, 0 to 1
  std::map<std::string, double> stalls;  // "role: reason" -> warp cycles
  std::map<std::string, double> lines;   // "file:line" -> warp cycles
  bool wrong = false;                    // a fault, a failed verification or hazards
};
struct ReportedRun {
  std::string name, arch, driver;
  std::vector<ReportedLaunch> launches;
};

/// Reads a report of `drywell run --json` or `drywell exec --report=FILE.json`. Throws InputError E4001 if
/// the file is neither.
ReportedRun read_report(const std::string& file);

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
