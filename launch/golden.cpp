#include "launch/golden.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "drywell/core/text.h"
#include "drywell/launch/kernel_library.h"
#include "launch/plan.h"

namespace drywell::kernels {

std::string kernel_word(const std::string& subject, const Kernel& kernel, const std::string& trace) {
  if (!names_a_library(subject)) return std::string(kernel.name);
  return std::filesystem::relative(std::filesystem::absolute(subject), std::filesystem::absolute(trace).parent_path()).string();
}

RunSpec RunSpec::parse(std::string_view words, std::span<const Kernel> kernels, const std::string& folder) {
  RunSpec spec;
  std::vector<std::pair<std::string, std::string>> given;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(words.size(), end + 1));
    if (word.empty()) continue;
    if (spec.kernel == nullptr) {
      spec.kernel = &find_kernel(kernels, names_a_library(word) ? (std::filesystem::path(folder) / word).string() : std::string(word));
      continue;
    }
    if (!word.starts_with("--") || word.find('=') == std::string_view::npos)
      throw InputError(Code::E4307, fmt::format("'{}' is not --name=value", word));
    const std::string_view name = word.substr(2, word.find('=') - 2), value = word.substr(word.find('=') + 1);
    if (name == "driver") {
      parse_driver(value, spec.context.options);
    } else if (name == "arch") {
      spec.context.arch = value;
    } else {
      given.emplace_back(name, value);
    }
  }
  if (spec.kernel == nullptr) throw InputError(Code::E4307, "no kernel is named");
  spec.context.params = Params(spec.kernel->name, spec.kernel->parameters, given);
  return spec;
}

namespace {

/// Arguments of a launch file's run: its name and the words after it.
struct LaunchRun {
  std::string path, arch = "sm_100a";
  sim::RunOptions options;
};

LaunchRun parse_launch_run(std::string_view words, const std::string& folder) {
  LaunchRun r;
  size_t at = std::min(words.find(" --"), words.size());
  r.path = words.substr(kLaunchWord.size(), at - kLaunchWord.size());
  if (!folder.empty() && !r.path.starts_with('/')) r.path = folder + "/" + r.path;
  while (at < words.size()) {
    words.remove_prefix(at + 1);
    at = std::min(words.find(" --"), words.size());
    const std::string_view word = words.substr(0, at);
    if (word.starts_with("--driver=")) parse_driver(word.substr(9), r.options);
    else if (word.starts_with("--arch=")) r.arch = word.substr(7);
    else throw InputError(Code::E4307, fmt::format("'{}' is not --driver=… or --arch=…", word));
  }
  return r;
}

/// The text without the name of a folder: a golden trace is the same in every checkout.
std::string without_folder(std::string text, const std::filesystem::path& folder) {
  const std::string name = std::filesystem::weakly_canonical(folder.empty() ? "." : folder).string() + "/";
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) text.erase(at, name.size());
  return text;
}

/// The fault at the end of a trace: "F3001 …", or nothing.
std::string_view fault_of(std::string_view trace) {
  const size_t at = trace.rfind(" F F");
  if (at == std::string_view::npos || trace.substr(trace.rfind('\n', at) + 1).starts_with('#')) return {};
  return trace.substr(at + 3, trace.find('\n', at) - at - 3);
}

void record_launch(LaunchRun r, sim::TraceWriter& writer) {
  SimulatedDevice device({.arch = r.arch, .max_memory = r.options.max_memory});
  r.options.listeners.push_back(writer.listener());
  const auto finish = [&](const sim::RunResult& run) {
    sim::expect_within_limits(run);
    writer.finish(run);
  };
  run_plan(read_launch_file(r.path), device, {r.options, finish});
}

}  // namespace

std::string record_again(const sim::TraceHeader& header, std::span<const Kernel> kernels, const sim::RunOptions& limits, const std::string& folder) {
  if (header.run.empty()) throw InputError(Code::E4203, "the trace's header names no run");
  sim::TraceText text;
  if (header.run.starts_with(kLaunchWord)) {
    LaunchRun r = parse_launch_run(header.run, folder);
    sim::copy_limits(limits, r.options);
    sim::TraceWriter writer(text, {header.profile, header.values, header.run, r.arch, r.options.seed});
    const std::filesystem::path launch_folder = std::filesystem::path(r.path).parent_path();
    record_launch(std::move(r), writer);
    return without_folder(std::move(text.text), launch_folder);
  }
  RunSpec spec = RunSpec::parse(header.run, kernels, folder);
  sim::copy_limits(limits, spec.context.options);
  sim::TraceWriter writer(
      text, {header.profile, header.values, header.run, spec.context.arch, spec.context.options.seed});
  spec.context.options.listeners.push_back(writer.listener());
  const sim::RunResult run = spec.kernel->run(spec.context).run;
  sim::expect_within_limits(run);
  writer.finish(run);
  return std::move(text.text);
}

std::vector<std::string> golden_files(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& e : fs::recursive_directory_iterator(path)) {
      const std::string name = e.path().string();
      if (e.is_regular_file() && (name.ends_with(".trace") || name.ends_with(".trace.zst"))) found.push_back(name);
    }
    if (found.empty()) throw InputError(Code::E4001, fmt::format("{}: holds no .trace or .trace.zst", path));
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

GoldenResult check_golden(const std::string& path, std::span<const Kernel> kernels, const sim::RunOptions& limits, uint64_t cycle_tolerance, bool write) {
  GoldenResult r{.path = path};
  const auto start = std::chrono::steady_clock::now();
  try {
    const std::string old = sim::read_trace(path), now = record_again(sim::parse_trace_header(old, path), kernels, limits, std::filesystem::path(path).parent_path().string());
    const sim::TraceDiff d = sim::diff_traces(old, now, {path, "now", cycle_tolerance});
    r.records = d.records;
    r.equal = d.equal();
    r.message = d.message;
    // A golden trace is of a run that is right. One that ended in a fault before may end in one again.
    if (write && !fault_of(now).empty() && fault_of(old).empty()) {
      r.failed_to_run = true;
      r.message = fmt::format("not written: the run ended in a fault: {}", fault_of(now));
      return r;
    }
    // Changed source lines do not count as a difference, but bless updates them too.
    if (write && now != old) {
      sim::TraceFile file(path);
      file.write(now);
      file.commit();
      r.written = true;
    }
  } catch (const InputError& e) {
    r.failed_to_run = true;
    r.message = e.what();
  }
  r.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return r;
}

std::string golden_junit(const std::vector<GoldenResult>& results) {
  const auto escaped = [](std::string_view s) {
    std::string out;
    for (const char c : s) {
      if (c == '&') out += "&amp;";
      else if (c == '<') out += "&lt;";
      else if (c == '>') out += "&gt;";
      else if (c == '"') out += "&quot;";
      else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n') out += c;
    }
    return out;
  };
  size_t failures = 0, errors = 0;
  double seconds = 0;
  std::string cases;
  for (const GoldenResult& r : results) {
    seconds += r.host_seconds;
    cases += fmt::format("  <testcase classname=\"drywell.trace\" name=\"{}\" time=\"{:.3f}\"", escaped(r.path), r.host_seconds);
    if (r.equal) {
      cases += "/>\n";
      continue;
    }
    ++(r.failed_to_run ? errors : failures);
    const char* tag = r.failed_to_run ? "error" : "failure";
    cases += fmt::format(">\n    <{0} type=\"{3}\" message=\"{1}\">{2}</{0}>\n  </testcase>\n", tag, escaped(r.message.substr(0, r.message.find('\n'))), escaped(r.message), r.failed_to_run ? "cannot be run" : "differs");
  }
  // What Ant's schema of these reports requires (JUnit.xsd): a host, a time in UTC and empty output, too.
  const std::time_t now = std::time(nullptr);
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"drywell traces\" timestamp=\"{:%Y-%m-%dT%H:%M:%S}\" hostname=\"localhost\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n  <properties/>\n{}  <system-out/>\n  <system-err/>\n</testsuite>\n",
                     fmt::gmtime(now), results.size(), failures, errors, seconds, cases);
}

}  // namespace drywell::kernels
