// Ends a command whose time is up where no driver looks at the clock: while it makes input, computes a
// reference or writes a report.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "drywell/sim/run.h"

namespace drywell::tools {

/// Watches the clock while it lives. A launch ends by itself at the deadline; the guard waits a second longer
/// and then ends the process with F3605 (exit code 5). Outputs that are not complete have no name then.
class CommandGuard {
 public:
  explicit CommandGuard(const sim::RunOptions& options);
  ~CommandGuard();
  CommandGuard(const CommandGuard&) = delete;
  CommandGuard& operator=(const CommandGuard&) = delete;

 private:
  void watch(std::chrono::steady_clock::time_point end);

  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  std::thread watcher_;
};

}  // namespace drywell::tools
