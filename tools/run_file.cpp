// drywell run on a PTX or launch file.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "drywell/core/terminal.h"
#include "drywell/sim/inspect/progress_line.h"
#include "drywell/sim/report.h"
#include "launch/golden.h"
#include "tools/common/command_guard.h"
#include "tools/common/output_file.h"
#include "tools/common/parameters.h"
#include "tools/common/report_parts.h"
#include "tools/common/run_flags.h"
#include "tools/common/terminal_width.h"
#include "tools/run_watch.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::ordered_json;
using kernels::PlanResult;

struct FileRun {
  const RunFlags& flags;
  const sim::ArchConfig& arch;
  const sim::RunOptions& options;
  const PlanResult& result;
  const CheckedRun& check;
  const std::optional<Exploration>& exploration;
  bool finished() const { return result.runs.empty() || result.runs.back().ok(); }
};

std::string verification(const FileRun& d, bool colour) {
  if (!d.finished()) return paint("not verified: the kernel faulted", Colour::yellow, colour);
  if (d.result.comparisons.empty()) return paint("not verified", Colour::yellow, colour) + " (--expect NAME=FILE.npy compares)";
  std::string out;
  for (const kernels::BufferComparison& c : d.result.comparisons) {
    if (!out.empty()) out += "; ";
    out += c.mismatches == 0 ? fmt::format("{}: {}, {} values", paint("verified", Colour::green, colour), c.buffer, with_commas(c.compared))
                             : fmt::format("{}: {}, {} of {} values differ; first {}", paint("WRONG", Colour::red, colour), c.buffer,
                                           with_commas(c.mismatches), with_commas(c.compared), c.first);
  }
  return out;
}

/// What the kernels printed.
std::string printed(const FileRun& d, bool colour) {
  std::string out;
  for (const sim::RunResult& r : d.result.runs) {
    out += r.output;
    if (!r.output.empty() && !r.output.ends_with('\n')) out += '\n';
    if (r.output_truncated) out += paint("(the rest of the kernel's output was dropped)\n", Colour::dim, colour);
  }
  return out;
}

std::string summary(const FileRun& d, bool colour) {
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) { out += fmt::format("  {:<13} {}\n", name, text); };
  out += paint(d.flags.subject, Colour::bold, colour) + "\n";
  line("result", verification(d, colour));
  line("machine", fmt::format("{} ({}), driver {}", d.arch.name, d.arch.description, kernels::print_driver(d.options)));
  if (d.exploration.has_value()) line("explored", d.exploration->text());
  for (size_t i = 0; i < d.result.runs.size(); ++i) {
    const sim::RunResult& r = d.result.runs[i];
    line("launch", fmt::format("{}: {}", d.result.launches[i].entry, describe_launch(d.result.launches[i].config)));
    line("simulated", describe_speed(r));
    if (r.cycles != 0) line("cycles", fmt::format("{} = {:.2f} us at {:.4g} GHz", with_commas(r.cycles), simulated_time(r, d.arch).seconds * 1e6, simulated_time(r, d.arch).clock_ghz));
  }
  out += d.check.text(colour);
  for (size_t i = 0; i < d.result.runs.size(); ++i) {
    const sim::RunResult& r = d.result.runs[i];
    if (r.timing != nullptr) {
      if (d.result.runs.size() > 1) out += fmt::format("\n{}\n", paint(fmt::format("launch {}: {}", i + 1, d.result.launches[i].entry), Colour::bold, colour));
      out += "\n" + sim::to_text(*r.timing);
    }
    if (r.fault.has_value()) out += fmt::format("\n{}\n", paint(r.fault->to_string(), Colour::red, colour));
  }
  return out;
}

Json verify_json(const FileRun& d) {
  uint64_t compared = 0, mismatches = 0;
  Json first, buffers = Json::object();
  for (const kernels::BufferComparison& c : d.result.comparisons) {
    compared += c.compared;
    mismatches += c.mismatches;
    if (first.is_null() && c.mismatches != 0) first = c.buffer + c.first;
    buffers[c.buffer] = {{"compared", c.compared}, {"mismatches", c.mismatches}};
  }
  Json j = {{"status", d.result.comparisons.empty() ? "not-run" : mismatches == 0 ? "passed"
                                                                                  : "failed"},
            {"compared", compared},
            {"mismatches", mismatches}};
  if (!first.is_null()) j["first_mismatch"] = first;
  j["buffers"] = std::move(buffers);
  return j;
}

Json launch_report(const FileRun& d, size_t i) {
  const sim::RunResult& r = d.result.runs[i];
  Json j = {{"entry", d.result.launches[i].entry}};
  j.update(launch_json(d.result.launches[i].config));
  const bool timed = r.cycles != 0;
  j["cycles"] = timed ? Json(r.cycles) : Json(nullptr);
  j["seconds"] = timed ? Json(simulated_time(r, d.arch).seconds) : Json(nullptr);
  j["warp_instructions"] = r.warp_instructions;
  j["fault"] = fault_json(r);
  j["output"] = r.output;
  add_timing(r, j);
  return j;
}

std::string json_report(const FileRun& d) {
  Json j;
  j["drywell"] = DRYWELL_VERSION;
  j["file"] = d.flags.subject;
  j["arch"] = d.arch.name;
  j["driver"] = kernels::print_driver(d.options);
  j["verify"] = verify_json(d);
  j["launches"] = Json::array();
  d.check.add_json(j);
  if (d.exploration.has_value()) j["explored"] = d.exploration->json();
  double seconds = 0;
  for (size_t i = 0; i < d.result.runs.size(); ++i) {
    j["launches"].push_back(launch_report(d, i));
    seconds += d.result.runs[i].host_seconds;
  }
  j["host"] = host_json(seconds);
  return print_json(j);
}

/// Returns the difference between a run under another schedule and the first run; empty if there is none.
std::string difference(const PlanResult& first, const PlanResult& r) {
  if (!r.runs.empty() && !r.runs.back().ok()) return r.runs.back().fault->to_string();
  for (const kernels::BufferComparison& c : r.comparisons) {
    if (c.mismatches != 0) return fmt::format("{}: {} of {} values are wrong; first {}", c.buffer, c.mismatches, c.compared, c.first);
  }
  for (size_t i = 0; i < first.buffers.size(); ++i) {
    if (r.buffers.at(i).bytes != first.buffers[i].bytes) return fmt::format("'{}' differs from the first run's", first.buffers[i].name);
  }
  return {};
}

ExitCode exit_code(const PlanResult& r) {
  for (const sim::RunResult& run : r.runs) {
    if (!run.ok()) return fault_exit(run);
  }
  return r.ok() ? ExitCode::ok : ExitCode::verification_failed;
}

/// A run's outputs are neither its inputs nor each other.
void check_files(const RunFlags& f, const kernels::LaunchPlan& plan) {
  CommandFiles files("run");
  read_run_inputs(f, files);
  write_run_outputs(f, files);
  for (const auto& [name, path] : plan.saves) files.writes("what is saved of " + name, path);
}

void expect_flags_of_files(const RunFlags& f, const std::vector<std::string>& words) {
  expect_no_parameters(words, "run");
  if (!f.input.empty()) throw UsageError(f.subject.ends_with(".toml") ? "--input is for kernels of the table; a launch file names its buffers' files itself" : "--input is for kernels of the table; a PTX file's buffers are given with --buffer", "run");
}

/// The runs of one plan, each on a device of its own but the first.
class PlanRuns {
 public:
  PlanRuns(const kernels::LaunchPlan& plan, sim::DeviceOptions machine, kernels::PlanOptions& options)
      : plan_(plan), machine_(std::move(machine)), device_(machine_), options_(options) {}

  const sim::ArchConfig& arch() const { return device_.arch(); }

  PlanResult first() {
    PlanResult result = with_progress();
    if (!result.runs.empty() && is_unwatched_deadlock(result.runs.back(), options_.run)) result = watched();
    return result;
  }

  Exploration explored(uint64_t schedules, const PlanResult& first) const {
    return explore(schedules, options_.run, [&](const sim::RunOptions& o) {
      kernels::SimulatedDevice again(machine_);
      const PlanResult r = kernels::run_plan(plan_, again, {o, {}});
      if (!r.runs.empty()) sim::expect_within_limits(r.runs.back());
      return difference(first, r);
    });
  }

 private:
  PlanResult with_progress() {
    sim::ProgressLine line(*options_.run.progress);
    line.phase("running");
    return kernels::run_plan(plan_, device_, options_);
  }

  PlanResult watched() const {
    sim::HazardChecker watcher;
    kernels::SimulatedDevice again(machine_);
    kernels::PlanOptions options = options_;
    options.run.listeners = {watcher.listener()};
    return kernels::run_plan(plan_, again, options);
  }

  const kernels::LaunchPlan& plan_;
  sim::DeviceOptions machine_;
  kernels::SimulatedDevice device_;
  kernels::PlanOptions& options_;
};

/// The page of --report: all launches that have a time account.
void write_page(RunOutputs& outputs, const ReportRecorder& recorder, const RunFlags& f, const PlanResult& result, const CheckedRun& check, const sim::ArchConfig& arch) {
  HtmlReport page{f.subject, "", arch, {}, check.findings(), check.has_checker()};
  for (size_t i = 0; i < std::min(result.runs.size(), recorder.size()); ++i) {
    if (result.runs[i].timing == nullptr) continue;
    const auto& l = result.launches[i];
    page.launches.push_back(recorder.launch(i, l.entry, describe_launch(l.config), *result.runs[i].timing));
  }
  if (!page.launches.empty()) outputs.report(html_report(page));
}

}  // namespace

ExitCode run_file(const CommandContext& c, const RunFlags& given, const std::vector<std::string>& words) {
  RunFlags f = given;
  expect_flags_of_files(f, words);
  kernels::PlanOptions options;
  options.run = run_options(f);
  const CommandGuard guard(options.run);
  const kernels::LaunchPlan plan = make_plan(f);
  if (f.verify && plan.expects.empty()) throw UsageError("--verify: the launch has no expected result; give one with --expect NAME=FILE.npy", "run");
  check_files(f, plan);
  f.arch = machine_of(given);
  PlanRuns runs(plan, {.arch = f.arch, .max_memory = options.run.max_memory, .contract = f.contract}, options);

  RunOutputs outputs(f);
  CheckedRun check(f.check, options.run);
  for (const auto& [name, path] : plan.saves) const PendingFile probe(path);
  RunWatch watch(f, outputs, {}, options.run);
  if (!f.trace.empty()) options.launched = [&](const sim::RunResult& r) { watch.finish_trace(r); };
  const PlanResult result = runs.first();
  if (!result.warnings.empty()) print_error(result.warnings.to_string() + "\n");
  watch.commit_trace();
  if (watch.report() != nullptr) write_page(outputs, *watch.report(), f, result, check, runs.arch());
  std::optional<Exploration> exploration;
  if (f.explore != 0 && exit_code(result) == ExitCode::ok) exploration = runs.explored(f.explore, result);
  const FileRun d{f, runs.arch(), options.run, result, check, exploration};
  if (d.finished()) kernels::save_buffers(plan, result);
  const std::string json = f.json.empty() ? "" : json_report(d);
  outputs.json(json);
  check.write_sarif();
  check.draw_hang();
  print(f.json == "-" ? json : printed(d, c.colour_out) + fitted(summary(d, c.colour_out), terminal_columns()));
  return exit_code_of(exit_code(result), exploration, check);
}

}  // namespace drywell::tools
