// Where the lanes of a warp have accessed memory since they last met: lanes that exchange data have to meet in between.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "drywell/core/types.h"

namespace drywell::sim::check {

/// The places of one ordinary access. Shared memory: addresses with the CTA's rank; they are below those of global memory.
struct LanePlaces {
  std::array<uint64_t, kWarpSize> at;  // of `lanes`
  uint32_t bytes;                      // of each lane
  LaneMask lanes;
  bool together = false;  // ldmatrix, stmatrix, fragments of wmma: each lane moves a part of every row
  bool store = false;
  uint32_t pc = 0;
};

class RecentPlaces {
 public:
  /// The access in progress. Returns its number, from 1.
  uint32_t add(const LanePlaces& p) {
    if (kept_.size() < kMost) kept_.resize(kMost);
    now_ = p;
    kept_[next_ % kMost] = p;
    return next_++;
  }
  /// The access in progress is one more of the access `number`. Returns whether it is at the same places.
  bool again(uint32_t number, const LanePlaces& p) {
    now_ = p;
    return knows(number) && same_places(kept_[number % kMost], p);
  }
  /// All lanes have met.
  void meet() {
    first_ = next_;
    meetings_.clear();
  }
  /// Some lanes have met.
  void meet(LaneMask lanes) { meetings_.push_back({next_, lanes}); }
  /// Whether the access of that number is known: it has been made since the lanes met, and not long ago.
  bool knows(uint32_t number) const { return number >= first_ && number != 0 && number + kMost > next_ - 1; }
  /// Whether a lane of `now` is at a byte where another lane was in the access `prior`, without a meeting of the two in between.
  bool exchange(uint32_t prior, const LanePlaces& now) const;
  bool exchange(uint32_t prior) const { return exchange(prior, now_); }
  /// Whether one of `lanes` is at [from, to) in the access in progress.
  bool come_to(uint64_t from, uint64_t to, LaneMask lanes) const;
  /// The access in progress.
  const LanePlaces& latest() const { return now_; }

 private:
  static constexpr uint32_t kMost = 64;
  struct Meeting {
    uint32_t before;  // the number of the next access
    LaneMask lanes;
  };
  static bool same_places(const LanePlaces& a, const LanePlaces& b);
  /// By lane: those that it has met since the access of that number.
  std::array<LaneMask, kWarpSize> met_since(uint32_t number) const;

  LanePlaces now_{};
  std::vector<LanePlaces> kept_;   // a ring
  std::vector<Meeting> meetings_;  // in order
  uint32_t first_ = 1, next_ = 1;
};

}  // namespace drywell::sim::check
