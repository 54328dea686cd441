#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/mma_shape.h"
#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

bool is_f8(Mod t) { return t == Mod::e4m3 || t == Mod::e5m2; }

bool sparse_shape_fits(Mod type, Mod shape) {
  switch (type) {
    case Mod::f16:
    case Mod::bf16: return one_of(shape, Mod::m16n8k16, Mod::m16n8k32);
    case Mod::tf32: return one_of(shape, Mod::m16n8k8, Mod::m16n8k16);
    case Mod::s8:
    case Mod::u8: return one_of(shape, Mod::m16n8k32, Mod::m16n8k64);
    case Mod::s4:
    case Mod::u4: return one_of(shape, Mod::m16n8k64, Mod::m16n8k128);
    default: return shape == Mod::m16n8k64;
  }
}

bool shape_fits(const InstructionRef& i, Mod type, Mod shape) {
  if (i.mod(Slot::sp) != Mod::none) return sparse_shape_fits(type, shape);
  switch (type) {
    case Mod::f16: return one_of(shape, Mod::m8n8k4, Mod::m16n8k8, Mod::m16n8k16);
    case Mod::bf16: return one_of(shape, Mod::m16n8k8, Mod::m16n8k16);
    case Mod::tf32: return one_of(shape, Mod::m16n8k4, Mod::m16n8k8);
    case Mod::f64: return one_of(shape, Mod::m8n8k4, Mod::m16n8k4, Mod::m16n8k8, Mod::m16n8k16);
    case Mod::s8:
    case Mod::u8: return one_of(shape, Mod::m8n8k16, Mod::m16n8k16, Mod::m16n8k32);
    case Mod::s4:
    case Mod::u4: return one_of(shape, Mod::m8n8k32, Mod::m16n8k32, Mod::m16n8k64);
    case Mod::b1: return true;
    default: return one_of(shape, Mod::m16n8k16, Mod::m16n8k32);
  }
}

void check_types(const InstructionRef& i, LegalityReport& out) {
  const Mod a = i.mod(Slot::atype), b = i.mod(Slot::btype), c = i.mod(Slot::ctype), d = i.mod(Slot::dtype), shape = i.mod(Slot::shape);
  const bool volta = a == Mod::f16 && shape == Mod::m8n8k4;
  const bool alike = a == b || (is_f8(a) && is_f8(b)) || (one_of(a, Mod::s8, Mod::u8) && one_of(b, Mod::s8, Mod::u8)) ||
                     (one_of(a, Mod::s4, Mod::u4) && one_of(b, Mod::s4, Mod::u4));
  if (!alike) out.error(Code::E1384, fmt::format("A of .{} does not go with B of .{}", mod_text(a), mod_text(b)));
  if (!shape_fits(i, a, shape)) out.error(Code::E1385, fmt::format(".{} has no .{}", mod_text(a), mod_text(shape)));
  if (c != d && !(volta && d == Mod::f32)) out.error(Code::E1384, fmt::format("D of .{} does not go with C of .{}", mod_text(d), mod_text(c)));
  if (d == Mod::f16 && one_of(a, Mod::bf16, Mod::tf32)) out.error(Code::E1384, fmt::format("the products of .{} are .f32", mod_text(a)));
  if (!volta && (i.mod(Slot::layout_a) != Mod::row || i.mod(Slot::layout_b) != Mod::col)) out.error(Code::E1387, "A is .row and B is .col here");
}

}  // namespace

// PTX ISA 9.7.14.5.14; the legal combinations are those that ptxas 13.0 accepts.
void mma_sync(const InstructionRef& i, LegalityReport& out) {
  const Mod a = i.mod(Slot::atype), d = i.mod(Slot::dtype), c = i.mod(Slot::ctype);
  check_types(i, out);
  if (out.failed()) return;
  const MmaShape s = mma_shape(i.mod(Slot::shape));
  const unsigned bits = type_bits(a);
  const unsigned word = a == Mod::f64 ? 64 : 32;
  const auto registers = [&](unsigned elements, unsigned width) { return std::max(1u, elements * width / (32 * word)); };
  // m8n8k4 of .f16 computes four products, one per pair of quads.
  const unsigned copies = a == Mod::f16 && i.mod(Slot::shape) == Mod::m8n8k4 ? 4 : 1;
  check_registers(i, out, "d", registers(copies * s.m * s.n, type_bits(d)), word, d == Mod::f32 || d == Mod::f64);
  check_registers(i, out, "a", registers(copies * s.m * s.k, bits), word, a == Mod::f64);
  check_registers(i, out, "b", registers(copies * s.n * s.k, bits), word, a == Mod::f64);
  check_registers(i, out, "c", registers(copies * s.m * s.n, type_bits(c)), word, c == Mod::f32 || c == Mod::f64);
}

// Selectors of the lanes that hold the metadata: half as many groups give twice as many selectors. ptxas accepts
// .m16n8k32 of 16-bit types with selectors 2 and 3; an H100 then raises an illegal instruction.
void mma_sp(const InstructionRef& i, LegalityReport& out) {
  const Mod a = i.mod(Slot::atype), d = i.mod(Slot::dtype), c = i.mod(Slot::ctype);
  check_types(i, out);
  if (is_f8(a) && d == Mod::f16 && !has_feature(i.module.target, Feature::sm120f)) out.error(Code::E1384, "sparse products of 8-bit floats are .f32");
  if (out.failed()) return;
  const MmaShape s = mma_shape(i.mod(Slot::shape));
  const unsigned bits = type_bits(a);
  check_registers(i, out, "d", s.m * s.n * type_bits(d) / 1024, 32, d == Mod::f32);
  check_registers(i, out, "a", s.m * s.k / 2 * bits / 1024, 32, false);
  check_registers(i, out, "b", s.n * s.k * bits / 1024, 32, false);
  check_registers(i, out, "c", s.m * s.n * type_bits(c) / 1024, 32, c == Mod::f32);
  const bool small = s.k * bits == 256;  // 32 bytes along K
  const int64_t choices = (bits >= 16 ? 2 : 1) * (small ? 2 : 1);
  if (const int64_t f = i.operand("f")->value; f < 0 || f >= choices) out.error(Code::E1388, fmt::format("the sparsity selector is 0 to {} here", choices - 1));
}

}  // namespace drywell::isa::legality
