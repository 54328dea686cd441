#include "kernels/reference/formats.h"

#include <bit>
#include <cmath>
#include <limits>

namespace drywell::kernels::reference {
namespace {

constexpr float kE2m1Values[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

uint32_t reversed_byte(uint32_t b) {
  b = (b & 0xF0) >> 4 | (b & 0x0F) << 4;
  b = (b & 0xCC) >> 2 | (b & 0x33) << 2;
  return (b & 0xAA) >> 1 | (b & 0x55) << 1;
}

}  // namespace

float bf16_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t float_to_bf16(float value) {
  if (value != value) return 0x7FFF;
  const uint32_t bits = std::bit_cast<uint32_t>(value), kept = bits >> 16, cut = bits & 0xFFFF;
  const bool up = cut > 0x8000 || (cut == 0x8000 && (kept & 1) != 0);
  return static_cast<uint16_t>(kept + (up ? 1 : 0));
}

uint16_t float_to_f16(float value) {
  if (value != value) return 0x7FFF;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520) return static_cast<uint16_t>(sign | 0x7C00);
  int exponent = -13;  // as in float_to_e4m3, with 10 fraction bits
  if (magnitude >= 0x1p-14f) std::frexp(magnitude, &exponent);
  const int lowest = exponent - 11;
  const double steps = std::nearbyint(std::ldexp(static_cast<double>(magnitude), -lowest));
  return static_cast<uint16_t>(sign | (static_cast<int>(steps) + (lowest + 24) * 1024));
}

uint8_t float_to_e4m3(float value) {
  if (value != value) return 0x7F;
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  const float magnitude = std::fabs(value);
  if (magnitude >= 448) return static_cast<uint8_t>(sign | 0x7E);
  int exponent = -5;  // magnitude < 2^exponent; for subnormal numbers, the exponent of the smallest normal number
  if (magnitude >= 0x1p-6f) std::frexp(magnitude, &exponent);
  const int lowest = exponent - 4;                                                           // exponent of the last of the 3 fraction bits
  const double steps = std::nearbyint(std::ldexp(static_cast<double>(magnitude), -lowest));  // ties to even
  // The encoding increases by one per step across binades: 8 steps for every exponent above the subnormal
  // one.
  const int code = static_cast<int>(steps) + (lowest + 9) * 8;
  return static_cast<uint8_t>(sign | code);
}

float ue4m3_to_float(uint8_t code) {
  const int exponent = (code >> 3) & 0xF, fraction = code & 7;
  if ((code & 0x7F) == 0x7F) return std::numeric_limits<float>::quiet_NaN();
  return exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                       : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
}

uint8_t float_to_e2m1(float value) {
  if (value != value) return 7;
  const float m = std::fabs(value);
  // The code is the number of decision points that m passes; at a tie the value goes to the even code.
  const int code =
      (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) + (m > 5);
  return static_cast<uint8_t>(code | (std::signbit(value) ? 8 : 0));
}

uint8_t float_to_e2m1_stochastic(float value, uint16_t random) {
  if (value != value) return 7;
  const double m = std::fabs(value);
  int code = 7;
  if (m < 6) {
    code = (m >= 0.5) + (m >= 1) + (m >= 1.5) + (m >= 2) + (m >= 3) + (m >= 4);  // largest value not above m
    const double low = kE2m1Values[code], high = kE2m1Values[code + 1];
    // Exact: the grid spacing is a power of two.
    const auto cut = static_cast<uint32_t>((m - low) / (high - low) * 65536.0);
    code += cut + random >= 65536 ? 1 : 0;
  }
  return static_cast<uint8_t>(code | (std::signbit(value) ? 8 : 0));
}

float e2m1_to_float(uint8_t code) { return (code & 8) != 0 ? -kE2m1Values[code & 7] : kE2m1Values[code & 7]; }

std::array<uint16_t, 4> e2m1x4_random_bits(uint32_t word) {
  const uint32_t b0 = word & 0xFF, b1 = (word >> 8) & 0xFF, b2 = (word >> 16) & 0xFF, b3 = word >> 24;
  return {
      static_cast<uint16_t>(b2 << 8 | b0), static_cast<uint16_t>(reversed_byte(b0) << 8 | reversed_byte(b2)),
      static_cast<uint16_t>(b3 << 8 | b1), static_cast<uint16_t>(reversed_byte(b1) << 8 | reversed_byte(b3))};
}

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key,
                                   uint32_t rounds) {
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint64_t x = uint64_t{0xD2511F53} * counter[0], z = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(z >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(z),
               static_cast<uint32_t>(x >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(x)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace drywell::kernels::reference
