// Matrices in the registers of a warp (PTX ISA 9.7.14.5), with elements whose sums are exact in every format and order:
// integers of any value, and floating-point values that are small integers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace drywell::kernels::conformance {

/// Registers of a warp: [register][lane].
using WarpIn = std::span<const std::array<uint64_t, 32>>;
using WarpOut = std::span<std::array<uint64_t, 32>>;

/// An element type: integers have no exponent.
struct ElementType {
  const char* name;
  unsigned bits;
  unsigned exponent = 0, fraction = 0;
  char letter = 'w';  // of the registers that hold the type
  bool is_signed = true;
  bool is_float() const { return exponent != 0; }
  unsigned register_bits() const { return bits == 64 ? 64 : 32; }
  unsigned per_register() const { return register_bits() / bits; }
};
inline constexpr ElementType kF16{"f16", 16, 5, 10}, kBf16{"bf16", 16, 8, 7}, kTf32{"tf32", 32, 8, 23}, kF32{"f32", 32, 8, 23, 'f'}, kF64{"f64", 64, 11, 52, 'g'},
    kE4m3{"e4m3", 8, 4, 3}, kE5m2{"e5m2", 8, 5, 2}, kS32{"s32", 32}, kS8{"s8", 8}, kU8{"u8", 8, 0, 0, 'w', false}, kS4{"s4", 4}, kU4{"u4", 4, 0, 0, 'w', false},
    kB1{"b1", 1, 0, 0, 'w', false};

constexpr uint64_t low_bits(unsigned n) { return n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

/// Returns the code of an integer; a floating-point type must be able to represent it. Integer types wrap.
uint64_t encode(const ElementType& t, int64_t v);

/// Returns the integer of a code that encode() made from -3 ... 3, or of any integer code.
int64_t decode(const ElementType& t, uint64_t code);

/// Returns a register's content with each floating-point element replaced by a small integer; integer types stay
/// unchanged.
uint64_t small_integers(const ElementType& t, uint64_t word);

/// The registers of a warp that hold one matrix.
struct Fragment {
  ElementType type;
  unsigned first, elements;  // first register among the operands; elements per lane
  unsigned registers() const { return elements / type.per_register(); }
  unsigned end() const { return first + registers(); }
  std::string signature() const { return "{" + std::string(registers(), type.letter) + "}"; }
  int64_t get(WarpIn in, unsigned lane, unsigned i) const {
    const unsigned per = type.per_register();
    return decode(type, in[first + i / per][lane] >> (i % per * type.bits) & low_bits(type.bits));
  }
  /// Replaces a lane's elements by small integers.
  void prepare(uint64_t* in) const {
    for (unsigned r = first; r < end(); ++r) in[r] = small_integers(type, in[r]);
  }
};

/// Place of element i of a lane. Adjacent elements along k share a register; A's next register is 8 rows further down, the
/// register after that further along k by the elements of four lanes (9.7.14.5.2-13).
struct Place {
  unsigned row, column;
};
inline Place place_a(const ElementType& t, unsigned rows, unsigned lane, unsigned i) {
  const unsigned per = t.per_register();
  return {lane / 4 + 8 * (i / per % (rows / 8)), lane % 4 * per + i % per + i / (per * rows / 8) * 4 * per};
}
inline Place place_b(const ElementType& t, unsigned lane, unsigned i) {
  const unsigned per = t.per_register();
  return {lane % 4 * per + i % per + i / per * 4 * per, lane / 4};
}
inline Place place_c(unsigned lane, unsigned i) { return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2}; }

}  // namespace drywell::kernels::conformance
