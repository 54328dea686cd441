#include "drywell/kernels/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "drywell/core/error.h"
#include "drywell/launch/generate.h"
#include "drywell/sim/numeric/convert.h"
#include "launch/bf16.h"

namespace drywell::kernels {
namespace {

using numeric::Format;

constexpr float kMaxFloat = std::numeric_limits<float>::max();

/// Returns the largest magnitude; ignores NaN.
float largest(std::span<const float> v) {
  float m = 0;
  for (const float x : v) m = std::fabs(x) > m ? std::fabs(x) : m;
  return m;
}

/// Rounds values * factor to nearest even.
void round_to(Format f, std::span<const float> values, float factor, uint16_t* codes) {
  const numeric::ConvertSpec spec{
      .dst = f, .src = Format::f32, .satfinite = numeric::format_info(f).bits() <= 8};
  constexpr unsigned kChunk = 256;
  uint32_t words[kChunk];
  for (size_t first = 0; first < values.size(); first += kChunk) {
    const auto n = static_cast<unsigned>(std::min<size_t>(kChunk, values.size() - first));
    for (unsigned i = 0; i < n; ++i) words[i] = std::bit_cast<uint32_t>(values[first + i] * factor);
    numeric::convert_lanes(spec, words, words, n);
    for (unsigned i = 0; i < n; ++i) codes[first + i] = static_cast<uint16_t>(words[i]);
  }
}

/// Returns the exponent of a block's scale: that of its largest magnitude minus that of the format's largest value.
uint8_t mx_scale(Format f, std::span<const float> block) {
  for (const float x : block) {
    if (!std::isfinite(x)) return 0xFF;
  }
  const float m = largest(block);
  if (m == 0) return 0;
  const int top = std::ilogb(numeric::to_float(f, numeric::format_info(f).max_finite));
  return static_cast<uint8_t>(std::clamp(std::ilogb(m) - top + 127, 0, 254));
}

void quantize_mx(QuantizedMatrix& q, std::span<const float> values) {
  for (size_t b = 0; b < q.scales.size(); ++b) {
    const auto block = values.subspan(b * q.block, q.block);
    q.scales[b] = mx_scale(q.format, block);
    // 2^-e is a float for every scale: e is at most 127 and the smallest result, 2^-127, a subnormal.
    const float inverse = q.scales[b] == 0xFF ? 0 : std::ldexp(1.0f, 127 - q.scales[b]);
    round_to(q.format, block, inverse, q.codes.data() + b * q.block);
  }
}

// docs/facts/numerics.md §4: the order of these f32 operations decides the bits.
void quantize_nvfp4(QuantizedMatrix& q, std::span<const float> values) {
  const float amax = largest(values);
  float encode = std::min(2688.0f / amax, kMaxFloat);
  if (amax == 0 || encode == 0) encode = 1;
  q.factor = 1.0f / encode;
  const float multiplier = encode * (1.0f / 6.0f);
  const numeric::ConvertSpec to_scale{.dst = Format::e4m3, .src = Format::f32, .satfinite = true};
  for (size_t b = 0; b < q.scales.size(); ++b) {
    const auto block = values.subspan(b * q.block, q.block);
    const float scale = std::min(largest(block) * multiplier, kMaxFloat);
    q.scales[b] = static_cast<uint8_t>(numeric::convert(to_scale, std::bit_cast<uint32_t>(scale)));
    const float inverse =
        std::min(1.0f / (numeric::to_float(Format::ue4m3, q.scales[b]) * q.factor), kMaxFloat);
    round_to(q.format, block, inverse, q.codes.data() + b * q.block);
  }
}

QuantizedMatrix empty_matrix(uint64_t rows, uint64_t k, const QuantizeRecipe& r) {
  QuantizedMatrix q = shape_alone(rows, k, r);
  q.codes.resize(rows * k);
  if (q.block != 0) q.scales.resize(rows * k / q.block);
  return q;
}

}  // namespace

QuantizedMatrix shape_alone(uint64_t rows, uint64_t k, const QuantizeRecipe& r) {
  QuantizedMatrix q;
  q.format = r.format;
  q.rows = rows;
  q.k = k;
  if (r.rule != ScaleRule::mx && r.rule != ScaleRule::nvfp4) return q;
  DRYWELL_CHECK(r.block != 0 && k % r.block == 0, "quantize_matrix: k is no multiple of the block");
  q.block = r.block;
  q.scale_format = r.rule == ScaleRule::mx ? Format::ue8m0 : Format::ue4m3;
  return q;
}

QuantizedMatrix quantize_matrix(std::span<const float> values, uint64_t rows, uint64_t k,
                                const QuantizeRecipe& recipe) {
  QuantizedMatrix q = empty_matrix(rows, k, recipe);
  switch (recipe.rule) {
    case ScaleRule::mx: quantize_mx(q, values); break;
    case ScaleRule::nvfp4: quantize_nvfp4(q, values); break;
    case ScaleRule::tensor: {
      const float amax = largest(values),
                  top = numeric::to_float(q.format, numeric::format_info(q.format).max_finite);
      q.factor = amax == 0 || !std::isfinite(amax) ? 1 : amax / top;
      round_to(q.format, values, 1.0f / q.factor, q.codes.data());
      break;
    }
    case ScaleRule::none: round_to(q.format, values, 1, q.codes.data()); break;
  }
  return q;
}

QuantizedMatrix random_codes(uint64_t rows, uint64_t k, const QuantizeRecipe& recipe, uint64_t seed) {
  QuantizedMatrix q = empty_matrix(rows, k, recipe);
  const numeric::FormatInfo& info = numeric::format_info(q.format);
  const uint32_t mask = (uint32_t{1} << info.bits()) - 1;
  for (size_t i = 0; i < q.codes.size(); ++i) {
    const uint64_t word = random_word(seed, i);
    auto code = static_cast<uint32_t>(word) & mask;
    // The whole range of bf16 would overflow soon.
    if (q.format == Format::bf16)
      code = (code & 0x807F) | (127 - 12 + static_cast<uint32_t>(word >> 32) % 25) << 7;
    if ((code & ~info.sign_mask()) > info.max_finite)
      code = static_cast<uint32_t>(word >> 32) % info.max_finite;
    q.codes[i] = static_cast<uint16_t>(code);
  }
  for (size_t i = 0; i < q.scales.size(); ++i) {
    const uint64_t word = random_word(~seed, i);
    q.scales[i] = static_cast<uint8_t>(q.scale_format == Format::ue8m0 ? 127 - 12 + word % 25 : word % 0x7F);
  }
  return q;
}

std::vector<float> float_values(const NpyArray& array) {
  if (array.dtype == "<f4") {
    const auto v = array.values<float>();
    return {v.begin(), v.end()};
  }
  std::vector<float> out;
  out.reserve(array.count());
  if (array.dtype == "<f8") {
    for (const double v : array.values<double>()) out.push_back(static_cast<float>(v));
    return out;
  }
  if (array.dtype != "<f2" && array.dtype != "<V2") {
    throw InputError(Code::E4007, fmt::format("wrong dtype: the array is {}", array.describe()),
                     "float32, float64, float16 or bfloat16");
  }
  for (uint64_t i = 0; i < array.count(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, array.data.data() + 2 * i, 2);
    out.push_back(array.dtype == "<f2" ? float_from_half(bits) : float_from_bf16(bits));
  }
  return out;
}

}  // namespace drywell::kernels
