// Elements of D that NaN or infinities determine (docs/facts/numerics.md §3.1, step 1), without a sum.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "drywell/sim/numeric/format.h"

namespace drywell::numeric {

/// Classes of the elements of one row of an operand, a bit for each.
class RowClasses {
 public:
  RowClasses() = default;
  explicit RowClasses(unsigned k) : infinite_((k + 63) / 64), zero_(infinite_.size()), negative_(infinite_.size()) {}
  void set(unsigned k, const Decoded& d);
  void set_scale(const Decoded& d) { nan_ = nan_ || d.is_nan(); }
  bool nan() const { return nan_; }

  /// D of the sum of products of two rows and C; nothing if no infinity and no NaN takes part.
  static std::optional<uint32_t> sum(const RowClasses& a, const RowClasses& b, const Decoded& c, Format d);

 private:
  bool nan_ = false;
  std::vector<uint64_t> infinite_, zero_, negative_;
};

}  // namespace drywell::numeric
