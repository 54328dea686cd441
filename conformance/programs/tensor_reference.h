// The arithmetic of one matrix instruction, element by element, written from docs/facts/numerics.md §3.1 with 64-bit
// integers: slow, simple, and independent of sim/numeric.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace drywell::kernels::conformance {

/// A floating-point format by its fields. `ieee`: the largest exponent means infinity and NaN; `one_nan`:
/// only the code of all ones below the sign is NaN (e4m3, ue4m3); neither: every code is finite.
struct FloatFormat {
  std::string_view name;
  int exponent_bits, fraction_bits, bias;
  bool ieee = false, one_nan = false, is_signed = true;
};

const FloatFormat& float_format(std::string_view name);

/// A decoded code: value = sign * significand * 2^(raw - fraction bits).
struct FloatValue {
  bool nan = false, infinite = false, negative = false;
  int64_t significand = 0;
  int raw = 0, lsb = 0;
  bool zero() const { return !nan && !infinite && significand == 0; }
};
FloatValue decode_float(const FloatFormat& f, uint32_t code);

/// D = C + sum of A·B (·SFA·SFB): each run of `group` products is summed exactly before the alignment.
struct FusedSum {
  int group = 1, window = 25, floor = -133;
  bool f16_result = false;
};
/// Scale vectors are empty or hold one code per a.size() / scales.size() elements.
struct FusedInputs {
  const FloatFormat& a_format;
  const FloatFormat& b_format;
  const FloatFormat& scale_format;
  std::vector<uint32_t> a, b, a_scales, b_scales;
};
uint32_t fused_sum(const FusedSum& rule, const FusedInputs& in, uint32_t c);

}  // namespace drywell::kernels::conformance
