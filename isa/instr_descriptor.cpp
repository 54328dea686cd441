#include "drywell/isa/instr_descriptor.h"

#include "drywell/core/bits.h"
#include "fmt/format.h"

namespace drywell::isa {
namespace {

// Fields of all layouts.
using Sparse = BitField<2, 1>;
using NegateA = BitField<13, 1>;
using NegateB = BitField<14, 1>;
using NDim = BitField<17, 6>;
// Layout (a): f16, tf32, f8f6f4, i8, and layout (b): mxf8f6f4
using AType = BitField<7, 3>;
using BType = BitField<10, 3>;
using TransposeA = BitField<15, 1>;
using TransposeB = BitField<16, 1>;
// Layout (a)
using Selector = BitField<0, 2>;
using Saturate = BitField<3, 1>;
using DType = BitField<4, 2>;
using MDim16 = BitField<24, 5>;
using MaxShift = BitField<30, 2>;
// Layouts (b) and (c)
using SfbId = BitField<4, 2>;
using ScaleType = BitField<23, 1>;
using MDim128 = BitField<27, 2>;
using SfaId = BitField<29, 2>;
// Layout (c)
using BTypePacked = BitField<10, 2>;
using K96 = BitField<31, 1>;

constexpr uint32_t fields_of(MmaKind kind) {
  uint64_t f = Sparse::kMask | NegateA::kMask | NegateB::kMask | NDim::kMask | AType::kMask;
  if (!is_block_scaled(kind)) {
    f |= BType::kMask | TransposeA::kMask | TransposeB::kMask | Selector::kMask | Saturate::kMask |
         DType::kMask | MDim16::kMask | MaxShift::kMask;
  } else {
    f |= SfbId::kMask | ScaleType::kMask | MDim128::kMask | SfaId::kMask;
    f |= is_packed_fp4(kind) ? BTypePacked::kMask | K96::kMask
                             : BType::kMask | TransposeA::kMask | TransposeB::kMask;
  }
  return static_cast<uint32_t>(f);
}

bool is_8bit(MmaElement e) {
  return e == MmaElement::e4m3 || e == MmaElement::e5m2 || e == MmaElement::u8 || e == MmaElement::s8;
}

bool is_wide_b(const InstrDescriptor& d) { return d.transpose_b && is_8bit(d.b_element()); }

struct Range {
  unsigned first, step;  // N = first, first + step, …, 256
};

// N of the plain and block-scaled forms; i8 in cta_group::1 is an irregular list and handled by the caller.
Range n_range(const MmaForm& form, bool wide_b) {
  const unsigned pair = form.cta_group;
  if (form.kind == MmaKind::i8) {
    return {32, 32};
  }
  return wide_b ? Range{16 * pair, 16 * pair} : Range{8 * pair, 8 * pair};
}

bool valid_m(const MmaForm& form, unsigned m) {
  if (form.ws) {
    return m == 32 || m == 64 || m == 128;
  }
  if (form.cta_group == 2) {
    return m == 256 || (m == 128 && !(is_block_scaled(form.kind) && form.sparse));
  }
  return m == 128 || (m == 64 && !is_block_scaled(form.kind));
}

bool valid_n(const MmaForm& form, unsigned n, bool wide_b) {
  if (form.ws) {
    return n == 64 || n == 128 || (n == 256 && !form.sparse);
  }
  if (n > 256) {
    return false;
  }
  if (form.kind == MmaKind::i8 && form.cta_group == 1) {
    const bool listed = n == 8 || n == 16 || n == 24 || n == 32 || (n >= 48 && n % 16 == 0);
    return listed && !(wide_b && n % 16 != 0);
  }
  const Range r = n_range(form, wide_b);
  return n >= r.first && n % r.step == 0;
}

void check_shape(const InstrDescriptor& d, const MmaForm& form, Diagnostics& out, const SourcePos& where) {
  const bool wide_b = is_wide_b(d);
  if (form.ws && (form.cta_group != 1 || is_block_scaled(form.kind))) {
    out.error(Code::E1422, where,
              fmt::format("mma.ws does not exist for kind::{} with cta_group::{}", to_string(form.kind),
                          form.cta_group),
              "mma.ws takes kinds f16, tf32, f8f6f4 and i8 in cta_group::1");
  } else if (!is_valid_shape(form, d.m, d.n, wide_b)) {
    out.error(Code::E1422, where,
              fmt::format("shape M={} N={} is not valid for kind::{}", d.m, d.n, to_string(form.kind)),
              valid_shapes(form, wide_b));
  }
}

void check_types(const InstrDescriptor& d, Diagnostics& out, const SourcePos& where) {
  const MmaElement a = d.a_element(), b = d.b_element();
  const auto bad = [&](std::string_view which, unsigned code) {
    out.error(Code::E1423, where,
              fmt::format("{} type code {} is not valid for kind::{}", which, code, to_string(d.kind)));
  };
  if (a == MmaElement::invalid) {
    bad("A", d.a_type);
  }
  if (b == MmaElement::invalid) {
    bad("B", d.b_type);
  }
  if (d.kind == MmaKind::f16 && a != b && a != MmaElement::invalid && b != MmaElement::invalid) {
    out.warning(Code::E1423, where, "A and B of kind::f16 have different types; no public code does this",
                "use f16 or bf16 for both");
  }
  bool d_ok = true;
  switch (d.kind) {
    case MmaKind::f16:
      d_ok = d.d_type == 1 || (d.d_type == 0 && a == MmaElement::f16 && b == MmaElement::f16);
      break;
    case MmaKind::tf32: d_ok = d.d_type == 1; break;
    case MmaKind::f8f6f4: d_ok = d.d_type <= 1; break;
    case MmaKind::i8: d_ok = d.d_type == 2; break;
    default: break;
  }
  if (!d_ok) {
    out.error(Code::E1423, where,
              fmt::format("D type code {} is not valid for kind::{}", d.d_type, to_string(d.kind)),
              "f16: 0 (with f16 inputs) or 1; tf32: 1; f8f6f4: 0 or 1; i8: 2");
  }
}

// I5, I6: modifiers of the operands.
void check_modifiers(const InstrDescriptor& d, const MmaForm& form, Diagnostics& out,
                     const SourcePos& where) {
  if (d.saturate && d.kind != MmaKind::i8) {
    out.error(Code::E1425, where, fmt::format("saturate (bit 3) with kind::{}", to_string(d.kind)),
              "it exists for i8 only");
  }
  if (d.kind == MmaKind::i8 && (d.negate_a || d.negate_b)) {
    out.error(Code::E1426, where, "negate (bits 13, 14) with kind::i8", "clear the bits");
  }
  const auto transposed = [&](std::string_view which, MmaElement e) {
    if (element_bits(e) < 8) {
      out.error(Code::E1426, where,
                fmt::format("{} has {}-bit elements and cannot be MN-major", which, element_bits(e)),
                "clear its transpose bit and store it K-major");
    }
  };
  if (d.transpose_a) {
    transposed("A", d.a_element());
  }
  if (d.transpose_b) {
    transposed("B", d.b_element());
  }
  if (d.transpose_a && form.a_in_tmem) {
    out.error(Code::E1426, where, "A in TMEM is K-major; its transpose bit (15) must be 0", "clear bit 15");
  }
}

// I4, I7.
void check_sparsity(const InstrDescriptor& d, const MmaForm& form, Diagnostics& out, const SourcePos& where) {
  if (d.sparse != form.sparse) {
    out.error(Code::E1424, where,
              fmt::format("sparse bit is {} but the instruction is {}", int{d.sparse},
                          form.sparse ? "mma.sp" : "mma"),
              "bit 2 must be 1 exactly with .sp");
  }
  if (d.sparsity_selector == 0) {
    return;
  }
  if (!d.sparse || d.kind == MmaKind::i8 || d.kind == MmaKind::f8f6f4 || d.sparsity_selector > 1) {
    out.error(Code::E1427, where, fmt::format("sparsity selector {} is not allowed with these types", d.sparsity_selector),
              "0 or 1 for sparse f16 and tf32, 0 otherwise");
  }
}

// I8, I9.
void check_scales(const InstrDescriptor& d, const MmaForm& form, Diagnostics& out, const SourcePos& where) {
  // K = 96: three factors begin at any byte, six at an even one, and both go on in the next word.
  const auto id_ok = [&](uint8_t id) {
    if (d.k96) return form.scale == ScaleVector::x2 || id % 2 == 0;
    return form.scale == ScaleVector::x4 ? id == 0 : form.scale == ScaleVector::x2 ? id % 2 == 0
                                                                                   : true;
  };
  if (!id_ok(d.sfa_id) || !id_ok(d.sfb_id)) {
    out.error(Code::E1428, where,
              fmt::format("scale factor ids A {}, B {} are not allowed with {}X", d.sfa_id, d.sfb_id,
                          static_cast<unsigned>(form.scale)),
              d.k96 ? "K = 96 with 4X: 0 or 2" : "2X: 0 or 2; 4X: 0");
  }
  const bool need_ue8m0 = d.kind != MmaKind::mxf4nvf4 || form.scale == ScaleVector::x2;
  if (need_ue8m0 && !d.scale_ue8m0) {
    out.error(Code::E1429, where,
              fmt::format("scale type ue4m3 (bit 23 = 0) with kind::{} {}X", to_string(d.kind),
                          static_cast<unsigned>(form.scale)),
              "only mxf4nvf4 with 4X takes ue4m3; set bit 23");
  }
}

// I11. A B200 traps on mma.ws with M=32 and code 3 (docs/facts/tcgen05.md §4.7).
void check_max_shift(const InstrDescriptor& d, const MmaForm& form, Diagnostics& out,
                     const SourcePos& where) {
  if (d.max_shift == 0) {
    return;
  }
  if (!form.ws) {
    out.warning(Code::E1431, where, fmt::format("maximum shift code {} without .ws has no meaning", d.max_shift),
                "clear bits 31..30");
  } else if (d.m == 32 && d.max_shift == 3) {
    out.error(Code::E1431, where, "maximum shift 32 (code 3) with M=32 traps", "use code 0, 1 or 2");
  }
}

}  // namespace

std::string_view to_string(MmaKind kind) {
  static constexpr std::string_view kNames[] = {"f16", "tf32", "f8f6f4", "i8",
                                                "mxf8f6f4", "mxf4", "mxf4nvf4"};
  return kNames[static_cast<unsigned>(kind)];
}

std::string_view to_string(MmaElement e) {
  static constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "e2m3",
                                                "e3m2", "e2m1", "u8", "s8", "invalid"};
  return kNames[static_cast<unsigned>(e)];
}

std::string_view to_string(MmaAccumulator d) {
  static constexpr std::string_view kNames[] = {"f16", "f32", "s32", "invalid"};
  return kNames[static_cast<unsigned>(d)];
}

bool is_valid_shape(const MmaForm& form, unsigned m, unsigned n, bool wide_b) {
  if (form.ws && (form.cta_group != 1 || is_block_scaled(form.kind))) {
    return false;
  }
  return valid_m(form, m) && valid_n(form, n, wide_b);
}

std::string valid_shapes(const MmaForm& form, bool wide_b) {
  std::string m, n;
  for (unsigned v : {32u, 64u, 128u, 256u}) {
    if (valid_m(form, v)) {
      m += fmt::format("{}{}", m.empty() ? "" : ", ", v);
    }
  }
  if (form.ws) {
    n = form.sparse ? "64, 128" : "64, 128, 256";
  } else if (form.kind == MmaKind::i8 && form.cta_group == 1) {
    n = wide_b ? "16, 32, 48..256 in steps of 16" : "8, 16, 24, 32, 48..256 in steps of 16";
  } else {
    const Range r = n_range(form, wide_b);
    n = fmt::format("{}..256 in steps of {}", r.first, r.step);
  }
  return fmt::format("valid M: {}; valid N: {}", m, n);
}

InstrDescriptor InstrDescriptor::decode(MmaKind kind, uint32_t w) {
  InstrDescriptor d;
  d.kind = kind;
  d.reserved = w & ~fields_of(kind);
  d.sparse = Sparse::get(w) != 0;
  d.negate_a = NegateA::get(w) != 0;
  d.negate_b = NegateB::get(w) != 0;
  d.n = static_cast<uint16_t>(NDim::get(w) << 3);
  d.a_type = static_cast<uint8_t>(AType::get(w));
  d.b_type = static_cast<uint8_t>(is_packed_fp4(kind) ? BTypePacked::get(w) : BType::get(w));
  if (!is_packed_fp4(kind)) {
    d.transpose_a = TransposeA::get(w) != 0;
    d.transpose_b = TransposeB::get(w) != 0;
  } else {
    d.k96 = K96::get(w) != 0;
  }
  if (is_block_scaled(kind)) {
    d.m = static_cast<uint16_t>(MDim128::get(w) << 7);
    d.sfa_id = static_cast<uint8_t>(SfaId::get(w));
    d.sfb_id = static_cast<uint8_t>(SfbId::get(w));
    d.scale_ue8m0 = ScaleType::get(w) != 0;
    d.d_type = static_cast<uint8_t>(MmaAccumulator::f32);
  } else {
    d.m = static_cast<uint16_t>(MDim16::get(w) << 4);
    d.d_type = static_cast<uint8_t>(DType::get(w));
    d.saturate = Saturate::get(w) != 0;
    d.sparsity_selector = static_cast<uint8_t>(Selector::get(w));
    d.max_shift = static_cast<uint8_t>(MaxShift::get(w));
  }
  return d;
}

uint32_t InstrDescriptor::encode() const {
  uint64_t w = reserved & ~fields_of(kind);
  w = Sparse::set(w, sparse);
  w = NegateA::set(w, negate_a);
  w = NegateB::set(w, negate_b);
  w = NDim::set(w, n >> 3);
  w = AType::set(w, a_type);
  w = is_packed_fp4(kind) ? BTypePacked::set(w, b_type) : BType::set(w, b_type);
  if (!is_packed_fp4(kind)) {
    w = TransposeA::set(w, transpose_a);
    w = TransposeB::set(w, transpose_b);
  } else {
    w = K96::set(w, k96);
  }
  if (is_block_scaled(kind)) {
    w = MDim128::set(w, m >> 7);
    w = SfaId::set(w, sfa_id);
    w = SfbId::set(w, sfb_id);
    w = ScaleType::set(w, scale_ue8m0);
  } else {
    w = MDim16::set(w, m >> 4);
    w = DType::set(w, d_type);
    w = Saturate::set(w, saturate);
    w = Selector::set(w, sparsity_selector);
    w = MaxShift::set(w, max_shift);
  }
  return static_cast<uint32_t>(w);
}

MmaElement element_of(MmaKind kind, uint8_t code) {
  static constexpr MmaElement kNarrow[] = {MmaElement::e4m3, MmaElement::e5m2, MmaElement::invalid,
                                           MmaElement::e2m3, MmaElement::e3m2, MmaElement::e2m1};
  switch (kind) {
    case MmaKind::f16:
      return code == 0 ? MmaElement::f16 : code == 1 ? MmaElement::bf16
                                                     : MmaElement::invalid;
    case MmaKind::tf32: return code == 2 ? MmaElement::tf32 : MmaElement::invalid;
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4: return code < 6 ? kNarrow[code] : MmaElement::invalid;
    case MmaKind::i8: return code == 0 ? MmaElement::u8 : code == 1 ? MmaElement::s8
                                                                    : MmaElement::invalid;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4: return code == 1 ? MmaElement::e2m1 : MmaElement::invalid;
  }
  return MmaElement::invalid;
}

uint8_t code_of(MmaKind kind, MmaElement element) {
  for (uint8_t code = 0; code < 8; ++code) {
    if (element != MmaElement::invalid && element_of(kind, code) == element) {
      return code;
    }
  }
  return 0xFF;
}

SmemElement smem_element(MmaKind kind, MmaElement element) {
  if (is_packed_fp4(kind)) {
    return SmemElement::packed4;
  }
  switch (element_bits(element)) {
    case 4: return SmemElement::container4;
    case 6: return SmemElement::container6;
    case 16: return SmemElement::half;
    case 32: return SmemElement::word;
    default: return SmemElement::byte;
  }
}

MmaElement InstrDescriptor::a_element() const { return element_of(kind, a_type); }
MmaElement InstrDescriptor::b_element() const { return element_of(kind, b_type); }
MmaAccumulator InstrDescriptor::accumulator() const {
  return is_block_scaled(kind) ? MmaAccumulator::f32 : static_cast<MmaAccumulator>(d_type & 3);
}

OperandTile operand_tile_a(const InstrDescriptor& d, unsigned cta_group) {
  return {d.transpose_a ? Major::mn : Major::k, smem_element(d.kind, d.a_element()), d.m / cta_group,
          mma_k(d.kind, false, d.k96)};
}

OperandTile operand_tile_b(const InstrDescriptor& d, unsigned cta_group) {
  return {d.transpose_b ? Major::mn : Major::k, smem_element(d.kind, d.b_element()), d.n / cta_group, d.k()};
}

// Bit 12 of (c) is a version of sparsity, which SM100 does not look at: NVIDIA's own builder of descriptors sets it (docs/facts/tcgen05.md §4.7).
static uint32_t ignored_bits(MmaKind kind) { return is_packed_fp4(kind) ? 1u << 12 : 0; }

void check(const InstrDescriptor& d, const MmaForm& form, Diagnostics& out, const SourcePos& where) {
  if (const uint32_t wrong = d.reserved & ~ignored_bits(d.kind); wrong != 0) {
    out.error(Code::E1421, where,
              fmt::format("instruction descriptor: reserved bits are set ({:#010x})", wrong),
              fmt::format("was it built for another kind than {}?", to_string(d.kind)));
  }
  check_shape(d, form, out, where);
  check_types(d, out, where);
  check_sparsity(d, form, out, where);
  check_modifiers(d, form, out, where);
  if (is_block_scaled(d.kind)) {
    check_scales(d, form, out, where);
  }
  check_max_shift(d, form, out, where);
  if (d.k96 && !form.sm103) {
    out.error(Code::E1434, where, "K=96 (bit 31) exists on sm_103a only", "clear bit 31 for K=64");
  } else if (d.k96 && form.sparse) {
    out.error(Code::E1434, where, "K=96 (bit 31) with a sparse A", "K=96 is dense only: clear bit 31 for K=128");
  }
}

void check_scale_input_d(MmaKind kind, int64_t immediate, Diagnostics& out, const SourcePos& where) {
  if (kind != MmaKind::f16 && kind != MmaKind::tf32) {
    out.error(Code::E1430, where, fmt::format("scale-input-d does not exist for kind::{}", to_string(kind)),
              "only f16 and tf32 take it");
  } else if (immediate < 0 || immediate > 15) {
    out.error(Code::E1430, where, fmt::format("scale-input-d {} is outside 0..15", immediate));
  }
}

std::vector<FieldNote> explain(const InstrDescriptor& d) {
  const auto yes_no = [](bool v) { return std::string(v ? "yes" : "no"); };
  const auto major = [](bool transposed) { return std::string(transposed ? "MN-major" : "K-major"); };
  const bool scaled = is_block_scaled(d.kind), packed = is_packed_fp4(d.kind);
  std::vector<FieldNote> n;
  if (!scaled) {
    n.push_back({1, 0, "sparsity selector", d.sparsity_selector, d.sparse ? "sub-column" : "unused"});
  }
  n.push_back({2, 2, "sparse", d.sparse, yes_no(d.sparse)});
  if (!scaled) {
    n.push_back({3, 3, "saturate", d.saturate, yes_no(d.saturate)});
    n.push_back({5, 4, "D type", d.d_type, std::string(to_string(d.accumulator()))});
  } else {
    n.push_back({5, 4, "scale factor id of B", d.sfb_id, fmt::format("byte {} of the column", d.sfb_id)});
  }
  n.push_back({9, 7, "A type", d.a_type, std::string(to_string(d.a_element()))});
  n.push_back({packed ? 11u : 12u, 10, "B type", d.b_type, std::string(to_string(d.b_element()))});
  n.push_back({13, 13, "negate A", d.negate_a, yes_no(d.negate_a)});
  n.push_back({14, 14, "negate B", d.negate_b, yes_no(d.negate_b)});
  if (!packed) {
    n.push_back({15, 15, "transpose A", d.transpose_a, major(d.transpose_a)});
    n.push_back({16, 16, "transpose B", d.transpose_b, major(d.transpose_b)});
  }
  n.push_back({22, 17, "N >> 3", d.n / 8u, fmt::format("N = {}", d.n)});
  if (!scaled) {
    n.push_back({28, 24, "M >> 4", d.m / 16u, fmt::format("M = {}", d.m)});
    n.push_back({31, 30, "maximum shift", d.max_shift,
                 d.max_shift == 0 ? "none" : fmt::format("{} columns", 4u << d.max_shift)});
    return n;
  }
  n.push_back({23, 23, "scale type", d.scale_ue8m0, d.scale_ue8m0 ? "ue8m0" : "ue4m3"});
  n.push_back({28, 27, "M >> 7", d.m / 128u, fmt::format("M = {}", d.m)});
  n.push_back({30, 29, "scale factor id of A", d.sfa_id, fmt::format("byte {} of the column", d.sfa_id)});
  if (packed) {
    n.push_back({31, 31, "K", d.k96, fmt::format("K = {}", d.k())});
  }
  return n;
}

}  // namespace drywell::isa
