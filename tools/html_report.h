// The timed run as one self-contained HTML page: time, limits, units, stalls, lines, and the timeline of one CTA.
#pragma once

#include <string>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/device.h"
#include "drywell/sim/inspect/timeline.h"

namespace drywell::tools {

struct HtmlReport {
  std::string title;     // "fused-rht  8192 x 5120 bf16 -> …"
  std::string launch;    // "grid 148, block 256"
  std::string verified;  // result of the verification; may be empty
  const sim::ArchConfig& arch;
  const sim::RunResult& run;  // with a timing report
  const sim::Timeline& timeline;
};

std::string html_report(const HtmlReport& r);

/// The page around the data: the text before and after it.
extern const char* const kReportHead;
extern const char* const kReportTail;

}  // namespace drywell::tools
