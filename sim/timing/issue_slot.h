// The issue slot of a sub-partition: at most one warp instruction a cycle. The warp that issued last goes on as long as it can; else, of those
// that are ready, one of the CTA that came first, of these the one that has been ready longest, among equals the one that issued least recently.
// On an H200 warps of sums, which can issue every cycle, keep other warps of their sub-partition from issuing (fma_mufu and logic_fma of
// traces/hw/h200-2026-11-27-arithmetic.csv), and of CTAs that do the same the first ends first (traces/hw/h200-2026-11-29-order.txt).
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sim/timing/server.h"

namespace drywell::sim {

class IssueSlot {
 public:
  /// Adds a warp of the CTA with this number, later ones have larger ones, and returns its place; the warp issues nothing before it is offered.
  uint16_t add(uint32_t warp, uint32_t cta = 0);
  /// Removes the warp at `place`. Returns the warp that moved to that place.
  uint32_t remove(uint16_t place);

  /// The warp at `place` could issue an instruction of that admission class (OpInfo) from cycle `at` on; kNever: it waits.
  void offer(uint16_t place, Time at, uint16_t admission = 0);
  /// The warp that issues next, and its cycle; kNever: no warp can issue.
  uint32_t warp() const { return warps_[pick_]; }
  Time next() const { return next_; }
  /// The unit of the warp's instruction does not accept it before cycle `until`; nor those of the same class that would be next in the same cycle.
  void put_off(Time until);
  /// The cycle from which on the warp at `place` could issue, as far as its unit said.
  Time offered(uint16_t place) const { return keys_[place].at; }
  /// The warp issues at next(). The slot is free `slots` cycles later. `shared`: to a unit that all sub-partitions share.
  void issue(bool shared, Time slots = 1);

  uint64_t issued() const { return issued_; }
  Time last_shared() const { return last_shared_; }

 private:
  static constexpr uint32_t kNone = ~0u;

  __extension__ typedef unsigned __int128 Pair;  // compared at once
  static Pair pair(uint64_t high, uint64_t low) { return Pair{high} << 64 | low; }
  /// When a warp could issue.
  struct Key {
    Time at = kNever;
    uint64_t last = 0;  // the cycle of the last issue, and the place in the low bits
  };
  /// The order of warps other than the current one: the cycle when each issues, then its CTA, then since when it could, then the cycle of its last
  /// issue, then its place.
  struct Order {
    Pair first, second;
    friend bool operator<(const Order& a, const Order& b) { return (a.first < b.first) | ((a.first == b.first) & (a.second < b.second)); }
  };
  Order order(size_t place) const {
    const Key& k = keys_[place];
    return {pair(std::max(k.at, free_), ctas_[place]), pair(k.at, k.last)};
  }
  static constexpr unsigned kPlaceBits = 12;
  void set_last(uint32_t place, Time t) { keys_[place].last = t << kPlaceBits | place; }

  template <class Test>
  uint32_t first_other(Test&& test) const;
  uint32_t sooner(uint32_t other) const;
  bool before(uint32_t a, uint32_t b) const;
  void compare_ctas();
  void select();

  std::vector<uint32_t> warps_;
  std::vector<Key> keys_;
  std::vector<uint16_t> admission_;
  std::vector<uint32_t> ctas_;
  bool several_ctas_ = false;
  Time free_ = 0, next_ = kNever, last_shared_ = 0;
  uint32_t pick_ = 0;
  uint32_t current_ = kNone;  // the place of the warp that issued last
  uint32_t other_ = kNone;    // the first of the others; kNone: not known
  uint64_t issued_ = 0;
};

/// The slot that issues first. Slots that issue in the same cycle take turns at the units they share.
struct Turn {
  size_t slot = 0;
  Time at = kNever, second = kNever;  // `second`: the earliest of the others
};
Turn next_turn(std::span<IssueSlot* const> slots);

}  // namespace drywell::sim
