// Whether the host's threads share the windows of a timed launch.
#pragma once

#include <cstdint>

namespace drywell::sim {

/// Threads meet at the ends of each window. Where a window is short, or other processes have the host's cores, they wait there for longer than
/// they save: with one core taken, a million CTAs that end at once took 24 s on two threads, 1.6 s on one. So what the threads gain is
/// measured, and while they gain nothing one thread runs the windows alone. Values and cycles do not depend on it.
class Sharing {
 public:
  /// Whether the threads share the next window.
  bool next() {
    if (alone_ == 0) return true;
    --alone_;
    return false;
  }
  /// A shared window took `wall` seconds, in which all threads together worked for `busy` seconds.
  void took(double wall, double busy) {
    wall_ += wall;
    busy_ += busy;
    if (++windows_ < kWindows && wall_ < kLong) return;
    judge(busy_ >= kWorth * wall_);
    wall_ = busy_ = 0;
    windows_ = 0;
  }

 private:
  static constexpr uint32_t kWindows = 8;               // are judged together,
  static constexpr double kLong = 1e-3;                 // or as many as take so many seconds
  static constexpr double kWorth = 1.15;                // threads at work, on average, that are worth it
  static constexpr uint32_t kFirst = 16, kMost = 4096;  // windows alone

  // Each time the threads gain nothing, the next trial is later.
  void judge(bool worth) {
    alone_ = worth ? 0 : pause_;
    pause_ = worth ? kFirst : pause_ < kMost ? 2 * pause_
                                             : kMost;
  }

  double wall_ = 0, busy_ = 0;
  uint32_t windows_ = 0, alone_ = 0, pause_ = kFirst;
};

}  // namespace drywell::sim
