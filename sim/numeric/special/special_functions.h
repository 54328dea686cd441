// The approximate special functions of the multifunction unit (MUFU), bit for bit as an H200 computes them, and the PTX
// instructions <function>.approx[.ftz].f32 built from them. What is measured and what follows: docs/facts/special-functions.md.
//
// The unit's part is inline, free of branches and exact in every rounding mode of the host: a 32-lane loop becomes vector code,
// and double precision serves as 53-bit integer arithmetic. Products around it round to nearest. Calls may run at the same time.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace drywell::numeric {

namespace special {

/// One row of a table, as the unit has it (*.inc).
struct Row {
  uint32_t c0;
  int32_t c1, c2;
};

/// Rows as one word each, for one load a lane: C0 from bit 38, the magnitude of C1 from bit 18, that of C2. A function's signs are the same in all rows.
template <size_t N>
consteval std::array<uint64_t, N> packed(const Row (&rows)[N]) {
  std::array<uint64_t, N> words{};
  for (size_t i = 0; i < N; ++i) {
    const uint32_t c1 = static_cast<uint32_t>(rows[i].c1 < 0 ? -rows[i].c1 : rows[i].c1), c2 = static_cast<uint32_t>(rows[i].c2 < 0 ? -rows[i].c2 : rows[i].c2);
    words[i] = uint64_t{rows[i].c0} << 38 | uint64_t{c1} << 18 | c2;
  }
  return words;
}

inline constexpr Row kRcpRows[] = {
#include "sim/numeric/special/rcp.inc"
};
inline constexpr Row kRsqrtRows[] = {
#include "sim/numeric/special/rsqrt.inc"
};
inline constexpr Row kSqrtRows[] = {
#include "sim/numeric/special/sqrt.inc"
};
inline constexpr Row kEx2Rows[] = {
#include "sim/numeric/special/ex2.inc"
};
inline constexpr Row kLg2Rows[] = {
#include "sim/numeric/special/lg2.inc"
};
inline constexpr Row kSinRows[] = {
#include "sim/numeric/special/sin.inc"
};
inline constexpr Row kTanhRows[] = {
#include "sim/numeric/special/tanh.inc"
};
inline constexpr auto kRcp = packed(kRcpRows);
inline constexpr auto kRsqrt = packed(kRsqrtRows);
inline constexpr auto kSqrt = packed(kSqrtRows);
inline constexpr auto kEx2 = packed(kEx2Rows);
inline constexpr auto kLg2 = packed(kLg2Rows);
inline constexpr auto kSin = packed(kSinRows);
inline constexpr auto kTanh = packed(kTanhRows);
/// tanh by octave from 2^-8: the octave's first segment, and the binary logarithm of its number of segments.
inline constexpr std::array<uint32_t, 11> kTanhFirst = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
inline constexpr std::array<uint32_t, 11> kTanhLog = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};

inline constexpr uint32_t kSign = 0x80000000, kInf = 0x7F800000, kNan = 0x7FFFFFFF, kSmallestNormal = 0x00800000;

inline uint32_t word(float v) { return std::bit_cast<uint32_t>(v); }
inline uint64_t word(double v) { return std::bit_cast<uint64_t>(v); }
inline float f32(uint32_t w) { return std::bit_cast<float>(w); }
inline double f64(uint64_t w) { return std::bit_cast<double>(w); }
inline uint32_t exponent(uint32_t w) { return w >> 23 & 0xFF; }
inline uint32_t fraction(uint32_t w) { return w & 0x7FFFFF; }
inline bool is_nan(uint32_t w) { return (w & 0x7FFFFFFF) > kInf; }
/// c ? a : b by masks, which g++ does not turn into branches that would keep a loop from becoming vector code.
inline uint32_t select(bool c, uint32_t a, uint32_t b) {
  const uint32_t mask = 0 - static_cast<uint32_t>(c);
  return (a & mask) | (b & ~mask);
}

/// The addends of bit `bit` of an operand's low half and high half to the square.
inline uint16_t partial(uint16_t high, uint16_t low, int bit) {
  const uint16_t top = static_cast<uint16_t>(low << (15 - bit)), mask = static_cast<uint16_t>(static_cast<int16_t>(top) >> 15);
  return static_cast<uint16_t>(high >> (9 - bit)) & mask;
}

/// The unit's truncated squarer: of the partial products of two 17-bit factors, those of weight 2^18 and more; in units of 2^19.
inline int32_t square(uint32_t x) {
  const uint16_t high = static_cast<uint16_t>(x >> 9), low = static_cast<uint16_t>(x);
  uint16_t sum = static_cast<uint16_t>(uint32_t{high} * high >> 1);
  sum = static_cast<uint16_t>(sum + partial(high, low, 2));
  sum = static_cast<uint16_t>(sum + partial(high, low, 3));
  sum = static_cast<uint16_t>(sum + partial(high, low, 4));
  sum = static_cast<uint16_t>(sum + partial(high, low, 5));
  sum = static_cast<uint16_t>(sum + partial(high, low, 6));
  sum = static_cast<uint16_t>(sum + partial(high, low, 7));
  return static_cast<uint16_t>(sum + partial(high, low, 8));
}

/// An integer below 2^52 as a double, by bits: vector code of every level has it.
inline double number(uint64_t v) { return f64(v | word(0x1p52)) - 0x1p52; }

/// The interpolated sum (C0 << Shift) + C1 * x + C2 * Factor * square + Constant. Products and sums are integers below 2^53: nothing rounds.
template <int Shift, uint32_t Constant, int C1Sign, int C2Factor>
double interpolate(uint64_t row, uint32_t x, int32_t squared) {
  const double c0 = number((row >> 38 << Shift) + Constant), c1 = number(row >> 18 & 0xFFFFF), c2 = number(row & 0x3FFFF);
  return c0 + c1 * (C1Sign * static_cast<int32_t>(x)) + c2 * (C2Factor * squared);
}

/// A positive double cut off to the 24 bits of a float, as the float's word. The exponent may leave a float's range: it wraps.
inline uint32_t cut(double positive) { return static_cast<uint32_t>(word(positive) >> 29) - (896u << 23); }

/// A word whose exponent may have run below the normal numbers, the sign included: zero then.
inline uint32_t flush_low(uint32_t w) { return select(static_cast<int32_t>(w) < static_cast<int32_t>(kSmallestNormal), 0, w); }

inline int32_t clamped(int32_t v, int32_t low, int32_t high) {
  const int32_t some = v < low ? low : v;
  return some > high ? high : some;
}

/// sin or cos of a turn's fraction, q in units of 2^-25 turns; sign is the sign bit of the result in the first half of the turn.
inline float sine_of_turn(uint32_t q, uint32_t sign) {
  const uint32_t f = fraction(q ^ (0 - (q >> 23 & 1))), x = f & 0x1FFFF;
  const double t = interpolate<12, 0, 1, -1>(kSin[f >> 17], x, square(x));
  const uint32_t magnitude = select(f == 0, 0, cut(t) - (37u << 23));
  return f32(magnitude | (sign ^ (q << 7 & kSign)));
}

/// The fraction of |a| / (2 pi) turns in units of 2^-25: FMUL.RZ by 3E22F983, then what MUFU.SIN cuts off. 0 for NaN and infinity.
inline uint32_t turns(float a) {
  const uint32_t w = word(a) & 0x7FFFFFFF;
  const double product = static_cast<double>(f32(select(w < kInf, w, 0))) * 0x1.45F306p-3;
  const double y = f64(word(product) & ~uint64_t{0x1FFFFFFF});
  return static_cast<uint32_t>(static_cast<int32_t>((y - std::floor(y)) * 0x1p25));
}

}  // namespace special

/// rcp.approx.ftz.f32: MUFU.RCP.
inline float rcp_approx_ftz(float a) {
  using namespace special;
  const uint32_t w = word(a), e = exponent(w), f = fraction(w), x = f & 0xFFFF;
  uint32_t r = flush_low(cut(interpolate<13, 0x47E7, -1, 1>(kRcp[f >> 16], x, square(x << 1))) + ((88 - e) << 23));
  r = select(e == 0, kInf, select(e == 255, 0, r));
  return f32(select(is_nan(w), kNan, r | (w & kSign)));
}

/// rsqrt.approx.ftz.f32: MUFU.RSQ. An even power of two is exact; the table would give one unit less.
inline float rsqrt_approx_ftz(float a) {
  using namespace special;
  const uint32_t w = word(a), e = exponent(w), f = fraction(w) | (~e & 1) << 23, x = f & 0x1FFFF;
  const double t = interpolate<14, 0x7FFF, -1, 4>(kRsqrt[f >> 17], x, square(x)), sum = f == 0 ? 0x1p40 : t;
  uint32_t r = cut(sum) + ((24 - ((e + 1) >> 1)) << 23);
  r = select(e == 255, 0, r);
  r = select(w > kSign, kNan, r);
  r = select(e == 0, (w & kSign) | kInf, r);
  return f32(select(is_nan(w), kNan, r));
}

/// sqrt.approx.ftz.f32: MUFU.SQRT.
inline float sqrt_approx_ftz(float a) {
  using namespace special;
  const uint32_t w = word(a), e = exponent(w), f = fraction(w) | (~e & 1) << 23, x = f & 0x1FFFF;
  uint32_t r = cut(interpolate<15, 0xFFFF, 1, -2>(kSqrt[f >> 17], x, square(x))) + ((((e + 1) >> 1) - 104) << 23);
  r = select(e == 255, kInf, r);
  r = select(w > kSign, kNan, r);
  r = select(e == 0, w & kSign, r);
  return f32(select(is_nan(w), kNan, r));
}

/// ex2.approx.ftz.f32: MUFU.EX2. The argument is cut off to 23 bits of fraction; a negative one is complemented, not negated.
inline float ex2_approx_ftz(float a) {
  using namespace special;
  const uint32_t w = word(a), e = exponent(w);
  const float magnitude = f32(select(e < 134, w & 0x7FFFFFFF, 0));
  const uint32_t fixed = static_cast<uint32_t>(static_cast<int32_t>(magnitude * 0x1p23f));
  const uint32_t complement = ~fixed + (fraction(fixed) == 0 ? 1 : 0), s = w > kSign ? complement : fixed;
  const uint32_t f = fraction(s), x = f & 0x1FFFF, n = s >> 23;
  uint32_t r = flush_low(cut(interpolate<13, 0x77E2, 1, 1>(kEx2[f >> 17], x, square(x))) + ((n - 38) << 23));
  r = select(e >= 134, select(w > kSign, 0, kInf), r);
  return f32(select(is_nan(w), kNan, r));
}

/// lg2.approx.ftz.f32: MUFU.LG2. The sum is cut off to 2^-36 before the exponent comes in; a negative sum is complemented.
inline float lg2_approx_ftz(float a) {
  using namespace special;
  const uint32_t w = word(a), e = exponent(w), f = fraction(w), x = f & 0x1FFFF;
  const uint64_t sum = word(interpolate<12, 0x3345, 1, -2>(kLg2[f >> 17], x, square(x)) + 0x1p52) & 0xFFFFFFFFFFFFF;
  const uint64_t fixed = (sum >> 2) + ((uint64_t{e} - 127) << 36), sign = fixed >> 63, magnitude = fixed ^ (0 - sign);
  uint32_t r = (cut(f64(magnitude | word(0x1p52)) - 0x1p52) - (36u << 23)) | static_cast<uint32_t>(sign) << 31;
  r = select(w == 0x3F800000, 0, r);
  r = select(e == 255, kInf, r);
  r = select(w > kSign, kNan, r);
  r = select(e == 0, kSign | kInf, r);
  return f32(select(is_nan(w), kNan, r));
}

/// sin.approx[.ftz].f32: FMUL.RZ, MUFU.SIN.
inline float sin_approx(float a) {
  using namespace special;
  const uint32_t w = word(a);
  const float r = sine_of_turn(turns(a), w & kSign);
  return f32(select(exponent(w) == 255, kNan, word(r)));
}

/// cos.approx[.ftz].f32: FMUL.RZ, MUFU.COS.
inline float cos_approx(float a) {
  using namespace special;
  const float r = sine_of_turn(turns(a) + kSmallestNormal, 0);
  return f32(select(exponent(word(a)) == 255, kNan, word(r)));
}

/// tanh.approx.f32: MUFU.TANH. Below 2^-8 the result is the argument.
inline float tanh_approx(float a) {
  using namespace special;
  const uint32_t w = word(a), magnitude = w & 0x7FFFFFFF, e = exponent(w);
  const uint32_t octave = static_cast<uint32_t>(clamped(static_cast<int32_t>(e) - 119, 0, 10)), log = kTanhLog[octave];
  const uint32_t index = kTanhFirst[octave] + (fraction(w) >> (23 - log)), x = fraction(w) >> (6 - log) & 0x1FFFF;
  uint32_t r = cut(interpolate<16, 0, 1, -4>(kTanh[index], x, square(x))) - (40u << 23);
  r = select(e < 119, magnitude, select(e > 129, 0x3F800000, r));
  return f32(select(is_nan(w), kNan, r | (w & special::kSign)));
}

// Without .ftz ptxas scales around the unit, which flushes subnormals itself (SASS of sm_90a and sm_100a, CUDA 13.0).

/// rcp.approx.f32.
inline float rcp_approx(float a) {
  const uint32_t magnitude = special::word(a) & 0x7FFFFFFF;
  const float scale = magnitude < special::kSmallestNormal ? 0x1p24f : magnitude > special::word(0x1p126f) ? 0.25f
                                                                                                           : 1.0f;
  return scale * rcp_approx_ftz(a * scale);
}
/// rsqrt.approx.f32.
inline float rsqrt_approx(float a) {
  const bool small = special::exponent(special::word(a)) == 0;
  return rsqrt_approx_ftz(a * (small ? 0x1p24f : 1.0f)) * (small ? 0x1p12f : 1.0f);
}
/// sqrt.approx.f32.
inline float sqrt_approx(float a) {
  const bool small = special::exponent(special::word(a)) == 0;
  return sqrt_approx_ftz(a * (small ? 0x1p24f : 1.0f)) * (small ? 0x1p-12f : 1.0f);
}
/// ex2.approx.f32.
inline float ex2_approx(float a) {
  const bool small = a < -126.0f;
  const float r = ex2_approx_ftz(a * (small ? 0.5f : 1.0f));
  return r * (small ? r : 1.0f);
}
/// lg2.approx.f32.
inline float lg2_approx(float a) {
  const bool small = special::exponent(special::word(a)) == 0;
  return lg2_approx_ftz(a * (small ? 0x1p24f : 1.0f)) - (small ? 24.0f : 0.0f);
}

/// div.approx.f32 and, of flushed operands and with a flushed result, div.approx.ftz.f32.
inline float div_approx(float a, float b) {
  const float scale = special::exponent(special::word(b)) == 0 ? 0x1p24f : 1.0f;
  return rcp_approx_ftz(b * scale) * (a * scale);
}
/// div.full.f32 and, of flushed operands and with a flushed result, div.full.ftz.f32.
inline float div_full(float a, float b) {
  const uint32_t magnitude = special::word(b) & 0x7FFFFFFF;
  const float scale = magnitude < special::kSmallestNormal ? 0x1p24f : magnitude > special::word(0x1p126f) ? 0.25f
                                                                                                           : 1.0f;
  return rcp_approx_ftz(b * scale) * (a * scale);
}

}  // namespace drywell::numeric
