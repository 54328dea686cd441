#include "conformance/programs/mma_fragment.h"

#include <bit>
#include <cstdlib>

#include "drywell/core/error.h"

namespace drywell::kernels::conformance {
namespace {
constexpr int64_t kLargest = 3;
}  // namespace

uint64_t encode(const ElementType& t, int64_t v) {
  if (!t.is_float()) return static_cast<uint64_t>(v) & low_bits(t.bits);
  if (v == 0) return 0;
  const auto magnitude = static_cast<uint64_t>(std::abs(v));
  const unsigned top = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const uint64_t bias = (uint64_t{1} << (t.exponent - 1)) - 1, tail = magnitude ^ uint64_t { 1 } << top;
  return uint64_t{v < 0} << (t.exponent + t.fraction) | (bias + top) << t.fraction | (t.fraction >= top ? tail << (t.fraction - top) : tail >> (top - t.fraction));
}

int64_t decode(const ElementType& t, uint64_t code) {
  if (!t.is_float()) return t.is_signed ? static_cast<int64_t>(code << (64 - t.bits)) >> (64 - t.bits) : static_cast<int64_t>(code);
  for (int64_t v = -kLargest; v <= kLargest; ++v) {
    if (encode(t, v) == code) return v;
  }
  throw InternalError("not a small integer");
}

uint64_t small_integers(const ElementType& t, uint64_t word) {
  if (!t.is_float()) return word;
  uint64_t r = 0;
  for (unsigned at = 0; at < t.register_bits(); at += t.bits) {
    const uint64_t raw = word >> at & low_bits(t.bits);
    r |= encode(t, static_cast<int64_t>((raw * 0x9E3779B97F4A7C15ull >> 40) % (2 * kLargest + 1)) - kLargest) << at;
  }
  return r;
}

}  // namespace drywell::kernels::conformance
