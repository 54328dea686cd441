// Arithmetic on sizes and counts that come from outside. A result that 64 bits do not hold becomes
// kBeyondCounting, which is above every limit: the caller compares once, at the end. All functions depend on
// their arguments only and may be called at the same time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "drywell/core/types.h"

namespace drywell {

inline constexpr uint64_t kBeyondCounting = ~uint64_t{0};  // a result that 64 bits do not hold

/// a + b, or kBeyondCounting.
constexpr uint64_t size_sum(uint64_t a, uint64_t b) {
  return a > kBeyondCounting - b ? kBeyondCounting : a + b;
}
/// a * b, or kBeyondCounting.
constexpr uint64_t size_product(uint64_t a, uint64_t b) {
  return b != 0 && a > kBeyondCounting / b ? kBeyondCounting : a * b;
}
/// The smallest multiple of `to` (not 0) that is not below `v`, or kBeyondCounting.
constexpr uint64_t size_rounded_up(uint64_t v, uint64_t to) {
  const uint64_t past = size_sum(v, to - 1);
  return past == kBeyondCounting ? kBeyondCounting : past / to * to;
}
/// Number of elements of an extent.
constexpr uint64_t size_of(Dim3 d) { return size_product(size_product(d.x, d.y), d.z); }

/// Places objects one behind the other, each at a multiple of its alignment.
class SizeCursor {
 public:
  /// The first object may begin at `begin`.
  constexpr explicit SizeCursor(uint64_t begin = 0) : end_(begin) {}
  /// Returns where the next object of `bytes` bytes begins.
  constexpr uint64_t place(uint64_t bytes, uint64_t align) {
    align_to(align);
    const uint64_t at = end_;
    end_ = size_sum(at, bytes);
    return at;
  }
  /// Moves the end to a multiple of `align`; 0 counts as 1.
  constexpr void align_to(uint64_t align) { end_ = size_rounded_up(end_, std::max<uint64_t>(align, 1)); }
  /// The bytes so far; kBeyondCounting if they are too many.
  constexpr uint64_t end() const { return end_; }

 private:
  uint64_t end_;
};

}  // namespace drywell
