#include "conformance/programs/values.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>

#include "drywell/core/error.h"
#include "drywell/launch/generate.h"

namespace drywell::kernels::conformance {
namespace {

constexpr size_t kEdges = 16;

// An IEEE-like format of 1 + exponent + fraction bits.
struct Shape {
  unsigned exponent, fraction;
  unsigned bits() const { return 1 + exponent + fraction; }
};

std::array<uint64_t, kEdges> integer_edges(unsigned bits) {
  const uint64_t top = uint64_t{1} << (bits - 1), all = top | (top - 1);
  return {0, 1, 2, 3, 7, 31, 0x5A, top >> 1, top - 1, top, top + 1, all - 1, all, all / 3, (all / 3) << 1 & all, (uint64_t{1} << bits / 2) & all};
}

std::array<uint64_t, kEdges> float_edges(Shape s) {
  const uint64_t sign = uint64_t{1} << (s.exponent + s.fraction), inf = ((uint64_t{1} << s.exponent) - 1) << s.fraction;
  const uint64_t one = ((uint64_t{1} << (s.exponent - 1)) - 1) << s.fraction, quiet = uint64_t{1} << (s.fraction - 1);
  return {0, sign, 1, sign | 1, (uint64_t{1} << s.fraction) - 1, uint64_t{1} << s.fraction, one, sign | one,
          one | 1, (one | quiet) + (uint64_t{1} << s.fraction), inf - 1, sign | (inf - 1), inf, sign | inf, inf | quiet, inf | 1};
}

// Half of the values are random words, half have moderate exponents, so that sums round instead of vanishing.
uint64_t random_float(Shape s, uint64_t word) {
  const uint64_t mask = s.bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << s.bits()) - 1;
  if ((word >> 63) != 0) return word & mask;
  const uint64_t bias = (uint64_t{1} << (s.exponent - 1)) - 1;
  const uint64_t exponent = bias - 3 + (word >> 56) % 7;
  return ((word & 1) << (s.exponent + s.fraction) | exponent << s.fraction | ((word >> 1) & ((uint64_t{1} << s.fraction) - 1))) & mask;
}

// A value whose fraction ends with a one bit, at each place alike often, so that ties in every narrower format are among them; its
// exponent is in the range of f16 and of the narrow formats.
uint64_t short_float(Shape s, uint64_t word) {
  if ((word >> 63) != 0) return random_float(s, word);
  const uint64_t bias = (uint64_t{1} << (s.exponent - 1)) - 1, lowest = std::min<uint64_t>(bias - 1, 18);
  const uint64_t exponent = bias - lowest + (word >> 56) % (lowest + 16), end = uint64_t{1} << (word >> 48 & 0xFF) % s.fraction;
  const uint64_t fraction = word * 0x9E3779B97F4A7C15ull >> (64 - s.fraction);
  return (word & 1) << (s.exponent + s.fraction) | exponent << s.fraction | (fraction & ~(end - 1)) | end;
}

struct Kind {
  std::array<uint64_t, kEdges> edges;
  std::function<uint64_t(uint64_t)> random;
};

Kind floats(Shape s) {
  return {float_edges(s), [s](uint64_t w) { return random_float(s, w); }};
}
Kind integers(unsigned bits) {
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  // A third of the random values are small, like counts and sizes.
  return {integer_edges(bits), [mask](uint64_t w) { return w % 3 == 0 ? (w >> 32) % 100 : w & mask; }};
}
Kind short_floats(Shape s) {
  return {float_edges(s), [s](uint64_t w) { return short_float(s, w); }};
}
// Two values of a format in one word.
Kind packed(const Kind& one, unsigned bits) {
  Kind k = one;
  for (size_t i = 0; i < kEdges; ++i) k.edges[i] = one.edges[i] | one.edges[(5 * i + 3) % kEdges] << bits;
  k.random = [one, bits](uint64_t w) { return one.random(w) | one.random(w * 0x9E3779B97F4A7C15ull + 1) << bits; };
  return k;
}

Kind kind_of(char letter) {
  switch (letter) {
    case 'p': return {{0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1}, [](uint64_t w) { return w >> 40 & 1; }};
    case 'b': return integers(8);
    case 'h': return integers(16);
    case 'w': return integers(32);
    case 'd': return integers(64);
    case 's': return {{0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 0xFFFFFFFF}, [](uint64_t w) { return (w >> 20) % 70; }};
    case 'f':
    case 't': return floats({8, 23});
    case 'g': return floats({11, 52});
    case 'e': return floats({5, 10});
    case 'k': return floats({8, 7});
    case 'n': return short_floats({8, 23});
    case 'm': return short_floats({11, 52});
    case 'E': return packed(floats({5, 10}), 16);
    case 'N': return packed(short_floats({5, 10}), 16);
    case 'K': return packed(floats({8, 7}), 16);
    case 'F': return packed(floats({8, 23}), 32);
    default: throw InternalError(std::string("no operand kind '") + letter + "'");
  }
}

// Rows of two 8-bit codes: each code is in each half twice, with another partner the second time.
std::vector<uint64_t> all_codes() {
  std::vector<uint64_t> v(kRows);
  for (size_t i = 0; i < kRows; ++i) v[i] = i % 256 | (167 * i + 85 * (i / 256)) % 256 << 8;
  return v;
}

}  // namespace

std::vector<uint64_t> operand_values(char kind, size_t position, uint64_t seed) {
  if (kind == 'c') return all_codes();
  const Kind k = kind_of(kind);
  std::vector<uint64_t> v(kRows);
  for (size_t i = 0; i < kRows; ++i) {
    // The first two operands cover every pair of edge values; further operands step through them at a different rate.
    const size_t edge = position == 0 ? i / kEdges : position == 1 ? i % kEdges
                                                                   : (i * (2 * position + 3) + i / kEdges) % kEdges;
    v[i] = i < kEdges * kEdges ? k.edges[edge % kEdges] : k.random(random_word(seed + 1000 * position, i));
  }
  return v;
}

}  // namespace drywell::kernels::conformance
