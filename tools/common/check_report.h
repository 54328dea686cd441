// Hazards found by a checked run: for people, as JSON, and as SARIF 2.1.0 for code hosts.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/files.h"
#include "drywell/sim/check.h"
#include "drywell/sim/device.h"

namespace drywell::tools {

/// --check, --strict, --sarif, --hang-picture.
struct CheckFlags {
  std::string level = "basic";  // off, basic or full
  bool strict = false;
  bool all = false;  // not at most a screen of them
  std::string sarif, hang_picture;
};

/// The hazard checker of a run, if it has one, and its reports.
class CheckedRun {
 public:
  /// Throws UsageError for flags that contradict each other.
  CheckedRun(const CheckFlags& flags, sim::RunOptions& options);
  /// Returns the findings; at the basic level without errors only the number of warnings, empty if there are none.
  std::string text(bool colour) const;
  /// Adds "hazards".
  void add_json(nlohmann::ordered_json& report) const;
  void write_sarif();
  /// Writes the wait-for graph if the run ended in a deadlock.
  void draw_hang();
  /// Returns verification_failed if `without` is ok and a hazard counts, else `without`.
  ExitCode exit_code(ExitCode without) const;
  /// Without a checker none.
  std::vector<sim::Finding> findings() const;
  bool has_checker() const { return checker_.has_value(); }

 private:
  CheckFlags flags_;
  std::optional<sim::HazardChecker> checker_;
  std::optional<PendingFile> sarif_;
};

nlohmann::ordered_json findings_json(const std::vector<sim::Finding>& findings);
/// `full`: without it, a notification says what was not followed.
std::string findings_sarif(const std::vector<sim::Finding>& findings, bool full);

}  // namespace drywell::tools
