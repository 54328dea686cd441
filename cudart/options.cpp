#include "cudart/options.h"

#include <fmt/format.h>

#include <optional>

#include "drywell/core/whole_number.h"
#include "drywell/sim/driver_words.h"

namespace drywell::cudart {
namespace {

uint64_t number(std::string_view text, std::string_view what) {
  const std::optional<uint64_t> n = whole_number<uint64_t>(text);
  if (!n.has_value()) throw InputError(Code::E4306, fmt::format("{}: '{}' is not a number", what, text));
  return *n;
}

void set(ExecOptions& o, std::string_view name, const std::string& value) {
  if (name == "arch")
    o.arch = value;
  else if (name == "driver")
    o.driver = value;
  else if (name == "kernel")
    o.kernel = value;
  else if (name == "trace")
    o.trace = value;
  else if (name == "report")
    o.report = value;
  else if (name == "dump")
    o.dump = value;
  else if (name == "check")
    o.check = value;
  else if (name == "summary")
    o.summary = value == "1";
  else if (name == "caches")
    o.caches = value;
  else if (name == "clock")
    o.clock = value;
  else if (name == "time")
    o.time = value;
  else if (name == "no-values")
    o.values = value != "1";
  else if (name == "contract")
    o.contract = value == "1";
  else if (name == "threads")
    o.threads = static_cast<unsigned>(number(value, name));
  else if (name == "max-instructions")
    o.limits.instructions = number(value, name);
  else if (name == "max-cycles")
    o.limits.cycles = number(value, name);
  else if (name == "timeout")
    o.limits.timeout = value;
  else if (name == "memory")
    o.limits.memory = value;
  else if (name == "break")
    o.break_at = parse_break(value);
  else if (name == "script")
    o.script = value;
  else if (name == "dap")
    o.dap = value;
  else if (name == "list-allocations")
    o.list_allocations = value == "1";
  else if (name == "leaks")
    o.leaks = value == "1";
  else if (name == "process")
    o.process = number(value, name);
  else if (name == "corrupt")
    o.corrupt = parse_corruption(value);
  else
    throw InputError(Code::E4306, fmt::format("{}: there is no option '{}'", kOptionsVariable, name));
}

}  // namespace

ExecOptions::Break parse_break(const std::string& text) {
  if (text == "first") return {};
  return {number(text, "--break")};
}

ExecOptions::Corruption parse_corruption(const std::string& text) try {
  const size_t plus = text.find('+');
  const std::string_view all = text;
  if (plus == std::string::npos) return {number(all, "--corrupt"), 0};
  return {number(all.substr(0, plus), "--corrupt"), number(all.substr(plus + 1), "--corrupt")};
} catch (const InputError& e) {
  throw InputError(Code::E4306, e.diagnostics().list().front().message, "N+BYTE: byte BYTE of the N-th cudaMalloc, from 0; or list");
}

namespace {

/// Values may be paths: a line feed in one does not end it.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string without_escapes(std::string_view value) {
  std::string out;
  for (size_t i = 0; i < value.size(); ++i) {
    const bool escape = value[i] == '\\' && i + 1 < value.size() && (value[i + 1] == 'n' || value[i + 1] == '\\');
    if (escape) ++i;
    out += escape && value[i] == 'n' ? '\n' : value[i];
  }
  return out;
}

}  // namespace

std::string to_environment(const ExecOptions& o) {
  std::string out;
  const auto line = [&out](std::string_view name, const auto& value) { out += fmt::format("{}={}\n", name, escaped(fmt::format("{}", value))); };
  line("arch", o.arch);
  line("driver", o.driver);
  line("caches", o.caches);
  line("clock", o.clock);
  line("time", o.time);
  line("kernel", o.kernel);
  line("trace", o.trace);
  line("report", o.report);
  line("dump", o.dump);
  line("check", o.check);
  line("summary", static_cast<int>(o.summary));
  line("threads", o.threads);
  line("max-instructions", o.limits.instructions);
  line("max-cycles", o.limits.cycles);
  line("timeout", o.limits.timeout);
  line("memory", o.limits.memory);
  if (o.break_at.has_value()) {
    line("break", o.break_at->launch.has_value() ? std::to_string(*o.break_at->launch) : "first");
    line("script", o.script);
    line("dap", o.dap);
  }
  if (o.list_allocations) line("list-allocations", 1);
  if (o.leaks) line("leaks", 1);
  if (!o.values) line("no-values", 1);
  if (o.contract) line("contract", 1);
  if (o.process != 0) line("process", o.process);
  if (o.corrupt.has_value()) line("corrupt", fmt::format("{}+{}", o.corrupt->allocation, o.corrupt->offset));
  return out;
}

ExecOptions from_environment(std::string_view text) {
  ExecOptions o;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) throw InputError(Code::E4306, fmt::format("{}: '{}' is not name=value", kOptionsVariable, line));
    set(o, line.substr(0, equals), without_escapes(line.substr(equals + 1)));
  }
  return o;
}

static std::optional<Pattern> pattern(std::string_view option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    return Pattern(text);
  } catch (const PatternError& e) {
    throw InputError(Code::E4306, fmt::format("{} {}: not a regular expression: {}", option, text, e.what()));
  }
}

std::optional<Pattern> kernel_filter(const ExecOptions& o) { return pattern("--kernel", o.kernel); }
std::optional<Pattern> time_filter(const ExecOptions& o) { return pattern("--time", o.time); }

// A program computes on what its kernels leave: without values only kernels that are timed can be asked for.
static void expect_a_clock(const ExecOptions& o, bool timed) {
  if (timed && !o.time.empty()) {
    throw InputError(Code::E4306, "--time names the kernels that are timed, --driver=timed times all", "give one of them; with --time, --driver is that of the other kernels");
  }
  if (!o.values && !timed && o.time.empty()) throw InputError(Code::E4306, "--no-values is for timed launches", "give --driver=timed or --time=REGEX");
}

std::optional<sim::CheckLevel> check_level(const ExecOptions& o) {
  if (o.check == "off") return std::nullopt;
  if (o.check == "basic") return sim::CheckLevel::basic;
  if (o.check == "full") return sim::CheckLevel::full;
  throw InputError(Code::E4306, fmt::format("--check={}: off, basic or full", o.check));
}

sim::RunOptions run_options(const ExecOptions& o) {
  sim::RunOptions r;
  sim::parse_driver(o.driver, r);
  if (check_level(o).has_value() && sim::parts_lanes(r)) throw InputError(Code::E4306, "--check is not for --driver=parted: the checker follows warps as wholes", "its verdicts do not depend on the schedule: check under another driver");
  r.threads = o.threads;
  const sim::DriverKind of_most = r.driver;
  if (!o.time.empty()) r.driver = sim::DriverKind::timed;  // --max-cycles has a meaning
  sim::set_limits_of_driver(o.limits, r);
  r.driver = of_most;
  r.caches = sim::parse_caches(o.caches);
  r.clock = sim::parse_clock(o.clock);
  r.values = o.values || of_most != sim::DriverKind::timed;
  expect_a_clock(o, of_most == sim::DriverKind::timed);
  return r;
}

}  // namespace drywell::cudart
