// What `--report` records of a run's launches beside their time accounts.
#pragma once

#include <deque>

#include "drywell/sim/device.h"
#include "tools/html_report.h"

namespace drywell::tools {

class ReportRecorder {
 public:
  /// Attaches its listeners; `ctas`: whose timelines, at least one.
  ReportRecorder(const std::vector<Dim3>& ctas, sim::RunOptions& options);
  /// Of launch `i`. Throws std::out_of_range if it did not finish.
  HtmlLaunch launch(size_t i, std::string name, std::string config, const sim::TimingReport& timing) const;
  /// Launches that finished.
  size_t size() const { return costs_.launches().size(); }

 private:
  sim::CostRecorder costs_;
  std::deque<sim::TimelineRecorder> timelines_;
};

}  // namespace drywell::tools
