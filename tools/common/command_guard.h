// Ends a command whose time is up where no driver looks at the clock: while it makes input, computes a
// reference or writes a report.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "drywell/sim/run.h"

namespace drywell::tools {

/// Watches the clock while it lives. A launch ends by itself at the deadline, and the command then has a second
/// to report that; otherwise the guard ends the process with F3605 (exit code 5) within a tenth of a second.
/// Outputs that are not complete have no name then.
class CommandGuard {
 public:
  /// Launches with `options`, or with copies of it, tell the guard that they run.
  explicit CommandGuard(sim::RunOptions& options);
  ~CommandGuard();
  CommandGuard(const CommandGuard&) = delete;
  CommandGuard& operator=(const CommandGuard&) = delete;

  /// True from the deadline on. A command that asks has a second to report what it did.
  bool time_is_up();
  /// The time of a person at a prompt does not count: from true to false the guard ends nothing.
  void rest(bool on);

 private:
  using Time = std::chrono::steady_clock::time_point;
  void watch();
  bool command_knows(std::unique_lock<std::mutex>& lock, Time since);
  bool command_ends_before(std::unique_lock<std::mutex>& lock, Time t);

  sim::RunProgress progress_;
  std::optional<Time> deadline_;
  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false, rests_ = false, asked_ = false;
  std::thread watcher_;
};

}  // namespace drywell::tools
