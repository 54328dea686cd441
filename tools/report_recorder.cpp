#include "tools/report_recorder.h"

#include <algorithm>

namespace drywell::tools {
namespace {

/// A page of some megabytes, whatever the number of CTAs.
size_t spans_of(size_t ctas) { return std::max<size_t>(2000, 24000 / ctas); }

}  // namespace

ReportRecorder::ReportRecorder(const std::vector<Dim3>& ctas, sim::RunOptions& options) {
  options.listeners.push_back(costs_.listener());
  for (const Dim3& cta : ctas) options.listeners.push_back(timelines_.emplace_back(cta, spans_of(ctas.size())).listener());
}

HtmlLaunch ReportRecorder::launch(size_t i, std::string name, std::string config, const sim::TimingReport& timing) const {
  HtmlLaunch l{std::move(name), std::move(config), timing, costs_.launches().at(i), {}};
  for (const sim::TimelineRecorder& t : timelines_) l.timelines.push_back(&t.timelines().at(i));
  return l;
}

}  // namespace drywell::tools
