// Semantics of table/mma_sync.inc: fragments are gathered into matrices, sim/numeric computes the product, and the
// result is scattered back.
#include <array>
#include <cmath>

#include "drywell/isa/opcode.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/float_math.h"
#include "sim/exec/matrix.h"
#include "sim/exec/mma_format.h"
#include "sim/exec/mma_fragments.h"
#include "sim/exec/rounded.h"

namespace drywell::sim {
namespace {

using payload::Fragments;
using payload::MmaFloat;
using payload::MmaInteger;

const numeric::MmaParams& params_of(const MmaFloat& x) { return numeric::mma_rows()[x.row].params; }

numeric::OperandSource source_of(numeric::Format format, uint32_t rows, uint32_t k, const uint32_t* codes, uint32_t bits) {
  numeric::OperandSource s;
  s.format = format;
  s.rows = rows;
  s.k = k;
  s.codes = codes;
  s.row_stride = size_t{k} * bits / 8;
  s.storage = storage_of(bits);
  return s;
}

// D = A * B + C of shape `s`, whose k counts stored elements of `bits` each; C and D are at `cd`.
void multiply(const MmaFloat& x, MmaShape s, uint32_t bits, const uint32_t* a_codes, const uint32_t* b_codes, uint32_t* cd) {
  numeric::mma_tile(params_of(x), source_of(x.a, s.m, s.k, a_codes, bits), source_of(x.b, s.n, s.k, b_codes, bits), {.c = cd, .c_stride = kMaxN, .d = cd, .d_stride = kMaxN});
}

Effect mma_float(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<MmaFloat>();
  const MmaShape s = x.fragments.shape;
  const Registers regs = registers_of(w, x.fragments);
  const bool half = params_of(x).d_format() == numeric::Format::f16;
  Operands o;
  gather_rows(w, regs, s, x.fragments.bits, o);
  gather_c(w, regs, half, o.cd.data());
  multiply(x, s, x.fragments.bits, o.a.data(), o.b.data(), o.cd.data());
  scatter_d(w, regs, half, o.cd.data());
  return Effect::next;
}

// m8n8k4 with D of f32, as on an H200: fused multiply-adds in k order from 0, then one addition of C (10,240 of 10,240
// words equal; with the fused sum of the other shapes 5,826). With D of f16 the fused sum reproduces every word.
void multiply_quad_f32(Operands& o) {
  const auto value = [](uint32_t half) { return std::bit_cast<float>(half_to_float_bits(half)); };
  for (uint32_t m = 0; m < 8; ++m) {
    for (uint32_t n = 0; n < 8; ++n) {
      float sum = 0;
      for (uint32_t k = 0; k < 4; ++k) sum = std::fma(value(o.a[m * 4 + k]), value(o.b[n * 4 + k]), sum);
      uint32_t& d = o.cd[m * kMaxN + n];
      d = std::bit_cast<uint32_t>(canonical(sum + std::bit_cast<float>(d)));
    }
  }
}

// m8n8k4 of f16: four products, each computed by the lanes q*4 .. q*4+3 and their partners 16 lanes up.
Effect mma_quads(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<payload::MmaQuads>();
  const Registers regs = registers_of(w, x.product.fragments);
  const bool half_c = x.half_c, half_d = x.half_d;
  const MmaShape s{8, 8, 4};
  std::array<Operands, 4> o;
  const auto element = [&](const Src* r, uint32_t lane, uint32_t i) { return lanes<uint32_t>(w, r[i / 2])[lane] >> (16 * (i % 2)) & 0xFFFF; };
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    Operands& q = o[quad_pair(lane)];
    for (uint32_t i = 0; i < 4; ++i) {
      const FragmentPlace a = place_in_quad_operand(x.a_by_rows, lane, i), b = place_in_quad_operand(x.b_by_columns, lane, i);
      q.a[a.row * 4 + a.column] = element(regs.a, lane, i);
      q.b[b.row * 4 + b.column] = element(regs.b, lane, i);
    }
    for (uint32_t i = 0; i < 8; ++i) {
      const FragmentPlace c = place_in_quad_d(!half_c, lane, i);
      const uint32_t v = half_c ? element(regs.c, lane, i) : lanes<uint32_t>(w, regs.c[i])[lane];
      q.cd[c.row * kMaxN + c.column] = half_c && !half_d ? half_to_float_bits(v) : v;
    }
  }
  for (Operands& q : o) half_d ? multiply(x.product, s, 32, q.a.data(), q.b.data(), q.cd.data()) : multiply_quad_f32(q);
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    for (uint32_t i = 0; i < 8; ++i) {
      const FragmentPlace d = place_in_quad_d(!half_d, lane, i);
      const uint32_t v = o[quad_pair(lane)].cd[d.row * kMaxN + d.column];
      uint32_t& word = lanes<uint32_t>(w, regs.d[half_d ? i / 2 : i].offset)[lane];
      word = !half_d ? v : i % 2 == 0 ? v
                                      : (word & 0xFFFF) | v << 16;
    }
  }
  return Effect::next;
}

/// Bytes of integer codes of `bits`, sign- or zero-extended.
void extend(const uint32_t* codes, uint32_t count, uint32_t bits, bool is_signed, uint8_t* out) {
  const uint32_t flip = is_signed ? 1u << (bits - 1) : 0;
  for (uint32_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>((codes[i] ^ flip) - flip);
}

void multiply_integers(const MmaInteger& x, MmaShape s, const uint32_t* a_codes, const uint32_t* b_codes, uint32_t* cd) {
  std::array<uint8_t, kMaxM * 64> a;
  std::array<uint8_t, kMaxN * 64> b;
  extend(a_codes, uint32_t{s.m} * s.k, x.fragments.bits, x.a_signed, a.data());
  extend(b_codes, uint32_t{s.n} * s.k, x.fragments.bits, x.b_signed, b.data());
  numeric::mma_tile_i8({.m = s.m, .n = s.n, .k = s.k, .a = a.data(), .a_stride = s.k, .a_signed = x.a_signed, .b = b.data(), .b_stride = s.k, .b_signed = x.b_signed, .saturate = x.saturate},
                       {.c = cd, .c_stride = kMaxN, .d = cd, .d_stride = kMaxN});
}

Effect mma_integer(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<MmaInteger>();
  const MmaShape s = x.fragments.shape;
  const Registers regs = registers_of(w, x.fragments);
  Operands o;
  gather(w, regs.a, regs.a_count, x.fragments.bits, s.k, o.a.data(), [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_a(s, x.fragments.bits, lane, r, e); });
  gather(w, regs.b, regs.b_count, x.fragments.bits, s.k, o.b.data(), [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_b(x.fragments.bits, lane, r, e); });
  gather_c(w, regs, false, o.cd.data());
  multiply_integers(x, s, o.a.data(), o.b.data(), o.cd.data());
  scatter_d(w, regs, false, o.cd.data());
  return Effect::next;
}

// 2:4 sparse A: in each row a stored element is multiplied by the B element at its dense k; the row does not use the other elements of B.
template <class Mma>
Effect mma_sparse(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  constexpr bool kInteger = std::is_same_v<Mma, MmaInteger>;
  const auto& x = op.as<Mma>();
  const MmaShape dense = x.fragments.shape;
  const uint32_t bits = x.fragments.bits, stored = dense.k / 2u;
  const MmaShape row_shape{1, dense.n, static_cast<uint16_t>(stored)}, a_shape{dense.m, dense.n, static_cast<uint16_t>(stored)};
  const Registers regs = registers_of(w, x.fragments);
  const uint32_t* metadata = lanes<uint32_t>(w, regs.c[regs.c_count]);
  bool half = false;
  if constexpr (!kInteger) half = params_of(x).d_format() == numeric::Format::f16;
  Operands o;
  gather(w, regs.a, regs.a_count, bits, stored, o.a.data(), [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_a(a_shape, bits, lane, r, e); });
  gather(w, regs.b, regs.b_count, bits, dense.k, o.b.data(), [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_b(bits, lane, r, e); });
  gather_c(w, regs, half, o.cd.data());
  std::array<uint32_t, kMaxN * 64> b;
  for (uint32_t row = 0; row < dense.m; ++row) {
    select_for_row(x.fragments, metadata, row, o.b.data(), b.data());
    const uint32_t* a = o.a.data() + size_t{row} * stored;
    if constexpr (kInteger) {
      multiply_integers(x, row_shape, a, b.data(), o.cd.data() + row * kMaxN);
    } else {
      multiply(x, row_shape, 32, a, b.data(), o.cd.data() + row * kMaxN);
    }
  }
  scatter_d(w, regs, half, o.cd.data());
  return Effect::next;
}

// Bits stay packed in words: a quad of lanes holds a row, a register 32 bits of k.
Effect mma_bits(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<payload::MmaBits>();
  const MmaShape s = x.fragments.shape;
  const Registers regs = registers_of(w, x.fragments);
  const uint32_t words = s.k / 32;
  Operands o;
  gather_rows(w, regs, s, 1, o);
  gather_c(w, regs, false, o.cd.data());
  for (uint32_t m = 0; m < s.m; ++m) {
    for (uint32_t n = 0; n < s.n; ++n) {
      for (uint32_t k = 0; k < words; ++k) {
        const uint32_t a = o.a[m * words + k], b = o.b[n * words + k];
        o.cd[m * kMaxN + n] += static_cast<uint32_t>(std::popcount(x.by_and ? a & b : a ^ b));
      }
    }
  }
  scatter_d(w, regs, false, o.cd.data());
  return Effect::next;
}

Effect mma_double(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<payload::MmaDouble>();
  const MmaShape s = x.fragments.shape;
  const Registers regs = registers_of(w, x.fragments);
  std::array<double, kMaxM * 16> a;
  std::array<double, kMaxN * 16> b;
  std::array<double, kMaxM * kMaxN> d;
  const auto read = [&](const Src* from, uint32_t count, auto place, uint32_t stride, double* to) {
    for (uint32_t r = 0; r < count; ++r) {
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const FragmentPlace at = place(lane, r);
        to[at.row * stride + at.column] = std::bit_cast<double>(lanes<uint64_t>(w, from[r])[lane]);
      }
    }
  };
  read(
      regs.a, regs.a_count, [&](uint32_t lane, uint32_t r) { return place_in_a(s, 64, lane, r, 0); }, s.k, a.data());
  read(
      regs.b, regs.b_count, [&](uint32_t lane, uint32_t r) { return place_in_b(64, lane, r, 0); }, s.k, b.data());
  read(regs.c, regs.c_count, place_in_d, kMaxN, d.data());
  const RoundingScope rounding(op.as<payload::MmaDouble>().rounding);
  for (uint32_t m = 0; m < s.m; ++m) {
    for (uint32_t n = 0; n < s.n; ++n) {
      double& at = d[m * kMaxN + n];
      at = numeric::dot_f64({&a[size_t{m} * s.k], s.k}, {&b[size_t{n} * s.k], s.k}, at);
    }
  }
  for (uint32_t r = 0; r < regs.d_count; ++r) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const FragmentPlace at = place_in_d(lane, r);
      lanes<uint64_t>(w, regs.d[r].offset)[lane] = std::bit_cast<uint64_t>(d[at.row * kMaxN + at.column]);
    }
  }
  return Effect::next;
}

// Formats and the numeric row of the float forms.
MmaFloat float_of(Decoder& d) {
  const isa::Mod a = d.mod(isa::Slot::atype), b = d.mod(isa::Slot::btype);
  numeric::MmaQuery q;
  q.arch = mma_arch(d.machine());
  q.instruction = numeric::MmaInstruction::mma_sync;
  q.kind = mma_kind(a);
  q.a = format_of(a);
  q.b = format_of(b);
  q.d = format_of(d.mod(isa::Slot::dtype));
  const uint32_t row = find_row(q);
  return {.fragments = fragments_of(d, 32), .row = row, .a = q.a, .b = q.b};
}
MmaInteger integer_of(Decoder& d) {
  const isa::Mod a = d.mod(isa::Slot::atype), b = d.mod(isa::Slot::btype);
  return {.fragments = fragments_of(d, 32), .a_signed = isa::is_signed_type(a), .b_signed = isa::is_signed_type(b), .saturate = d.has(isa::Mod::satfinite)};
}

}  // namespace

template <> ExecFn bind<isa::row::mma_sync>(Decoder& d, DecodedOp& op) {
  const MmaFloat product = float_of(d);
  if (d.mod(isa::Slot::atype) != isa::Mod::f16 || d.mod(isa::Slot::shape) != isa::Mod::m8n8k4) {
    op.emplace(product);
    return mma_float;
  }
  op.emplace<payload::MmaQuads>({.product = product,
                                 .a_by_rows = d.mod(isa::Slot::layout_a) == isa::Mod::row,
                                 .b_by_columns = d.mod(isa::Slot::layout_b) == isa::Mod::col,
                                 .half_c = d.mod(isa::Slot::ctype) == isa::Mod::f16,
                                 .half_d = d.mod(isa::Slot::dtype) == isa::Mod::f16});
  return mma_quads;
}
template <> ExecFn bind<isa::row::mma_sync_f64>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::MmaDouble>({.fragments = fragments_of(d, 64), .rounding = d.mod(isa::Slot::rnd)});
  return mma_double;
}
template <> ExecFn bind<isa::row::mma_sync_int>(Decoder& d, DecodedOp& op) {
  op.emplace(integer_of(d));
  return mma_integer;
}
template <> ExecFn bind<isa::row::mma_sp>(Decoder& d, DecodedOp& op) {
  add_metadata(d, op.emplace(float_of(d)).fragments);
  return mma_sparse<MmaFloat>;
}
template <> ExecFn bind<isa::row::mma_sp_int>(Decoder& d, DecodedOp& op) {
  add_metadata(d, op.emplace(integer_of(d)).fragments);
  return mma_sparse<MmaInteger>;
}
template <> ExecFn bind<isa::row::mma_sync_b1>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::MmaBits>({.fragments = fragments_of(d, 32), .by_and = d.has(isa::Mod::and_)});
  return mma_bits;
}

}  // namespace drywell::sim
