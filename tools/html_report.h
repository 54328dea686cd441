// Timed launches as one self-contained HTML page: time, limits, roofline, occupancy, units, stalls, lines with their instructions, hazards,
// and the timelines of CTAs.
#pragma once

#include <string>
#include <vector>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/check.h"
#include "drywell/sim/inspect/cost_recorder.h"
#include "drywell/sim/inspect/timeline.h"
#include "drywell/sim/report.h"

namespace drywell::tools {

struct HtmlLaunch {
  std::string name;    // "gemm", or of a kernel of the table its shape
  std::string launch;  // "grid 148, block 256"
  const sim::TimingReport& timing;
  const sim::LaunchCosts& costs;
  std::vector<const sim::Timeline*> timelines;
};

struct HtmlReport {
  std::string title;     // "fused-rht  8192 x 5120 bf16 -> …"
  std::string verified;  // result of the verification; may be empty
  const sim::ArchConfig& arch;
  std::vector<HtmlLaunch> launches;   // at least one
  std::vector<sim::Finding> hazards;  // of all launches
  bool checked = false;               // hazards were looked for
};

std::string html_report(const HtmlReport& r);

/// The page around the data: style and body, and the two parts of the script.
extern const char* const kReportHead;
extern const char* const kReportTail;
extern const char* const kReportTimeline;

}  // namespace drywell::tools
