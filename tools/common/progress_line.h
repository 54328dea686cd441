// The progress line of long commands.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "drywell/core/terminal.h"
#include "drywell/sim/run.h"

namespace drywell::tools {

/// A line on stderr with the current phase and its progress. It shows nothing unless stderr is a terminal, and appears
/// after half a second.
class ProgressLine {
 public:
  /// Progress of one run, or without a run of named phases only.
  explicit ProgressLine(sim::RunProgress& progress);
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void phase(std::string_view what);
  /// Prints text to stdout, above the line.
  void print(std::string_view text);
  /// Erases the line permanently.
  void end();

 private:
  void draw(double seconds);
  void wipe();
  sim::RunProgress none_;
  sim::RunProgress& progress_;
  bool active_ = false, drawn_ = false, stop_ = false;
  std::string phase_ = "starting";
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace drywell::tools
