// The bounds of a run that do not depend on what its kernel does: the host's time, the host's memory, and
// another thread's wish.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "drywell/sim/run.h"

namespace drywell::sim {

/// Lives as long as a run. With a deadline or a bound on memory it has a thread that looks at both every few
/// milliseconds, so that drivers read one word only. Any thread may call ended().
class RunBounds {
 public:
  explicit RunBounds(const RunOptions& options);
  ~RunBounds();
  RunBounds(const RunBounds&) = delete;
  RunBounds& operator=(const RunBounds&) = delete;

  /// True soon after a bound was reached: the driver then ends the run with fault().
  bool ended() const {
    return reached_.load(std::memory_order_relaxed) ||
           (stop_ != nullptr && stop_->load(std::memory_order_relaxed));
  }
  /// F3605, F3606, or F3603 if another thread stopped the run.
  Fault fault(GuestPlace place) const;

 private:
  void start();
  void watch();
  bool time_is_up() const;
  bool holds_too_much() const;

  const std::atomic<bool>* stop_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  uint64_t max_memory_;
  std::atomic<bool> reached_{false};
  std::mutex mutex_;
  std::condition_variable over_;
  bool run_is_over_ = false;
  std::thread watcher_;
};

}  // namespace drywell::sim
