// Queues in time: a resource that serves requests in the order of their arrival.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

namespace drywell::sim {

/// Cycle of the simulated SM clock; kNever: unknown, or the event will not happen.
using Time = uint64_t;
inline constexpr Time kNever = ~Time{0};

/// Through signed integers, for which hosts have an instruction. Not for kNever.
inline Time ceil_time(double t) { return static_cast<Time>(static_cast<int64_t>(std::ceil(t - 1e-9))); }
inline double cycles(Time t) { return static_cast<double>(static_cast<int64_t>(t)); }

/// Serves one request at a time; fractional intervals add up without drift.
class Server {
 public:
  /// A request that arrives at `t` and occupies the resource for `interval` cycles; returns when its service
  /// starts.
  double begin(double t, double interval) {
    const double start = std::max(t, free_);
    free_ = start + interval;
    busy_ += interval;
    return start;
  }
  /// Delays its service until then: the next stage is occupied.
  void hold(double until) { free_ = std::max(free_, until); }
  double free_at() const { return free_; }
  double busy() const { return busy_; }

 private:
  double free_ = 0, busy_ = 0;
};

/// A queue with a fixed number of places, each occupied until its request leaves; requests leave in the order of their arrival.
class PlaceQueue {
 public:
  explicit PlaceQueue(size_t places = 1) : until_(std::max<size_t>(1, places), 0.0) {}
  /// The cycle at which a place is free.
  double free_at() const { return until_[next_]; }
  void take(double until) {
    until_[next_] = until;
    next_ = (next_ + 1) % until_.size();
  }

 private:
  std::vector<double> until_;
  size_t next_ = 0;
};

/// The SMEM read stage: the tensor core's operand fetch has priority (docs/facts/timing.md §4.3); loads
/// and copies use the remaining cycles, in order.
class SmemPort {
 public:
  /// The tensor core reads for `cycles` from `start` on; starts do not decrease.
  void reserve(double start, double cycles) {
    if (cycles <= 0) return;
    tensor_busy_ += cycles;
    if (!taken_.empty() && start <= taken_.back().end) {
      taken_.back().end = std::max(taken_.back().end, start) + cycles;
    } else {
      taken_.push_back({start, start + cycles});
    }
  }
  /// A load of `cycles` wavefronts that arrives at `t`; returns when its first wavefront starts.
  double begin(double t, double cycles) {
    double at = std::max(t, free_);
    busy_ += cycles;
    while (!taken_.empty() && taken_.front().end <= at) taken_.pop_front();
    if (taken_.empty()) {
      free_ = at + cycles;
      return at;
    }
    double first = -1, left = cycles;
    for (const Span& s : taken_) {
      if (s.start > at) {
        const double gap = std::min(left, s.start - at);
        if (first < 0) first = at;
        left -= gap;
        at += gap;
        if (left <= 0) break;
      }
      at = std::max(at, s.end);
    }
    if (first < 0) first = at;
    free_ = at + std::max(left, 0.0);
    return first;
  }
  /// True while the tensor core is reading or is about to.
  bool tensor_active(double t) const { return !taken_.empty() && taken_.back().end > t; }
  double free_at() const { return free_; }
  double busy() const { return busy_ + tensor_busy_; }

 private:
  struct Span {
    double start, end;
  };
  std::deque<Span> taken_;
  double free_ = 0, busy_ = 0, tensor_busy_ = 0;
};

}  // namespace drywell::sim
