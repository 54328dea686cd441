// Elements of D that NaN or infinities determine (docs/facts/numerics.md §3.1, step 1), without a sum.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "drywell/sim/numeric/format.h"

namespace drywell::numeric {

/// Classes of the elements of one row of an operand, a bit for each.
class RowClasses {
 public:
  static constexpr unsigned kMostElements = 128;  // of a row: sparse 4-bit operands

  void set(unsigned k, const Decoded& d);
  void set_scale(const Decoded& d) { nan_ = nan_ || d.is_nan(); }
  bool nan() const { return nan_; }

  /// D of the sum of products of two rows and C; nothing if no infinity and no NaN takes part.
  static std::optional<uint32_t> sum(const RowClasses& a, const RowClasses& b, const Decoded& c, Format d);

 private:
  using Bits = std::array<uint64_t, kMostElements / 64>;
  bool nan_ = false;
  Bits infinite_{}, zero_{}, negative_{};
};

inline std::optional<uint32_t> RowClasses::sum(const RowClasses& a, const RowClasses& b, const Decoded& c, Format d) {
  const FormatInfo& info = format_info(d);
  if (a.nan_ || b.nan_ || c.is_nan()) return info.nan_result;
  bool positive = c.is_infinity() && !c.negative, negative = c.is_infinity() && c.negative, undefined = false;
  for (size_t i = 0; i < Bits().size(); ++i) {
    const uint64_t infinite = a.infinite_[i] | b.infinite_[i], signs = a.negative_[i] ^ b.negative_[i];
    undefined |= (infinite & (a.zero_[i] | b.zero_[i])) != 0;
    positive |= (infinite & ~signs) != 0;
    negative |= (infinite & signs) != 0;
  }
  if (undefined || (positive && negative)) return info.nan_result;
  if (!positive && !negative) return std::nullopt;
  return info.infinity() | (negative ? info.sign_mask() : 0);
}

}  // namespace drywell::numeric
