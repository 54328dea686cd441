#include "drywell/sim/limit_words.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "drywell/core/error.h"
#include "drywell/core/sizes.h"

namespace drywell::sim {
namespace {

constexpr double kMostSeconds = 1e9;  // thirty years

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit kUnits[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};

/// Reads the number that `text` begins with; the rest stays.
template <class T>
bool take_number(std::string_view& text, T& n) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return error == std::errc();
}

[[noreturn]] void refuse(std::string_view what, std::string_view text, const char* hint) {
  throw InputError(Code::E4308, fmt::format("'{}' is not {}", text, what), hint);
}

/// 1024 to the power that a unit of bytes stands for; 0 if there is no such unit.
uint64_t bytes_of_unit(std::string_view unit) {
  constexpr std::string_view kLetters = "KMGT";
  if (unit.empty() || unit == "B") return 1;
  const size_t power = kLetters.find(unit[0]);
  const std::string_view rest = unit.substr(1);
  return power != std::string_view::npos && (rest.empty() || rest == "B" || rest == "iB")
             ? uint64_t{1} << (10 * (power + 1))
             : 0;
}

}  // namespace

double parse_seconds(std::string_view text) {
  std::string_view rest = text;
  double n = 0;
  if (take_number(rest, n) && std::isfinite(n) && n >= 0) {
    for (const Unit& u : kUnits) {
      if (rest == u.name) return std::min(n * u.seconds, kMostSeconds);
    }
  }
  refuse("a time", text, "seconds, or a number with s, m or h: 90, 0.5, 5m");
}

uint64_t parse_bytes(std::string_view text) {
  std::string_view rest = text;
  uint64_t n = 0;
  const bool number = take_number(rest, n);
  const uint64_t bytes = size_product(n, bytes_of_unit(rest));
  if (!number || bytes == kBeyondCounting || (bytes == 0 && n != 0))
    refuse("an amount of memory", text, "bytes, or a number with K, M, G or T: 512M, 8G");
  return bytes;
}

void set_limits(const RunLimits& limits, RunOptions& options) {
  options.max_instructions = limits.instructions;
  options.max_cycles = limits.cycles;
  options.max_memory = limits.memory.empty() ? 0 : parse_bytes(limits.memory);
  const double seconds = limits.timeout.empty() ? 0 : parse_seconds(limits.timeout);
  if (seconds == 0) return;
  using Clock = std::chrono::steady_clock;
  options.deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void copy_limits(const RunOptions& from, RunOptions& to) {
  to.max_instructions = from.max_instructions;
  to.max_cycles = from.max_cycles;
  to.deadline = from.deadline;
  to.progress = from.progress;
  to.max_memory = from.max_memory;
}

void expect_within_limits(const RunResult& r) {
  if (!r.fault.has_value()) return;
  for (const Code c : {Code::F3602, Code::F3604, Code::F3605, Code::F3606}) {
    if (r.fault->code == c) throw InputError(c, r.fault->message);
  }
}

void set_limits_of_driver(const RunLimits& limits, RunOptions& options) {
  if (limits.cycles != 0 && options.driver != DriverKind::timed)
    throw InputError(Code::E4308, "--max-cycles needs --driver=timed: other drivers have no clock");
  set_limits(limits, options);
}

}  // namespace drywell::sim
