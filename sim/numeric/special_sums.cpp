#include "sim/numeric/special_sums.h"

namespace drywell::numeric {

void RowClasses::set(unsigned k, const Decoded& d) {
  const auto put = [k](std::vector<uint64_t>& bits, bool value) { bits[k / 64] |= uint64_t{value} << (k % 64); };
  nan_ = nan_ || d.is_nan();
  put(infinite_, d.is_infinity());
  put(zero_, d.is_zero());
  put(negative_, d.negative);
}

std::optional<uint32_t> RowClasses::sum(const RowClasses& a, const RowClasses& b, const Decoded& c, Format d) {
  uint64_t positive = c.is_infinity() && !c.negative ? 1 : 0, negative = c.is_infinity() && c.negative ? 1 : 0, undefined = 0;
  for (size_t i = 0; i < a.infinite_.size(); ++i) {
    const uint64_t infinite = a.infinite_[i] | b.infinite_[i], signs = a.negative_[i] ^ b.negative_[i];
    undefined |= infinite & (a.zero_[i] | b.zero_[i]);
    positive |= infinite & ~signs;
    negative |= infinite & signs;
  }
  const bool nan = a.nan_ || b.nan_ || c.is_nan() || undefined != 0;
  if (!nan && positive == 0 && negative == 0) return std::nullopt;
  const FormatInfo& info = format_info(d);
  if (nan || (positive != 0 && negative != 0)) return info.nan_result;
  return info.infinity() | (negative != 0 ? info.sign_mask() : 0);
}

}  // namespace drywell::numeric
