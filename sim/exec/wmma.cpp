// Semantics of table/wmma.inc. The fragment layout is implementation-defined; here lane l holds elements l * n … of the
// row-major matrix, n being 1/32 of the elements; .f16 operands repeat their elements to fill eight registers.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/opcode.h"
#include "drywell/isa/wmma_shape.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/matrix.h"
#include "sim/exec/memory.h"
#include "sim/exec/mma_format.h"
#include "sim/state/payload/wmma.h"

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

struct Access {
  Matrix m;
  Space space;
  bool by_columns;
  uint64_t address;
  uint32_t stride;
  /// Bit offset of an element.
  uint64_t bit(uint32_t row, uint32_t column) const { return (by_columns ? uint64_t{column} * stride + row : uint64_t{row} * stride + column) * m.bits; }
};

bool uniform(const Warp& w, const DecodedOp& op, bool has_stride) {
  for (uint32_t lane = 1; lane < kWarpSize; ++lane) {
    if (lane_address(w, op, lane) != lane_address(w, op, 0)) return false;
    if (has_stride && lanes<uint32_t>(w, op.src[1])[lane] != lanes<uint32_t>(w, op.src[1])[0]) return false;
  }
  return true;
}

Effect begin(Warp& w, const DecodedOp& op, LaneMask mask, Access& x) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& p = op.as<payload::WmmaAccess>();
  if (!uniform(w, op, p.has_stride)) return fault(w, Code::F3408, "wmma: lanes disagree on the address or the stride");
  x.m = matrix_of(isa::wmma_shape(p.shape), p.matrix, p.bits);
  x.space = p.space;
  x.by_columns = p.by_columns;
  x.address = lane_address(w, op, 0);
  x.stride = p.has_stride ? lanes<uint32_t>(w, op.src[1])[0] : x.by_columns ? x.m.rows : x.m.columns;
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
  const uint32_t count = op.as<payload::WmmaAccess>().count;
  const Src* slots = slots_at(w, op.as<payload::WmmaAccess>().first_slot);
  const uint32_t low = x.m.bits == 32 ? ~0u : (1u << x.m.bits) - 1, bytes = std::max(1u, x.m.bits / 8);
  const Gmem::Allocation* hint = nullptr;
  bool failed = false;
  if (!Store) {
    for (uint32_t r = 0; r < count; ++r) std::fill_n(lanes<uint32_t>(w, slots[r].offset), kWarpSize, 0u);
  }
  for_elements(x.m, count, [&](uint32_t lane, uint32_t r, uint32_t shift, uint32_t row, uint32_t column) {
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
  op.emplace<payload::WmmaAccess>({.first_slot = d.vector(regs, 32), .count = regs.count, .bits = isa::type_bits(type), .matrix = matrix,
                                   .shape = d.mod(isa::Slot::shape), .by_columns = d.mod(isa::Slot::layout_a) == isa::Mod::col,
                                   .has_stride = stride != nullptr, .space = d.access_space(address)});
  if (stride != nullptr) op.src[1] = d.source(*stride, 32);
  return store ? access<true> : access<false>;
}

struct Product {
  isa::WmmaShape s;
  const Src *d, *a, *b, *c;
};
Product product_of(const Warp& w, const payload::WmmaProduct& x) {
  const Src* s = slots_at(w, x.first_slot);
  return {isa::wmma_shape(x.shape), s, s + x.d, s + x.d + x.a, s + x.d + x.a + x.b};
}

std::vector<uint32_t> codes_of(const Warp& w, const Src* regs, uint32_t count, const Matrix& m, bool by_columns) {
  std::vector<uint32_t> codes(size_t{m.rows} * m.columns);
  const uint32_t low = m.bits == 32 ? ~0u : (1u << m.bits) - 1;
  for_elements(m, count, [&](uint32_t lane, uint32_t r, uint32_t shift, uint32_t row, uint32_t column) {
    codes[by_columns ? column * m.rows + row : row * m.columns + column] = lanes<uint32_t>(w, regs[r])[lane] >> shift & low;
  });
  return codes;
}

void multiply_integers(const payload::WmmaProduct& p, isa::WmmaShape s, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, std::vector<uint32_t>& cd) {
  const auto extend = [&](const std::vector<uint32_t>& codes) {
    const uint32_t flip = p.is_signed ? 1u << (p.bits - 1) : 0;
    std::vector<uint8_t> bytes;
    for (uint32_t c : codes) bytes.push_back(static_cast<uint8_t>((c ^ flip) - flip));
    return bytes;
  };
  const std::vector<uint8_t> x = extend(a), y = extend(b);
  numeric::mma_tile_i8({.m = s.m, .n = s.n, .k = s.k, .a = x.data(), .a_stride = s.k, .a_signed = p.is_signed, .b = y.data(), .b_stride = s.k,
                        .b_signed = p.is_signed, .saturate = p.saturate},
                       {.c = cd.data(), .c_stride = s.n, .d = cd.data(), .d_stride = s.n});
}

void multiply_floats(const payload::WmmaProduct& p, isa::WmmaShape s, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, std::vector<uint32_t>& cd) {
  const numeric::MmaParams& params = numeric::mma_rows()[p.row].params;
  numeric::OperandSource src;
  src.format = p.format;
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
  const auto& x = op.as<payload::WmmaProduct>();
  const Product p = product_of(w, x);
  const std::vector<uint32_t> a = codes_of(w, p.a, x.a, matrix_of(p.s, WmmaMatrix::a, x.bits), false);
  const std::vector<uint32_t> b = codes_of(w, p.b, x.b, matrix_of(p.s, WmmaMatrix::b, x.bits), true);
  std::vector<uint32_t> cd = codes_of(w, p.c, x.c, matrix_of(p.s, WmmaMatrix::c, x.half_c ? 16 : 32), false);
  if (x.half_c && !x.half_d) {
    for (uint32_t& v : cd) v = half_to_float_bits(v);
  }
  x.integer ? multiply_integers(x, p.s, a, b, cd) : multiply_floats(x, p.s, a, b, cd);
  const Matrix d = matrix_of(p.s, WmmaMatrix::c, x.half_d ? 16 : 32);
  for (uint32_t r = 0; r < x.d; ++r) std::fill_n(lanes<uint32_t>(w, p.d[r].offset), kWarpSize, 0u);
  for_elements(d, x.d, [&](uint32_t lane, uint32_t r, uint32_t shift, uint32_t row, uint32_t column) {
    lanes<uint32_t>(w, p.d[r].offset)[lane] |= cd[row * d.columns + column] << shift;
  });
  return Effect::next;
}

ExecFn bind_multiply(Decoder& d, DecodedOp& op, isa::Mod a) {
  const isa::Mod dtype = d.mod(isa::Slot::dtype), ctype = d.mod(isa::Slot::ctype);
  if (a == isa::Mod::f64 || a == isa::Mod::b1) throw Unsupported("wmma of .f64 and .b1: mma.sync has them");
  if (dtype == isa::Mod::f16 && ctype == isa::Mod::f32) throw Unsupported("wmma with C of .f32 and D of .f16: how it is rounded is not public");
  auto& x = op.emplace<payload::WmmaProduct>({.first_slot = d.next_slot(), .shape = d.mod(isa::Slot::shape), .half_c = ctype == isa::Mod::f16,
                                              .half_d = dtype == isa::Mod::f16, .bits = isa::type_bits(a), .integer = dtype == isa::Mod::s32});
  uint8_t* const counts[] = {&x.d, &x.a, &x.b, &x.c};
  for (size_t k = 0; k < 4; ++k) {
    d.vector(*d.operand(k), 32);
    *counts[k] = static_cast<uint8_t>(d.operand(k)->count);
  }
  if (x.integer) {
    x.is_signed = isa::is_signed_type(a);
    x.saturate = d.has(isa::Mod::satfinite);
  } else {
    numeric::MmaQuery q{mma_arch(d.machine()), numeric::MmaInstruction::mma_sync, mma_kind(a), format_of(a), format_of(a), format_of(dtype)};
    x.row = find_row(q);
    x.format = q.a;
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
