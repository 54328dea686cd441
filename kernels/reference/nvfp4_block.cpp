#include "kernels/reference/nvfp4_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/formats.h"
#include "kernels/reference/reciprocal.h"

namespace drywell::kernels::reference {
namespace {

constexpr float kFloatMax = std::numeric_limits<float>::max();

}  // namespace

float Nvfp4Scaler::smaller(float a, float b) const {
  if (!scaling_.propagates_nan) return std::fmin(a, b);
  return a != a || b != b ? std::numeric_limits<float>::quiet_NaN() : std::min(a, b);
}

float Nvfp4Scaler::larger(float a, float b) const {
  if (!scaling_.propagates_nan) return std::fmax(a, b);
  return a != a || b != b ? std::numeric_limits<float>::quiet_NaN() : std::max(a, b);
}

Nvfp4Scaler::Nvfp4Scaler(const Nvfp4Scaling& s, float amax) : scaling_(s) {
  encode_ = smaller(2688.0f / amax, kFloatMax);
  if (amax == 0 || encode_ == 0) encode_ = 1;
  decode_ = 1.0f / encode_;
  te_multiplier_ = encode_ * (1.0f / 6.0f);
}

float Nvfp4Scaler::block_amax(const Nvfp4Values& x, float largest) const {
  for (const float v : x) largest = larger(largest, std::fabs(v));
  return largest;
}

float Nvfp4Scaler::reciprocal(float p) const { return scaling_.approximate_reciprocal ? approximate_reciprocal(p) : 1.0f / p; }

void Nvfp4Scaler::quantize(Nvfp4Values x, float bmax, const std::array<uint32_t, 4>* random, uint8_t* codes, uint8_t& scale) const {
  float wanted = scaling_.order == ScaleOrder::article ? bmax / 6.0f * encode_ : bmax * te_multiplier_;
  if (!scaling_.propagates_nan) wanted = std::fmin(wanted, kFloatMax);
  scale = float_to_e4m3(wanted);
  const float inverse = smaller(reciprocal(ue4m3_to_float(scale) * decode_), kFloatMax);
  for (float& v : x) v *= inverse;
  std::array<uint8_t, 16> code;
  if (random == nullptr) {
    for (size_t i = 0; i < code.size(); ++i) code[i] = float_to_e2m1(x[i]);
  } else {
    for (size_t word = 0; word < 4; ++word) {
      const auto bits = e2m1x4_random_bits((*random)[word]);
      for (size_t i = 0; i < 4; ++i) code[word * 4 + i] = float_to_e2m1_stochastic(x[word * 4 + i], bits[i]);
    }
  }
  for (size_t i = 0; i < code.size() / 2; ++i) codes[i] = static_cast<uint8_t>(code[2 * i] | code[2 * i + 1] << 4);
}

}  // namespace drywell::kernels::reference
