// Shapes and fragment sizes of wmma (PTX ISA 9.7.14.4.1).
#pragma once

#include <algorithm>

#include "drywell/isa/mods.h"

namespace drywell::isa {

/// The shape of one wmma.mma.
struct WmmaShape {
  unsigned m = 0, n = 0, k = 0;  // in elements
};
/// The matrices of the instruction; c is also its result.
enum class WmmaMatrix : unsigned char {
  a,
  b,
  c
};

/// The shape that a shape token names.
constexpr WmmaShape wmma_shape(Mod m) {
  switch (m) {
    case Mod::m16n16k16: return {16, 16, 16};
    case Mod::m32n8k16: return {32, 8, 16};
    case Mod::m8n32k16: return {8, 32, 16};
    case Mod::m8n8k32: return {8, 8, 32};
    case Mod::m8n8k128: return {8, 8, 128};
    case Mod::m16n16k8: return {16, 16, 8};
    default: return {8, 8, 4};
  }
}

/// Rows of a matrix.
constexpr unsigned wmma_rows(WmmaShape s, WmmaMatrix x) { return x == WmmaMatrix::b ? s.k : s.m; }
/// Columns of a matrix.
constexpr unsigned wmma_columns(WmmaShape s, WmmaMatrix x) { return x == WmmaMatrix::a ? s.k : s.n; }

/// Registers of a lane's fragment. A and B of .f16 have eight registers in every shape.
inline unsigned wmma_registers(WmmaShape s, WmmaMatrix x, Mod type) {
  if (type == Mod::f16 && x != WmmaMatrix::c) return 8;
  const unsigned bits = type_bits(type), word = bits == 64 ? 64 : 32;
  return std::max(1u, wmma_rows(s, x) * wmma_columns(s, x) * bits / 32 / word);
}

}  // namespace drywell::isa
