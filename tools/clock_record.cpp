#include "tools/clock_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "drywell/core/error.h"
#include "drywell/core/whole_number.h"

namespace drywell::tools {
namespace {

constexpr std::string_view kWordsLabel = "== ", kGpuLabel = "  clock, GPU ", kTimedLabel = "  clock, timed ", kCyclesUnit = " cycles";
constexpr double kMostCycles = 0x1p53;  // up to here a double has every whole number

[[noreturn]] void refuse(const std::string& name, size_t line, const std::string& why) {
  throw InputError(Code::E4506, fmt::format("{}:{}: {}", name, line, why), "a record is '== WORDS' and what `drywell device run KERNEL WORDS --clock=N` printed");
}

size_t figure_at(std::string_view line, std::string_view label) { return std::min(line.find_first_not_of(' ', label.size()), line.size()); }

/// The figure behind a label, if a whole number of cycles is there.
std::optional<double> cycles_at(std::string_view line, size_t at) {
  const std::string_view digits = line.substr(at, std::min(line.find_first_not_of("0123456789", at), line.size()) - at);
  if (digits.empty() || !line.substr(at + digits.size()).starts_with(kCyclesUnit)) return std::nullopt;
  const std::optional<double> cycles = whole_number<double>(digits);
  return cycles.has_value() && *cycles > 0 && *cycles <= kMostCycles ? cycles : std::nullopt;
}

double cycles_of(std::string_view line, std::string_view label, const std::string& name, size_t number) {
  if (const std::optional<double> cycles = cycles_at(line, figure_at(line, label)); cycles.has_value()) return *cycles;
  refuse(name, number, fmt::format("no number of cycles from 1 to 2^53 is behind '{}'", label));
}

/// Replaces the figures of a record, line by line.
class Renewal {
 public:
  Renewal(const std::string& name, const ClockAgain& clock_again) : name_(name), clock_again_(clock_again) {}

  void add(std::string_view line) {
    ++number_;
    std::visit([&](const auto& l) { take(l, line); }, parse_clock_line(line, name_, number_));
  }
  RenewedRecord finish() && {
    if (out_.figures == 0) refuse(name_, number_, "no line 'clock, timed' up to here, where the record ends");
    return std::move(out_);
  }

 private:
  void keep(std::string_view line) { (out_.text += line) += '\n'; }
  void take(const OtherLine&, std::string_view line) { keep(line); }
  void take(const WordsLine& l, std::string_view line) {
    simulated_ = clock_again_(std::string(l.words));
    launch_ = 0;
    keep(line);
  }
  void take(const GpuClockLine& l, std::string_view line) {
    gpu_ = l.cycles;
    keep(line);
  }
  void take(const TimedClockLine& l, std::string_view line) {
    if (launch_ >= simulated_.size() || gpu_ == 0) refuse(name_, number_, "no launch and GPU figure belong to this line");
    const std::string now = std::string(l.head) + clock_text(simulated_[launch_++], gpu_);
    ++out_.figures;
    out_.changed += now != line ? 1 : 0;
    keep(now);
  }

  const std::string& name_;
  const ClockAgain& clock_again_;
  std::vector<double> simulated_;
  double gpu_ = 0;
  size_t launch_ = 0, number_ = 0;
  RenewedRecord out_;
};

}  // namespace

std::string clock_text(double simulated_cycles, double gpu_cycles) {
  return fmt::format("{:.0f} cycles, {:+.1f} %", simulated_cycles, 100 * (simulated_cycles / gpu_cycles - 1));
}

ClockLine parse_clock_line(std::string_view line, const std::string& name, size_t number) {
  if (line.starts_with(kWordsLabel)) return WordsLine{line.substr(kWordsLabel.size())};
  if (line.starts_with(kGpuLabel)) return GpuClockLine{cycles_of(line, kGpuLabel, name, number)};
  if (!line.starts_with(kTimedLabel)) return OtherLine{};
  cycles_of(line, kTimedLabel, name, number);
  return TimedClockLine{line.substr(0, figure_at(line, kTimedLabel))};
}

RenewedRecord renewed_record(std::string_view text, const std::string& name, const ClockAgain& clock_again) {
  Renewal renewal(name, clock_again);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    renewal.add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(renewal).finish();
}

}  // namespace drywell::tools
