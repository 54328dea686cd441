// Records of `drywell device run KERNEL WORDS --clock=N`: '== WORDS' before what each run printed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace drywell::tools {

/// "  clock, GPU    7602 cycles, …": the GPU's cycles of a launch.
struct GpuClockLine {
  double cycles = 0;
};
/// "  clock, timed  7778 cycles, …": those of the timed driver.
struct TimedClockLine {
  std::string_view head;  // up to the figure, which is computed again
};
/// "== WORDS": the words of the next run.
struct WordsLine {
  std::string_view words;
};
/// A line without a figure.
struct OtherLine {};
using ClockLine = std::variant<OtherLine, WordsLine, GpuClockLine, TimedClockLine>;

/// What a line says. A line that begins as a figure and has none, or one that no launch can take (zero, beyond 2^53), is an InputError
/// E4506, which names the record `name` and the line. The result points into `line`.
ClockLine parse_clock_line(std::string_view line, const std::string& name, size_t number);

/// What follows "clock, timed": cycles, and their difference from the GPU's.
std::string clock_text(double simulated_cycles, double gpu_cycles);

/// The cycles of the timed driver for each launch of a run with these words.
using ClockAgain = std::function<std::vector<double>(const std::string& words)>;
struct RenewedRecord {
  std::string text;
  size_t figures = 0, changed = 0;
};
/// The record with the timed driver's figures computed again; all else stays, byte for byte. Throws InputError E4506 with the line for a
/// figure without its launch or its GPU figure, and for a text without figures.
RenewedRecord renewed_record(std::string_view text, const std::string& name, const ClockAgain& clock_again);

}  // namespace drywell::tools
