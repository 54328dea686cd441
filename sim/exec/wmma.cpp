// Semantics of table/wmma.inc. The layout of fragments is the implementation's own: lane l holds elements l * n … of the
// row-major matrix, n of 32 shares; .f16 operands repeat theirs to fill eight registers.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/opcode.h"
#include "drywell/isa/wmma_shape.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/matrix.h"
#include "sim/exec/memory.h"
#include "sim/exec/mma_format.h"

namespace drywell::sim {
namespace {

using isa::WmmaMatrix;

/// A matrix in fragments: codes row by row, or column by column for B, so that both run along k.
struct Matrix {
  uint32_t rows = 0, columns = 0, bits = 32;
  uint32_t per_lane() const { return rows * columns / kWarpSize; }
};
Matrix matrix_of(isa::WmmaShape s, WmmaMatrix x, uint32_t bits) { return {isa::wmma_rows(s, x), isa::wmma_columns(s, x), bits}; }

// Calls f(lane, register, shift, row, column) for every element slot of the fragments.
template <class F>
void for_elements(const Matrix& m, uint32_t registers, F f) {
  const uint32_t per = 32 / m.bits;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    for (uint32_t i = 0; i < registers * per; ++i) {
      const uint32_t e = lane * m.per_lane() + i % m.per_lane();
      f(lane, i / per, i % per * m.bits, e / m.columns, e % m.columns);
    }
  }
}

// op.dst: matrix; op.dst2: element bits; op.target: shape; op.extra: bit 0 .col, bit 1 there is a stride, from bit 8 the space.
struct Access {
  Matrix m;
  Space space;
  bool by_columns;
  uint64_t address;
  uint32_t stride;
  /// Bit offset of an element.
  uint64_t bit(uint32_t row, uint32_t column) const { return (by_columns ? uint64_t{column} * stride + row : uint64_t{row} * stride + column) * m.bits; }
};

bool uniform(const Warp& w, const DecodedOp& op) {
  for (uint32_t lane = 1; lane < kWarpSize; ++lane) {
    if (lane_address(w, op, lane) != lane_address(w, op, 0)) return false;
    if ((op.extra & 2) != 0 && lanes<uint32_t>(w, op.src[1])[lane] != lanes<uint32_t>(w, op.src[1])[0]) return false;
  }
  return true;
}

Effect begin(Warp& w, const DecodedOp& op, LaneMask mask, Access& x) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  if (!uniform(w, op)) return fault(w, "F3408", "wmma: lanes disagree on the address or the stride");
  x.m = matrix_of(isa::wmma_shape(static_cast<isa::Mod>(op.target)), static_cast<WmmaMatrix>(op.dst), op.dst2);
  x.space = static_cast<Space>(op.extra >> 8);
  x.by_columns = (op.extra & 1) != 0;
  x.address = lane_address(w, op, 0);
  x.stride = (op.extra & 2) != 0 ? lanes<uint32_t>(w, op.src[1])[0] : x.by_columns ? x.m.rows : x.m.columns;
  return Effect::next;
}

// The element's bytes, or nullptr after a fault; 4-bit elements share a byte.
uint8_t* element(Warp& w, const Access& x, uint32_t row, uint32_t column, bool store, const Gmem::Allocation*& hint) {
  const uint64_t bit = x.bit(row, column), bytes = std::max(1u, x.m.bits / 8), address = x.address + bit / 8;
  uint8_t* p = resolve(w, x.space, address, bytes, 0, hint);
  if (p == nullptr || address % bytes != 0) {
    access_fault(w, x.space, address, bytes, 0, store);
    return nullptr;
  }
  return p;
}

template <bool Store>
Effect access(Warp& w, const DecodedOp& op, LaneMask mask) {
  Access x;
  if (const Effect e = begin(w, op, mask, x); e != Effect::next) return e;
  const Src* slots = &w.cta->cluster->launch->program->slots[op.vec];
  const uint32_t low = x.m.bits == 32 ? ~0u : (1u << x.m.bits) - 1, bytes = std::max(1u, x.m.bits / 8);
  const Gmem::Allocation* hint = nullptr;
  bool failed = false;
  if (!Store) {
    for (uint32_t r = 0; r < op.count; ++r) std::fill_n(lanes<uint32_t>(w, slots[r].offset), kWarpSize, 0u);
  }
  for_elements(x.m, op.count, [&](uint32_t lane, uint32_t r, uint32_t shift, uint32_t row, uint32_t column) {
    uint8_t* p = failed ? nullptr : element(w, x, row, column, Store, hint);
    failed = p == nullptr;
    if (failed) return;
    if constexpr (Store) {
      const uint32_t v = lanes<uint32_t>(w, slots[r])[lane] >> shift & low;
      std::memcpy(p, &v, bytes);
    } else {
      uint32_t v = 0;
      std::memcpy(&v, p, bytes);
      if (x.m.bits < 8) v >>= x.bit(row, column) % 8;
      lanes<uint32_t>(w, slots[r].offset)[lane] |= (v & low) << shift;
    }
  });
  return failed ? Effect::fault : Effect::next;
}

ExecFn bind_access(Decoder& d, DecodedOp& op, WmmaMatrix matrix, const isa::Operand& regs, const isa::Operand& address, const isa::Operand* stride, bool store) {
  const isa::Mod type = d.mod(isa::Slot::type);
  if (type == isa::Mod::f64 || type == isa::Mod::b1) throw Unsupported("wmma of .f64 and .b1: mma.sync has them");
  d.set_address(op, address);
  op.vec = d.vector(regs, 32);
  op.count = static_cast<uint8_t>(regs.count);
  op.dst = static_cast<uint32_t>(matrix);
  op.dst2 = isa::type_bits(type);
  op.target = static_cast<uint32_t>(d.mod(isa::Slot::shape));
  op.extra = uint32_t{d.mod(isa::Slot::layout_a) == isa::Mod::col} | uint32_t{stride != nullptr} << 1 | static_cast<uint32_t>(d.access_space(address)) << 8;
  if (stride != nullptr) op.src[1] = d.source(*stride, 32);
  return store ? access<true> : access<false>;
}

// op.vec: d, a, b, c; op.extra: their counts; op.target: shape; op.dst: bits of A; op.dst2: row of numeric::mma_rows(), or
// for integers bit 0 signed, bit 1 saturate; op.count: bit 0 D is f16, bit 1 C is f16, bit 2 integer; op.imm: format of A.
struct Product {
  isa::WmmaShape s;
  const Src *d, *a, *b, *c;
  uint32_t counts[4];
};
Product product_of(const Warp& w, const DecodedOp& op) {
  Product p;
  p.s = isa::wmma_shape(static_cast<isa::Mod>(op.target));
  for (uint32_t k = 0; k < 4; ++k) p.counts[k] = op.extra >> (8 * k) & 0xFF;
  p.d = &w.cta->cluster->launch->program->slots[op.vec];
  p.a = p.d + p.counts[0];
  p.b = p.a + p.counts[1];
  p.c = p.b + p.counts[2];
  return p;
}

std::vector<uint32_t> codes_of(const Warp& w, const Src* regs, uint32_t count, const Matrix& m, bool by_columns) {
  std::vector<uint32_t> codes(size_t{m.rows} * m.columns);
  const uint32_t low = m.bits == 32 ? ~0u : (1u << m.bits) - 1;
  for_elements(m, count, [&](uint32_t lane, uint32_t r, uint32_t shift, uint32_t row, uint32_t column) {
    codes[by_columns ? column * m.rows + row : row * m.columns + column] = lanes<uint32_t>(w, regs[r])[lane] >> shift & low;
  });
  return codes;
}

void multiply_integers(const DecodedOp& op, isa::WmmaShape s, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, std::vector<uint32_t>& cd) {
  const bool is_signed = (op.dst2 & 1) != 0;
  const auto extend = [&](const std::vector<uint32_t>& codes) {
    const uint32_t flip = is_signed ? 1u << (op.dst - 1) : 0;
    std::vector<uint8_t> bytes;
    for (uint32_t c : codes) bytes.push_back(static_cast<uint8_t>((c ^ flip) - flip));
    return bytes;
  };
  const std::vector<uint8_t> x = extend(a), y = extend(b);
  numeric::mma_tile_i8({.m = s.m, .n = s.n, .k = s.k, .a = x.data(), .a_stride = s.k, .a_signed = is_signed, .b = y.data(), .b_stride = s.k,
                        .b_signed = is_signed, .saturate = (op.dst2 & 2) != 0},
                       {.c = cd.data(), .c_stride = s.n, .d = cd.data(), .d_stride = s.n});
}

void multiply_floats(const DecodedOp& op, isa::WmmaShape s, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, std::vector<uint32_t>& cd) {
  const numeric::MmaParams& params = numeric::mma_rows()[op.dst2].params;
  numeric::OperandSource src;
  src.format = static_cast<numeric::Format>(op.imm);
  src.k = s.k;
  src.row_stride = 4 * size_t{s.k};
  src.storage = numeric::CodeStorage::words;
  numeric::MmaOperand x, y;
  src.rows = s.m;
  src.codes = a.data();
  x.assign(numeric::MmaOperand::Side::a, params, src);
  src.rows = s.n;
  src.codes = b.data();
  y.assign(numeric::MmaOperand::Side::b, params, src);
  numeric::mma_tile(params, x, y, {.c = cd.data(), .c_stride = s.n, .d = cd.data(), .d_stride = s.n});
}

Effect multiply(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const Product p = product_of(w, op);
  const bool half_d = (op.count & 1) != 0, half_c = (op.count & 2) != 0;
  const std::vector<uint32_t> a = codes_of(w, p.a, p.counts[1], matrix_of(p.s, WmmaMatrix::a, op.dst), false);
  const std::vector<uint32_t> b = codes_of(w, p.b, p.counts[2], matrix_of(p.s, WmmaMatrix::b, op.dst), true);
  std::vector<uint32_t> cd = codes_of(w, p.c, p.counts[3], matrix_of(p.s, WmmaMatrix::c, half_c ? 16 : 32), false);
  if (half_c && !half_d) {
    for (uint32_t& v : cd) v = half_to_float_bits(v);
  }
  (op.count & 4) != 0 ? multiply_integers(op, p.s, a, b, cd) : multiply_floats(op, p.s, a, b, cd);
  const Matrix d = matrix_of(p.s, WmmaMatrix::c, half_d ? 16 : 32);
  for (uint32_t r = 0; r < p.counts[0]; ++r) std::fill_n(lanes<uint32_t>(w, p.d[r].offset), kWarpSize, 0u);
  for_elements(d, p.counts[0], [&](uint32_t lane, uint32_t r, uint32_t shift, uint32_t row, uint32_t column) {
    lanes<uint32_t>(w, p.d[r].offset)[lane] |= cd[row * d.columns + column] << shift;
  });
  return Effect::next;
}

ExecFn bind_multiply(Decoder& d, DecodedOp& op, isa::Mod a) {
  const isa::Mod dtype = d.mod(isa::Slot::dtype), ctype = d.mod(isa::Slot::ctype);
  if (a == isa::Mod::f64 || a == isa::Mod::b1) throw Unsupported("wmma of .f64 and .b1: mma.sync has them");
  if (dtype == isa::Mod::f16 && ctype == isa::Mod::f32) throw Unsupported("wmma with C of .f32 and D of .f16: how it is rounded is not public");
  for (size_t k = 0; k < 4; ++k) {
    const uint32_t first = d.vector(*d.operand(k), 32);
    if (k == 0) op.vec = first;
    op.extra |= uint32_t{d.operand(k)->count} << (8 * k);
  }
  op.target = static_cast<uint32_t>(d.mod(isa::Slot::shape));
  op.dst = isa::type_bits(a);
  op.count = static_cast<uint8_t>(uint32_t{dtype == isa::Mod::f16} | uint32_t{ctype == isa::Mod::f16} << 1 | uint32_t{dtype == isa::Mod::s32} << 2);
  if (dtype == isa::Mod::s32) {
    op.dst2 = uint32_t{isa::is_signed_type(a)} | uint32_t{d.has(isa::Mod::satfinite)} << 1;
  } else {
    numeric::MmaQuery q{mma_arch(d.module().target), numeric::MmaInstruction::mma_sync, mma_kind(a), format_of(a), format_of(a), format_of(dtype)};
    op.dst2 = find_row(q);
    op.imm = static_cast<uint64_t>(q.a);
  }
  return multiply;
}

}  // namespace

template <> ExecFn bind<isa::row::wmma_load_a>(Decoder& d, DecodedOp& op) { return bind_access(d, op, WmmaMatrix::a, *d.operand(0), *d.operand(1), d.operand(2), false); }
template <> ExecFn bind<isa::row::wmma_load_b>(Decoder& d, DecodedOp& op) { return bind_access(d, op, WmmaMatrix::b, *d.operand(0), *d.operand(1), d.operand(2), false); }
template <> ExecFn bind<isa::row::wmma_load_c>(Decoder& d, DecodedOp& op) { return bind_access(d, op, WmmaMatrix::c, *d.operand(0), *d.operand(1), d.operand(2), false); }
template <> ExecFn bind<isa::row::wmma_store_d>(Decoder& d, DecodedOp& op) { return bind_access(d, op, WmmaMatrix::c, *d.operand(1), *d.operand(0), d.operand(2), true); }
template <> ExecFn bind<isa::row::wmma_mma_f16>(Decoder& d, DecodedOp& op) { return bind_multiply(d, op, isa::Mod::f16); }
template <> ExecFn bind<isa::row::wmma_mma>(Decoder& d, DecodedOp& op) { return bind_multiply(d, op, d.mod(isa::Slot::atype)); }

}  // namespace drywell::sim
