// Layout of mma.sync's operands in the lanes of a warp (PTX ISA 9.7.14.5.1-9.7.14.5.13). All shapes but the
// m8n8k4 of f16 follow one rule: four lanes of a quad share a row, and each register holds neighbours along k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "drywell/isa/mma_shape.h"

namespace drywell::sim {

using isa::MmaShape;

/// Row (m or n) and k of an operand element, row and column of an accumulator element.
struct FragmentPlace {
  uint32_t row, column;
};

/// Elements of one register.
constexpr uint32_t per_register(uint32_t bits) { return bits >= 32 ? 1 : 32 / bits; }

/// Element `e` of register `r` of A in lane `lane`.
constexpr FragmentPlace place_in_a(MmaShape s, uint32_t bits, uint32_t lane, uint32_t r, uint32_t e) {
  const uint32_t per = per_register(bits), rows = s.m / 8;
  return {lane / 4 + 8 * (r % rows), lane % 4 * per + 4 * per * (r / rows) + e};
}
/// Element `e` of register `r` of B in lane `lane`; row counts n.
constexpr FragmentPlace place_in_b(uint32_t bits, uint32_t lane, uint32_t r, uint32_t e) {
  const uint32_t per = per_register(bits);
  return {lane / 4, lane % 4 * per + 4 * per * r + e};
}
/// Element `i` of C or D.
constexpr FragmentPlace place_in_d(uint32_t lane, uint32_t i) { return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2}; }

/// m8n8k4 of f16: lanes q*4 .. q*4+3 and 16 more form product q (PTX ISA 9.7.14.5.1).
constexpr uint32_t quad_pair(uint32_t lane) { return lane / 4 % 4; }
/// Row and k of an element of A (for B, row counts n). along_k: the elements of a lane run along k, else along the rows.
constexpr FragmentPlace place_in_quad_operand(bool along_k, uint32_t lane, uint32_t e) {
  const uint32_t upper = lane / 16 * 4, own = lane % 4;
  return along_k ? FragmentPlace{own + upper, e} : FragmentPlace{e + upper, own};
}
constexpr FragmentPlace place_in_quad_d(bool is_f32, uint32_t lane, uint32_t i) {
  const uint32_t upper = lane / 16 * 4;
  if (!is_f32) return {lane % 4 + upper, i};
  return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}

/// ldmatrix and stmatrix: lane l holds the address of the l-th 16-byte row. Byte `b` of register `r` of a lane is a byte of a row
/// (PTX ISA 9.7.14.5.15, figures).
struct RowByte {
  uint32_t row, byte;
};
constexpr RowByte rows_plain(uint32_t lane, uint32_t r, uint32_t b) { return {8 * r + lane / 4, lane % 4 * 4 + b}; }
constexpr RowByte rows_transposed_b16(uint32_t lane, uint32_t r, uint32_t b) { return {8 * r + lane % 4 * 2 + b / 2, lane / 4 * 2 + b % 2}; }
/// Bytes, transposed. A load gives a register four neighbouring rows of one column; the second register of a matrix has the column
/// eight later. A store takes two neighbouring rows of two columns, eight apart. The PTX ISA has only pictures; the source is CUTLASS: the
/// copy traits SM100_U8x8_LDSM_T with the exchange of bytes that its copy() does behind the instruction, and SM100_U8x4_STSM_T.
constexpr RowByte rows_transposed_load_b8(uint32_t lane, uint32_t r, uint32_t b) { return {16 * (r / 2) + lane % 4 * 4 + b, lane / 4 + 8 * (r % 2)}; }
constexpr RowByte rows_transposed_store_b8(uint32_t lane, uint32_t r, uint32_t b) { return {8 * r + lane % 4 * 2 + b % 2, lane / 4 + 8 * (b / 2)}; }

/// Words of one register of A or B, whose elements fill them, to or from rows of `stride` words: a quad of lanes holds four neighbours.
inline void copy_quads(const uint32_t* lanes, uint32_t* first_row, size_t stride) {
  for (uint32_t quad = 0; quad < 8; ++quad) std::memcpy(first_row + quad * stride, lanes + 4 * quad, 4 * sizeof(uint32_t));
}
/// Two registers of C or D (elements i and i + 1 of place_in_d, i even) to eight rows of eight words, and back.
inline void join_pairs(const uint32_t* even, const uint32_t* odd, uint32_t* first_row, size_t stride) {
  for (uint32_t quad = 0; quad < 8; ++quad) {
    uint32_t* const row = first_row + quad * stride;
    for (uint32_t i = 0; i < 4; ++i) {
      row[2 * i] = even[4 * quad + i];
      row[2 * i + 1] = odd[4 * quad + i];
    }
  }
}
inline void part_pairs(const uint32_t* first_row, size_t stride, uint32_t* even, uint32_t* odd) {
  for (uint32_t quad = 0; quad < 8; ++quad) {
    const uint32_t* const row = first_row + quad * stride;
    for (uint32_t i = 0; i < 4; ++i) {
      even[4 * quad + i] = row[2 * i];
      odd[4 * quad + i] = row[2 * i + 1];
    }
  }
}
/// The same for a register of two 16-bit elements.
inline void join_halves(const uint32_t* lanes, uint32_t* first_row, size_t stride) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint32_t* const at = first_row + lane / 4 * stride + lane % 4 * 2;
    at[0] = lanes[lane] & 0xFFFF;
    at[1] = lanes[lane] >> 16;
  }
}
inline void part_halves(const uint32_t* first_row, size_t stride, uint32_t* lanes) {
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t* const at = first_row + lane / 4 * stride + lane % 4 * 2;
    lanes[lane] = at[0] | at[1] << 16;
  }
}

}  // namespace drywell::sim
