#include "sim/numeric/special_sums.h"

namespace drywell::numeric {

void RowClasses::set(unsigned k, const Decoded& d) {
  const auto put = [k](Bits& bits, bool value) { bits[k / 64] |= uint64_t{value} << (k % 64); };
  nan_ = nan_ || d.is_nan();
  put(infinite_, d.is_infinity());
  put(zero_, d.is_zero());
  put(negative_, d.negative);
}

}  // namespace drywell::numeric
