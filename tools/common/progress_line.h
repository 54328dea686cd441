// The progress line of commands that take long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "drywell/core/terminal.h"
#include "drywell/sim/run.h"

namespace drywell::tools {

/// A line on stderr that tells what is going on and how far it is. Nothing unless stderr is a terminal;
/// appears after half a second.
class ProgressLine {
 public:
  /// Of one run, or of work that tells its phases alone.
  explicit ProgressLine(sim::RunProgress& progress);
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void phase(std::string_view what);
  /// Text on stdout, above the line.
  void print(std::string_view text);
  /// Erases the line for good.
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
