#include "launch/bf16.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "drywell/core/error.h"

namespace drywell::kernels {

uint16_t bf16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFF;
  // Adding 0x7FFF plus the bit that becomes the lowest rounds to nearest even; a carry into infinity is correct too.
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float float_from_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float float_from_half(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13));
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

std::vector<uint16_t> bf16_from_floats(std::span<const float> values) {
  std::vector<uint16_t> out(values.size());
  for (size_t i = 0; i < values.size(); ++i) out[i] = bf16_from_float(values[i]);
  return out;
}

std::vector<uint16_t> bf16_bits(const NpyArray& array) {
  if (array.dtype == "<f4") return bf16_from_floats(array.values<float>());
  std::vector<uint16_t> out(array.count());
  if (array.dtype == "<f8") {
    const auto values = array.values<double>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = bf16_from_float(static_cast<float>(values[i]));
    return out;
  }
  if (array.dtype != "<f2" && array.dtype != "<u2" && array.dtype != "<V2") {
    throw InputError(Code::E4007, fmt::format("wrong dtype: the array is {}", array.describe()),
                     "float32, float64, float16, bfloat16, or uint16 holding bfloat16 bits");
  }
  if (!out.empty()) std::memcpy(out.data(), array.data.data(), array.data.size());
  if (array.dtype == "<f2") {
    for (uint16_t& v : out) v = bf16_from_float(float_from_half(v));
  }
  return out;
}

}  // namespace drywell::kernels
