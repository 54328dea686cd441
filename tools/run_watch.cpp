#include "tools/run_watch.h"

namespace drywell::tools {

RunWatch::RunWatch(const RunFlags& f, RunOutputs& outputs, const std::string& words, sim::RunOptions& options) : outputs_(outputs) {
  if (outputs.trace().has_value()) options.listeners.push_back(trace_.emplace(*outputs.trace(), trace_options(f, options, words)).listener());
  if (!f.report.empty()) report_.emplace(report_ctas(f), options);
}

void RunWatch::finish_trace(const sim::RunResult& r) {
  if (trace_.has_value()) trace_->finish(r);
}

void RunWatch::commit_trace() {
  if (trace_.has_value()) outputs_.trace()->commit();
}

bool is_unwatched_deadlock(const sim::RunResult& r, const sim::RunOptions& options) {
  return !r.ok() && r.fault->code == Code::F3601 && options.listeners.empty();
}

ExitCode exit_code_of(ExitCode first, const std::optional<Exploration>& others, const CheckedRun& check) {
  if (others.has_value() && others->ended.has_value()) return ExitCode::guest_fault;
  const bool differs = others.has_value() && others->seed.has_value() && first == ExitCode::ok;
  return check.exit_code(differs ? ExitCode::verification_failed : first);
}

}  // namespace drywell::tools
