#include "kernels/reference/reciprocal.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace drywell::kernels::reference {
namespace {

struct Row {
  int64_t c0, c1, c2;
};
constexpr Row kRows[128] = {
#include "kernels/reference/reciprocal_rows.inc"
};

/// The unit's squarer leaves out partial products below 2^18.
int64_t truncated_square(uint32_t v) {
  int64_t sum = 0;
  for (unsigned i = 0; i < 17; ++i) {
    for (unsigned j = 0; j < 17; ++j) {
      if (i + j >= 18 && (v >> i & 1) != 0 && (v >> j & 1) != 0) sum += int64_t{1} << (i + j);
    }
  }
  return sum >> 19;
}

/// 1 / (1 + fraction / 2^23), cut off to 24 bits.
double reciprocal_of_mantissa(uint32_t fraction) {
  const Row& row = kRows[fraction >> 16];
  const int64_t x = fraction & 0xFFFF, sum = row.c0 * 8192 + row.c1 * x + row.c2 * truncated_square(2 * static_cast<uint32_t>(x)) + 0x47E7;
  const int cut = sum >= int64_t{1} << 39 ? 16 : 15;  // in units of 2^-39
  return std::ldexp(static_cast<double>(sum >> cut << cut), -39);
}

}  // namespace

float approximate_reciprocal(float p) {
  constexpr float kMinNormal = std::numeric_limits<float>::min(), kInfinity = std::numeric_limits<float>::infinity();
  if (std::isnan(p)) return std::bit_cast<float>(0x7FFFFFFFu);
  if (std::isinf(p)) return std::copysign(0.0f, p);
  if (std::fabs(p) < kMinNormal) return std::copysign(kInfinity, p);
  const auto bits = std::bit_cast<uint32_t>(p);
  const int exponent = static_cast<int>(bits >> 23 & 0xFF) - 127;
  const auto r = static_cast<float>(std::ldexp(reciprocal_of_mantissa(bits & 0x7FFFFF), -exponent));
  return std::copysign(r < kMinNormal ? 0.0f : r, p);
}

}  // namespace drywell::kernels::reference
