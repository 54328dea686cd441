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
  std::string sarif, hang_picture;
};

/// The checker of a run, if it has one, and what is told of it afterwards.
class CheckedRun {
 public:
  /// Throws UsageError for flags that make no sense.
  CheckedRun(const CheckFlags& flags, sim::RunOptions& options);
  /// At the basic level: errors, and how many warnings there are; nothing if there is nothing.
  std::string text(bool colour) const;
  /// Adds "hazards".
  void add_json(nlohmann::ordered_json& report) const;
  void write_sarif();
  /// The wait-for graph, if the run ended in a deadlock.
  void draw_hang();
  /// verification_failed if `ok` would be, and a hazard counts.
  ExitCode exit_code(ExitCode without) const;

 private:
  std::vector<sim::Finding> findings() const;

  CheckFlags flags_;
  std::optional<sim::HazardChecker> checker_;
  std::optional<PendingFile> sarif_;
};

nlohmann::ordered_json findings_json(const std::vector<sim::Finding>& findings);
std::string findings_sarif(const std::vector<sim::Finding>& findings);

}  // namespace drywell::tools
