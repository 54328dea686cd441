// JSON reports of runs, as `drywell compare` reads them (docs/schemas).
#pragma once

#include <map>
#include <string>
#include <string_view>
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

/// Reads the text of a report of `drywell run --json` or `drywell exec --report=FILE.json`; `file` is its name in messages. Throws
/// InputError E4001 if it is neither: what is there has the type that the schemas give it, and numbers are from 0 to 2^53.
ReportedRun parse_report(std::string_view text, const std::string& file);
/// The same of a file.
ReportedRun read_report(const std::string& file);

}  // namespace drywell::tools
