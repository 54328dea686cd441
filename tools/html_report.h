// The timed run as one HTML page that needs nothing else: time, limits, units, stalls, lines, and what one CTA did when.
#pragma once

#include <string>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/device.h"
#include "drywell/sim/inspect/timeline.h"

namespace drywell::tools {

struct HtmlReport {
  std::string title;     // "fused-rht  8192 x 5120 bf16 -> …"
  std::string launch;    // "grid 148, block 256"
  std::string verified;  // what is known of the values; may be empty
  const sim::ArchConfig& arch;
  const sim::RunResult& run;  // with a timing report
  const sim::Timeline& timeline;
};

std::string html_report(const HtmlReport& r);

/// The page around the data: everything before and after it.
extern const char* const kReportHead;
extern const char* const kReportTail;

}  // namespace drywell::tools
