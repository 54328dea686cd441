// The progress line of long commands.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// A run's progress at one moment.
struct ProgressValues {
  uint64_t ctas_done = 0, ctas_total = 0;  // of the launch
  uint64_t cycles = 0;                     // timed driver only
  double seconds = 0;                      // since the launch began
};

/// For example "[###       ] 300/1,000 CTAs, 150/s, 5 s left, cycle 12,345"; the bar has `bar` characters,
/// none without a bar.
std::string describe_progress(const ProgressValues& v, size_t bar);

/// Shows the progress of a run on stderr. On a terminal it is one line, drawn again ten times a second, which
/// begins after a second; elsewhere it is a line of text every ten seconds. Shorter commands show nothing. It draws on a thread of its own;
/// one thread uses the object.
class ProgressLine {
 public:
  /// How the line is written.
  struct Manner {
    std::FILE* to = stderr;                                 // where it goes
    bool redraws = false;                                   // `to` is a terminal
    std::chrono::milliseconds first{10'000}, next{10'000};  // until the first line, and between lines
  };
  /// The manner for this process's stderr.
  static Manner on_stderr();

  /// Progress of one run, or without a run of named phases only. `progress` must live as long as the line.
  explicit ProgressLine(const RunProgress& progress, std::string_view phase = "starting",
                        Manner manner = on_stderr());
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// The time until the line appears begins with the first phase, and again after an empty one, which shows
  /// nothing.
  void phase(std::string_view what);
  /// A phase that ends with the object, also by an exception.
  class During {
   public:
    /// The phase begins; it ends with this object.
    During(ProgressLine& line, std::string_view what) : line_(line) { line_.phase(what); }
    ~During() { line_.phase(""); }
    During(const During&) = delete;
    During& operator=(const During&) = delete;

   private:
    ProgressLine& line_;
  };
  /// Prints text to stdout, above the line.
  void print(std::string_view text);
  /// Erases the line permanently.
  void end();

 private:
  struct State;
  std::shared_ptr<State>
      state_;  // of a thread that nobody joins: a program may fork, and its child has no such thread
};

}  // namespace drywell::sim
