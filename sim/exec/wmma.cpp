// Semantics of table/wmma.inc. The fragment layout is implementation-defined; here lane l holds elements l * n … of the
// row-major matrix, n being 1/32 of the elements; .f16 operands repeat their elements to fill eight registers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "drywell/isa/opcode.h"
#include "drywell/isa/wmma_shape.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/fragment_lines.h"
#include "sim/exec/matrix.h"
#include "sim/exec/memory.h"
#include "sim/exec/mma_format.h"
#include "sim/exec/rounded.h"
#include "sim/state/payload/wmma.h"

namespace drywell::sim {
namespace {

using isa::WmmaMatrix;

/// A matrix in fragments.
struct Matrix {
  uint32_t rows = 0, columns = 0, bits = 32;
  uint32_t per_lane() const { return rows * columns / kWarpSize; }
  uint32_t words_per_lane() const { return per_lane() * bits / 32; }
};
Matrix matrix_of(isa::WmmaShape s, WmmaMatrix x, uint32_t bits) { return {isa::wmma_rows(s, x), isa::wmma_columns(s, x), bits}; }

/// The elements of a matrix row by row, or column by column, without gaps.
using Elements = std::array<uint32_t, kWarpSize * 8>;
using Doubles = std::array<double, kWarpSize * 4>;

// The lines of the other direction: rows of columns, or columns of rows.
template <class T>
void turn(uint32_t lines, uint32_t length, const uint32_t* from, uint32_t* to) {
  const auto* in = reinterpret_cast<const uint8_t*>(from);
  auto* out = reinterpret_cast<uint8_t*>(to);
  for (uint32_t i = 0; i < lines; ++i) {
    for (uint32_t j = 0; j < length; ++j) std::memcpy(out + (j * lines + i) * sizeof(T), in + (i * length + j) * sizeof(T), sizeof(T));
  }
}
/// Of less than a byte.
void turn_packed(uint32_t bits, uint32_t lines, uint32_t length, const uint32_t* from, uint32_t* to) {
  const uint32_t in_word = 32 / bits, low = (1u << bits) - 1;
  std::fill_n(to, lines * length / in_word, 0u);
  for (uint32_t i = 0; i < lines * length; ++i) {
    const uint32_t at = i % length * lines + i / length;
    to[at / in_word] |= (from[i / in_word] >> (i % in_word * bits) & low) << (at % in_word * bits);
  }
}
void turn(uint32_t bits, uint32_t lines, uint32_t length, const uint32_t* from, uint32_t* to) {
  switch (bits) {
    case 1:
    case 4: return turn_packed(bits, lines, length, from, to);
    case 8: return turn<uint8_t>(lines, length, from, to);
    case 16: return turn<uint16_t>(lines, length, from, to);
    case 64: return turn<uint64_t>(lines, length, from, to);
    default: return turn<uint32_t>(lines, length, from, to);
  }
}

void doubles_to_registers(Warp& w, const Src* regs, uint32_t count, const Elements& e) {
  for (uint32_t r = 0; r < count; ++r) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) std::memcpy(&lanes<uint64_t>(w, regs[r].offset)[lane], &e[2 * (lane * count + r)], 8);
  }
}
void doubles_from_registers(const Warp& w, const Src* regs, uint32_t count, Elements& e) {
  for (uint32_t r = 0; r < count; ++r) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) std::memcpy(&e[2 * (lane * count + r)], &lanes<uint64_t>(w, regs[r])[lane], 8);
  }
}

// Row by row. A register of .f64 holds two words.
void to_registers(Warp& w, const Src* regs, uint32_t count, const Matrix& m, const Elements& e) {
  if (m.bits == 64) return doubles_to_registers(w, regs, count, e);
  for (uint32_t r = 0; r < count; ++r) {
    uint32_t* v = lanes<uint32_t>(w, regs[r].offset);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) v[lane] = e[lane * m.words_per_lane() + r % m.words_per_lane()];
  }
}
void from_registers(const Warp& w, const Src* regs, const Matrix& m, Elements& e) {
  if (m.bits == 64) return doubles_from_registers(w, regs, m.per_lane(), e);
  for (uint32_t r = 0; r < m.words_per_lane(); ++r) {
    const uint32_t* v = lanes<uint32_t>(w, regs[r]);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) e[lane * m.words_per_lane() + r] = v[lane];
  }
}

struct Access {
  Matrix m;
  Space space;
  bool by_columns;
  uint64_t address;
  uint32_t stride;

  uint32_t lines() const { return by_columns ? m.columns : m.rows; }
  uint32_t length() const { return by_columns ? m.rows : m.columns; }
};

Access access_of(const Warp& w, const DecodedOp& op) {
  const auto& p = op.as<payload::WmmaAccess>();
  Access x{matrix_of(isa::wmma_shape(p.shape), p.matrix, p.bits), p.space, p.by_columns, lane_address(w, op, 0), 0};
  x.stride = p.has_stride ? lanes<uint32_t>(w, op.src[1])[0] : x.by_columns ? x.m.rows
                                                                            : x.m.columns;
  return x;
}

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
  x = access_of(w, op);
  return Effect::next;
}

// The bytes of a line of the matrix in memory, or nullptr after a fault, which names the first element that is wrong.
uint8_t* line_of(Warp& w, const Access& x, uint32_t line, uint32_t length, bool store, const Gmem::Allocation*& hint) {
  const uint32_t element = std::max(1u, x.m.bits / 8);
  const uint64_t bits = uint64_t{line} * x.stride * x.m.bits, address = x.address + bits / 8, bytes = uint64_t{length} * x.m.bits / 8;
  if (bits % 8 != 0) {
    fault(w, Code::F3002, fmt::format("wmma: with a stride of {} elements of {} bits, line {} begins within a byte", x.stride, x.m.bits, line));
    return nullptr;
  }
  uint8_t* p = resolve(w, x.space, address, bytes, 0, hint);
  if (p != nullptr && address % element == 0) return p;
  for (uint64_t at = address; at < address + bytes; at += element) {
    if (at % element != 0 || resolve(w, x.space, at, element, 0, hint) == nullptr) {
      access_fault(w, x.space, at, element, 0, store);
      return nullptr;
    }
  }
  access_fault(w, x.space, address, bytes, 0, store);  // two allocations, one behind the other
  return nullptr;
}

template <bool Store>
Effect access(Warp& w, const DecodedOp& op, LaneMask mask) {
  Access x;
  if (const Effect e = begin(w, op, mask, x); e != Effect::next) return e;
  const auto& p = op.as<payload::WmmaAccess>();
  const Src* slots = slots_at(w, p.first_slot);
  const uint32_t lines = x.lines(), length = x.length(), bytes = length * x.m.bits / 8;
  Elements by_lines, by_rows;
  if (Store) {
    from_registers(w, slots, x.m, by_rows);
    x.by_columns ? turn(x.m.bits, x.m.rows, x.m.columns, by_rows.data(), by_lines.data()) : void(by_lines = by_rows);
  }
  const Gmem::Allocation* hint = nullptr;
  auto* at = reinterpret_cast<uint8_t*>(by_lines.data());
  for (uint32_t line = 0; line < lines; ++line, at += bytes) {
    uint8_t* memory = line_of(w, x, line, length, Store, hint);
    if (memory == nullptr) return Effect::fault;
    Store ? std::memcpy(memory, at, bytes) : std::memcpy(at, memory, bytes);
  }
  if (!Store) {
    x.by_columns ? turn(x.m.bits, lines, length, by_lines.data(), by_rows.data()) : void(by_rows = by_lines);
    to_registers(w, slots, p.count, x.m, by_rows);
  }
  return Effect::next;
}

ExecFn bind_access(Decoder& d, DecodedOp& op, WmmaMatrix matrix, const isa::Operand& regs, const isa::Operand& address, const isa::Operand* stride, bool store) {
  const isa::Mod type = d.mod(isa::Slot::type);
  const uint32_t bits = isa::type_bits(type);
  d.set_address(op, address);
  op.emplace<payload::WmmaAccess>({.first_slot = d.vector(regs, bits == 64 ? 64 : 32), .count = regs.count, .bits = bits, .matrix = matrix, .shape = d.mod(isa::Slot::shape), .by_columns = d.mod(isa::Slot::layout_a) == isa::Mod::col, .has_stride = stride != nullptr, .space = d.access_space(address)});
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

void multiply_integers(const payload::WmmaProduct& p, isa::WmmaShape s, const Elements& a, const Elements& b, uint32_t* cd) {
  const auto extend = [&](const Elements& codes, uint32_t count) {
    const uint32_t low = (1u << p.bits) - 1, flip = p.is_signed ? 1u << (p.bits - 1) : 0;
    std::vector<uint8_t> bytes(count);
    for (uint32_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(((codes[i * p.bits / 32] >> (i * p.bits % 32) & low) ^ flip) - flip);
    return bytes;
  };
  const std::vector<uint8_t> x = extend(a, s.m * s.k), y = extend(b, s.n * s.k);
  numeric::mma_tile_i8({.m = s.m, .n = s.n, .k = s.k, .a = x.data(), .a_stride = s.k, .a_signed = p.is_signed, .b = y.data(), .b_stride = s.k, .b_signed = p.is_signed, .saturate = p.saturate},
                       {.c = cd, .c_stride = s.n, .d = cd, .d_stride = s.n});
}

void multiply_bits(const payload::WmmaProduct& p, isa::WmmaShape s, const Elements& a, const Elements& b, uint32_t* cd) {
  const uint32_t words = s.k / 32;
  for (uint32_t i = 0; i < s.m * s.n * words; ++i) {
    const uint32_t at = i / words, x = a[at / s.n * words + i % words], y = b[at % s.n * words + i % words];
    cd[at] += static_cast<uint32_t>(std::popcount(p.by_and ? x & y : x ^ y));
  }
}

void multiply_floats(const payload::WmmaProduct& p, isa::WmmaShape s, const Elements& a, const Elements& b, uint32_t* cd) {
  const auto source = [&](uint32_t rows, const Elements& e) {
    numeric::OperandSource src;
    src.format = p.format;
    src.rows = rows;
    src.k = s.k;
    src.codes = e.data();
    src.row_stride = size_t{s.k} * p.bits / 8;
    src.storage = p.bits == 32 ? numeric::CodeStorage::words : numeric::CodeStorage::halves;
    return src;
  };
  numeric::mma_tile(numeric::mma_rows()[p.row].params, source(s.m, a), source(s.n, b), {.c = cd, .c_stride = s.n, .d = cd, .d_stride = s.n});
}

/// Words, one per element, of C or D.
void widen(const Elements& halves, uint32_t count, uint32_t* out) {
  for (uint32_t i = 0; i < count; ++i) out[i] = halves[i / 2] >> (16 * (i % 2)) & 0xFFFF;
}
void narrow(const uint32_t* words, uint32_t count, Elements& halves) {
  for (uint32_t i = 0; i < count; i += 2) halves[i / 2] = (words[i] & 0xFFFF) | words[i + 1] << 16;
}

Effect multiply(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<payload::WmmaProduct>();
  const Product p = product_of(w, x);
  const Matrix mb = matrix_of(p.s, WmmaMatrix::b, x.bits), mc = matrix_of(p.s, WmmaMatrix::c, x.half_c ? 16 : 32), md = matrix_of(p.s, WmmaMatrix::c, x.half_d ? 16 : 32);
  const uint32_t count = mc.rows * mc.columns;
  Elements a, b_rows, b, c, cd;
  from_registers(w, p.a, matrix_of(p.s, WmmaMatrix::a, x.bits), a);
  from_registers(w, p.b, mb, b_rows);
  turn(x.bits, mb.rows, mb.columns, b_rows.data(), b.data());  // along k
  from_registers(w, p.c, mc, c);
  x.half_c ? widen(c, count, cd.data()) : void(cd = c);
  if (x.half_c && !x.half_d) std::transform(cd.begin(), cd.begin() + count, cd.begin(), half_to_float_bits);
  const auto product = !x.integer ? multiply_floats : x.bits == 1 ? multiply_bits
                                                                  : multiply_integers;
  product(x, p.s, a, b, cd.data());
  if (x.half_d) narrow(cd.data(), count, c);
  to_registers(w, p.d, x.d, md, x.half_d ? c : cd);
  return Effect::next;
}

Effect multiply_doubles(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<payload::WmmaProduct>();
  const Product p = product_of(w, x);
  const Matrix mb = matrix_of(p.s, WmmaMatrix::b, 64), mc = matrix_of(p.s, WmmaMatrix::c, 64);
  Elements a_words, b_rows, b_words, words;
  from_registers(w, p.a, matrix_of(p.s, WmmaMatrix::a, 64), a_words);
  from_registers(w, p.b, mb, b_rows);
  turn(64, mb.rows, mb.columns, b_rows.data(), b_words.data());  // along k
  from_registers(w, p.c, mc, words);
  const auto a = std::bit_cast<Doubles>(a_words), b = std::bit_cast<Doubles>(b_words);
  auto cd = std::bit_cast<Doubles>(words);
  const RoundingScope rounding(x.rounding);
  for (uint32_t i = 0; i < mc.rows * mc.columns; ++i) cd[i] = numeric::dot_f64({&a[size_t{i / mc.columns} * p.s.k], p.s.k}, {&b[size_t{i % mc.columns} * p.s.k], p.s.k}, cd[i]);
  to_registers(w, p.d, x.d, mc, std::bit_cast<Elements>(cd));
  return Effect::next;
}

ExecFn bind_multiply(Decoder& d, DecodedOp& op, isa::Mod a) {
  const isa::Mod dtype = d.mod(isa::Slot::dtype), ctype = d.mod(isa::Slot::ctype);
  if (dtype == isa::Mod::f16 && ctype == isa::Mod::f32) throw Unsupported("wmma with C of .f32 and D of .f16: how it is rounded is not public");
  auto& x = op.emplace<payload::WmmaProduct>({.first_slot = d.next_slot(), .shape = d.mod(isa::Slot::shape), .half_c = ctype == isa::Mod::f16, .half_d = dtype == isa::Mod::f16, .bits = isa::type_bits(a), .integer = dtype == isa::Mod::s32, .rounding = d.mod(isa::Slot::rnd)});
  uint8_t* const counts[] = {&x.d, &x.a, &x.b, &x.c};
  for (size_t k = 0; k < 4; ++k) {
    d.vector(*d.operand(k), a == isa::Mod::f64 ? 64 : 32);
    *counts[k] = static_cast<uint8_t>(d.operand(k)->count);
  }
  if (a == isa::Mod::f64) return multiply_doubles;
  if (x.integer) {
    x.by_and = d.has(isa::Mod::and_);
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

FragmentLines fragment_lines(const Warp& w, const DecodedOp& op) {
  const Access x = access_of(w, op);
  return {x.address, uint64_t{x.stride} * x.m.bits / 8, x.lines(), x.length() * x.m.bits / 8};
}

}  // namespace drywell::sim
