// What observes a run of `drywell run` beside the checker: the writer of its trace and the recorder of its report.
#pragma once

#include <optional>
#include <string>

#include "drywell/sim/trace.h"
#include "tools/common/check_report.h"
#include "tools/common/run_flags.h"
#include "tools/explore.h"
#include "tools/report_recorder.h"

namespace drywell::tools {

class RunWatch {
 public:
  /// Adds its listeners to `options`. `words`: what repeats the run, for the trace's header; empty if nothing can.
  RunWatch(const RunFlags& f, RunOutputs& outputs, const std::string& words, sim::RunOptions& options);

  void finish_trace(const sim::RunResult& r);
  void commit_trace();
  /// What was recorded for --report; nullptr without it.
  const ReportRecorder* report() const { return report_.has_value() ? &*report_ : nullptr; }

 private:
  RunOutputs& outputs_;
  std::optional<sim::TraceWriter> trace_;
  std::optional<ReportRecorder> report_;
};

/// A deadlock that nobody watched: repeated with the hazard checker, its fault names the missing release of each wait.
bool is_unwatched_deadlock(const sim::RunResult& r, const sim::RunOptions& options);

/// The command's exit code, from the first run's (`first`), the other schedules' and the checker's.
ExitCode exit_code_of(ExitCode first, const std::optional<Exploration>& others, const CheckedRun& check);

}  // namespace drywell::tools
