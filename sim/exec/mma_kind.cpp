// Semantics of table/mma_kind.inc: mma.sync with .kind, dense and sparse, with and without block scales.
// Layouts are those of mma.sync with elements of 8 bits, or of 4 bits for mxf4 and mxf4nvf4
// (docs/facts/sm120.md).
#include <fmt/format.h>

#include "drywell/isa/opcode.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/matrix.h"
#include "sim/exec/mma_format.h"
#include "sim/exec/mma_fragments.h"

namespace drywell::sim {
namespace {

using payload::MmaKind;

constexpr uint32_t kMostFactors = 4;

/// Codes of the scales: `factors` per row of A and per column of B.
struct Scales {
  std::array<uint8_t, kMaxM * kMostFactors> a;
  std::array<uint8_t, kMaxN * kMostFactors> b;
};

// Slots of the scales, from the first on.
enum ScaleSlot : uint32_t {
  kScaleA,
  kByteA,
  kThreadA,
  kScaleB,
  kByteB,
  kThreadB
};

/// A selector is one value for the warp: the machine has it in a uniform register.
std::optional<uint32_t> selector(const Warp& w, Src s, uint32_t limit, uint32_t step) {
  const uint32_t* v = lanes<uint32_t>(w, s);
  const uint32_t first = v[0] & 0xFFFF;
  for (uint32_t lane = 1; lane < kWarpSize; ++lane) {
    if ((v[lane] & 0xFFFF) != first) return std::nullopt;
  }
  return first < limit && first % step == 0 ? std::optional(first) : std::nullopt;
}

/// Lane of a quad that has the scales of a row of A: two neighbours, for rows r and r + 8. A column of B has
/// one lane.
constexpr uint32_t lane_of_scale_a(uint32_t row, uint32_t pair) { return row % 8 * 4 + 2 * pair + row / 8; }
constexpr uint32_t lane_of_scale_b(uint32_t column, uint32_t thread) { return column * 4 + thread; }

bool gather_scales(const Warp& w, const Src* s, uint32_t factors, Scales& out) {
  const auto byte_a = selector(w, s[kByteA], 4, factors), pair = selector(w, s[kThreadA], 2, 1);
  const auto byte_b = selector(w, s[kByteB], 4, factors), thread = selector(w, s[kThreadB], 4, 1);
  if (!byte_a || !pair || !byte_b || !thread) return false;
  const uint32_t *a = lanes<uint32_t>(w, s[kScaleA]), *b = lanes<uint32_t>(w, s[kScaleB]);
  for (uint32_t f = 0; f < factors; ++f) {
    for (uint32_t m = 0; m < kMaxM; ++m)
      out.a[m * factors + f] = static_cast<uint8_t>(a[lane_of_scale_a(m, *pair)] >> (8 * (*byte_a + f)));
    for (uint32_t n = 0; n < kMaxN; ++n)
      out.b[n * factors + f] = static_cast<uint8_t>(b[lane_of_scale_b(n, *thread)] >> (8 * (*byte_b + f)));
  }
  return true;
}

unsigned code_bits(numeric::Format f) {
  return f == numeric::Format::e2m1 ? 4 : f == numeric::Format::e2m3 || f == numeric::Format::e3m2 ? 6
                                                                                                   : 8;
}

/// Takes the elements out of their places; the other bits of a byte do not count.
void extract(uint32_t* codes, uint32_t count, uint32_t shift, numeric::Format format) {
  const uint32_t mask = (1u << code_bits(format)) - 1;
  for (uint32_t i = 0; i < count; ++i) codes[i] = codes[i] >> shift & mask;
}

numeric::OperandSource source_of(const MmaKind& x, numeric::Format format, uint32_t rows, uint32_t k,
                                 const uint32_t* codes, const uint8_t* scales) {
  numeric::OperandSource s;
  s.format = format;
  s.rows = rows;
  s.k = k;
  s.codes = codes;
  s.row_stride = 4 * size_t{k};
  s.storage = numeric::CodeStorage::words;
  s.scale_format = x.scale;
  s.scales_per_row = x.factors;
  s.scales = scales;
  s.scale_stride = x.factors;
  return s;
}

// Rows from `row` on, `k` stored elements each.
void multiply(const MmaKind& x, uint32_t row, uint32_t rows, uint32_t k, const uint32_t* a_codes,
              const uint32_t* b_codes, const Scales& scales, uint32_t* cd) {
  const numeric::MmaParams& params = numeric::mma_rows()[x.product.row].params;
  numeric::MmaOperand a, b;
  a.assign(numeric::MmaOperand::Side::a, params,
           source_of(x, x.product.a, rows, k, a_codes + size_t{row} * k, scales.a.data() + row * x.factors));
  b.assign(numeric::MmaOperand::Side::b, params,
           source_of(x, x.product.b, kMaxN, k, b_codes, scales.b.data()));
  uint32_t* to = cd + row * kMaxN;
  numeric::mma_tile(params, a, b, {.c = to, .c_stride = kMaxN, .d = to, .d_stride = kMaxN});
}

Effect mma_kind(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = need_full_warp(w, mask); e != Effect::next) return e;
  const auto& x = op.as<MmaKind>();
  const payload::Fragments& f = x.product.fragments;
  const MmaShape dense = f.shape;
  const uint32_t stored = dense.k / (x.sparse ? 2u : 1u);
  const Registers regs = registers_of(w, f);
  const bool half = numeric::mma_rows()[x.product.row].params.d_format() == numeric::Format::f16;
  Scales scales;
  if (x.factors != 0 && !gather_scales(w, regs.c + regs.c_count + (x.sparse ? 1 : 0), x.factors, scales)) {
    return fault(w, Code::F3409,
                 "the byte and thread selectors of a scale are one value for the warp: bytes below 4 in "
                 "steps of the scale vector, A's thread 0 or 1, B's 0 to 3");
  }
  Operands o;
  const MmaShape a_shape{dense.m, dense.n, static_cast<uint16_t>(stored)};
  gather(w, regs.a, regs.a_count, f.bits, stored, o.a.data(),
         [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_a(a_shape, f.bits, lane, r, e); });
  gather(w, regs.b, regs.b_count, f.bits, dense.k, o.b.data(),
         [&](uint32_t lane, uint32_t r, uint32_t e) { return place_in_b(f.bits, lane, r, e); });
  gather_c(w, regs, half, o.cd.data());
  extract(o.a.data(), uint32_t{dense.m} * stored, x.a_shift, x.product.a);
  extract(o.b.data(), uint32_t{dense.n} * dense.k, x.b_shift, x.product.b);
  if (!x.sparse) {
    multiply(x, 0, dense.m, dense.k, o.a.data(), o.b.data(), scales, o.cd.data());
  } else {
    const uint32_t* metadata = lanes<uint32_t>(w, regs.c[regs.c_count]);
    std::array<uint32_t, kMaxN * 64> b;
    for (uint32_t row = 0; row < dense.m; ++row) {
      select_for_row(f, metadata, row, o.b.data(), b.data());
      multiply(x, row, 1, stored, o.a.data(), b.data(), scales, o.cd.data());
    }
  }
  scatter_d(w, regs, half, o.cd.data());
  return Effect::next;
}

numeric::MmaKind numeric_kind(isa::Mod kind) {
  switch (kind) {
    case isa::Mod::kind_mxf8f6f4: return numeric::MmaKind::mxf8f6f4;
    case isa::Mod::kind_mxf4: return numeric::MmaKind::mxf4;
    case isa::Mod::kind_mxf4nvf4: return numeric::MmaKind::mxf4nvf4;
    default: return numeric::MmaKind::f8f6f4;
  }
}

/// e2m1 in a byte is in bits 5 to 2, the other formats begin at bit 0 (CUTLASS fp4_shift_A;
/// docs/facts/sm120.md).
uint8_t shift_of(numeric::Format f, unsigned bits) { return f == numeric::Format::e2m1 && bits == 8 ? 2 : 0; }

void push_scale(Decoder& d, size_t scale, size_t id) {
  const isa::Operand& s = *d.operand(scale);
  d.push_slot(d.source(s.kind == isa::Operand::Kind::vec ? d.elements(s)[0] : s, 32));
  for (const isa::Operand& e : d.elements(*d.operand(id))) d.push_slot(d.source(e, 32));
}

ExecFn bind_kind(Decoder& d, DecodedOp& op) {
  MmaKind x;
  const isa::Mod kind = d.mod(isa::Slot::kind);
  numeric::MmaQuery q{.arch = mma_arch(d.machine()),
                      .instruction = numeric::MmaInstruction::mma_sync,
                      .kind = numeric_kind(kind),
                      .a = format_of(d.mod(isa::Slot::atype)),
                      .b = format_of(d.mod(isa::Slot::btype)),
                      .d = format_of(d.mod(isa::Slot::dtype))};
  x.sparse = d.mod(isa::Slot::sp) != isa::Mod::none;
  if (d.has(isa::Mod::block_scale)) {
    q.scale = x.scale =
        d.mod(isa::Slot::stype) == isa::Mod::ue4m3 ? numeric::Format::ue4m3 : numeric::Format::ue8m0;
    x.factors = static_cast<uint8_t>(isa::mma_scale_factors(kind, d.mod(isa::Slot::scale_vec)));
  }
  x.product = {.fragments = fragments_of(d, 32), .row = find_row(q), .a = q.a, .b = q.b};
  payload::Fragments& f = x.product.fragments;
  f.bits = q.kind == numeric::MmaKind::mxf4 || q.kind == numeric::MmaKind::mxf4nvf4 ? 4 : 8;
  x.a_shift = shift_of(q.a, f.bits);
  x.b_shift = shift_of(q.b, f.bits);
  if (x.sparse) add_metadata(d, f);
  if (x.factors != 0) {
    const size_t first = x.sparse ? 6 : 4;  // operands behind C, or behind metadata and selector
    push_scale(d, first, first + 1);
    push_scale(d, first + 2, first + 3);
  }
  op.emplace(x);
  return mma_kind;
}

}  // namespace

template <>
ExecFn bind<isa::row::mma_f8f6f4>(Decoder& d, DecodedOp& op) {
  return bind_kind(d, op);
}
template <>
ExecFn bind<isa::row::mma_scaled>(Decoder& d, DecodedOp& op) {
  return bind_kind(d, op);
}
template <>
ExecFn bind<isa::row::mma_sp_f8f6f4>(Decoder& d, DecodedOp& op) {
  return bind_kind(d, op);
}
template <>
ExecFn bind<isa::row::mma_sp_scaled>(Decoder& d, DecodedOp& op) {
  return bind_kind(d, op);
}

}  // namespace drywell::sim
