#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

void exact_width(const InstructionRef& i, LegalityReport& out, const char* name, Slot type) {
  const Operand& o = *i.operand(name);
  const unsigned want = type_bits(i.mod(type));
  if (o.kind != Operand::Kind::reg || type_bits(i.function.regs[o.index].type) == want) return;
  out.error(Code::E1201, fmt::format("register '{}' has {} bits: conversions of bf16 take registers of the type's width, {}", i.function.regs[o.index].name, type_bits(i.function.regs[o.index].type), want));
}

// Registers wider than the type are for the other formats (ptxas 13.0).
void width_of_bf16(const InstructionRef& i, LegalityReport& out) {
  if (i.mod(Slot::type) != Mod::bf16 && i.mod(Slot::atype) != Mod::bf16) return;
  exact_width(i, out, "d", Slot::type);
  exact_width(i, out, "a", Slot::atype);
}

// Limits of bf16: no .sat, 8-bit integers in 8-bit registers alone (ptxas 13.0; nvcc has them in structures for __nv_bfloat16), and before sm_90 only conversions from f32.
void bf16_scalar(const InstructionRef& i, LegalityReport& out, Mod integer) {
  if (i.mod(Slot::type) != Mod::bf16 && i.mod(Slot::atype) != Mod::bf16) return;
  width_of_bf16(i, out);
  if (i.has(Mod::sat)) out.error(Code::E1301, ".sat needs a format other than bf16");
  if (out.failed() && type_bits(integer) == 8) out.error(Code::E1311, "bf16 converts to and from integers of 8 bits in registers of 8 bits");
  if (!has_feature(i.module.target, Feature::sm90))
    out.error(Code::E1210, "bf16 conversions other than from f32 need sm_90 or later");
}

// A conversion that is exact takes a rounding from bf16 only, as ptxas 13.0 has it.
void widening(const InstructionRef& i, LegalityReport& out) {
  if (i.mod(Slot::rnd) != Mod::none && i.mod(Slot::atype) != Mod::bf16)
    out.error(Code::E1302, "a conversion to a wider format takes a rounding from bf16 only");
}

}  // namespace

// .sat does not exist where the destination type holds every value of the source type.
void cvt_int_int(const InstructionRef& i, LegalityReport& out) {
  const Mod to = i.mod(Slot::type), from = i.mod(Slot::atype);
  const bool to_signed = is_signed_type(to), from_signed = is_signed_type(from);
  const unsigned to_bits = type_bits(to) - (to_signed ? 1 : 0),
                 from_bits = type_bits(from) - (from_signed ? 1 : 0);
  if (i.has(Mod::sat) && from_bits <= to_bits && (to_signed || !from_signed))
    out.error(Code::E1301, "every value fits: .sat has nothing to saturate");
}

void cvt_f32_half(const InstructionRef& i, LegalityReport& out) {
  width_of_bf16(i, out);
  widening(i, out);
  if (i.has(Mod::sat) && i.mod(Slot::atype) == Mod::bf16)
    out.error(Code::E1301, ".sat needs a format other than bf16");
}

void cvt_float_int(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::ftz) && i.mod(Slot::type) != Mod::f32) out.error(Code::E1304, ".ftz needs .f32");
  bf16_scalar(i, out, i.mod(Slot::atype));
}

void cvt_int_float(const InstructionRef& i, LegalityReport& out) {
  cvt_ftz(i, out);
  bf16_scalar(i, out, i.mod(Slot::type));
}

void cvt_f64_float(const InstructionRef& i, LegalityReport& out) {
  width_of_bf16(i, out);
  widening(i, out);
  cvt_ftz(i, out);
}

void cvt_ftz(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::sat) && i.mod(Slot::atype) == Mod::bf16)
    out.error(Code::E1301, ".sat needs a format other than bf16");
  if (i.has(Mod::ftz) && i.mod(Slot::atype) != Mod::f32) out.error(Code::E1304, ".ftz needs .f32");
}

void cvt_half(const InstructionRef& i, LegalityReport& out) {
  width_of_bf16(i, out);
  const bool directed = i.has(Mod::rm) || i.has(Mod::rp), bf16 = i.mod(Slot::type) == Mod::bf16,
             narrow_range = i.has(Mod::relu) || i.has(Mod::satfinite);
  if (i.mod(Slot::type) == i.mod(Slot::atype))
    out.error(
        Code::E1312,
        "a conversion to the same format rounds to an integral value: .rni, .rzi, .rmi, .rpi or nothing");
  if (directed && narrow_range) out.error(Code::E1302, ".relu and .satfinite go with .rn and .rz");
  if (i.has(Mod::sat) && narrow_range) out.error(Code::E1301, ".sat excludes .relu and .satfinite");
  if (i.has(Mod::sat) && bf16) out.error(Code::E1301, ".sat needs a format other than bf16");
  if (i.has(Mod::ftz) && narrow_range) out.error(Code::E1304, ".ftz excludes .relu and .satfinite");
}

void cvt_half2(const InstructionRef& i, LegalityReport& out) {
  if (i.mod(Slot::type) != Mod::bf16x2) return;
  exact_width(i, out, "d", Slot::type);
  exact_width(i, out, "a", Slot::atype);
  exact_width(i, out, "b", Slot::atype);
}

void cvt_tf32(const InstructionRef& i, LegalityReport& out) {
  if (i.has(Mod::rna) && i.has(Mod::relu)) out.error(Code::E1302, ".relu goes with .rn and .rz");
  if (!i.has(Mod::rna) && !has_feature(i.module.target, Feature::sm90))
    out.error(Code::E1210, "tf32 with .rn or .rz needs sm_90 or later");
  if (!i.has(Mod::rna) && i.has(Mod::satfinite) && !has_feature(i.module.target, Feature::sm100))
    out.error(Code::E1210, "tf32 with .satfinite and .rn or .rz needs sm_100 or later");
}

void cvt_x4(const InstructionRef& i, LegalityReport& out) {
  if (i.operand("a")->count != 4) out.error(Code::E1310, "the x4 forms take a vector of four registers");
}

}  // namespace drywell::isa::legality
