// The clusters of a launch that have not started: drivers take clusters from the queue, and
// clusterlaunchcontrol.try_cancel cancels them.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

namespace drywell::sim {

class LaunchQueue {
 public:
  /// PTX does not specify the cluster that a cancellation receives (PTX ISA 9.7.13.17); drivers with other orders
  /// use `last`.
  enum class Cancels : uint8_t {
    first,
    last
  };
  explicit LaunchQueue(uint64_t clusters, Cancels cancels = Cancels::first)
      : end_(clusters), cancels_(cancels) {}

  /// The next cluster to launch.
  std::optional<uint64_t> take() {
    const std::lock_guard lock(mutex_);
    if (next_ == end_) return std::nullopt;
    return next_++;
  }
  /// Removes a cluster from the launch for a try_cancel, whose issuer does its work. Nothing if none is left.
  std::optional<uint64_t> cancel() {
    const std::lock_guard lock(mutex_);
    if (next_ == end_) return std::nullopt;
    ++cancelled_;
    return cancels_ == Cancels::first ? next_++ : --end_;
  }
  bool empty() const {
    const std::lock_guard lock(mutex_);
    return next_ == end_;
  }
  uint64_t cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_;
  }

 private:
  mutable std::mutex mutex_;
  uint64_t next_ = 0, end_, cancelled_ = 0;
  Cancels cancels_;
};

}  // namespace drywell::sim
