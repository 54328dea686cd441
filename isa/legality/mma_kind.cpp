// Rules of mma.sync with .kind (PTX ISA 9.7.14.5.14, table of kinds; as ptxas 13.0 and 13.4 enforce them).
#include <fmt/format.h>

#include "drywell/isa/mma_shape.h"
#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

/// Legal combinations. `k`: of dense A; sparse A has twice as much.
struct ScaledForm {
  Mod kind;
  Mod vec;  // scale_vec; none: the modifier may be absent and means the form before
  Mod scale;
  uint16_t k;
  PtxVersion since;
};
constexpr ScaledForm kScaledForms[] = {
    {Mod::kind_mxf8f6f4, Mod::scale_vec_1X, Mod::ue8m0, 32, {8, 7}},
    {Mod::kind_mxf8f6f4, Mod::none, Mod::ue8m0, 32, {8, 7}},
    {Mod::kind_mxf4, Mod::scale_vec_2X, Mod::ue8m0, 64, {8, 7}},
    {Mod::kind_mxf4, Mod::none, Mod::ue8m0, 64, {8, 7}},
    {Mod::kind_mxf4nvf4, Mod::scale_vec_2X, Mod::ue8m0, 64, {8, 7}},
    {Mod::kind_mxf4nvf4, Mod::scale_vec_4X, Mod::ue4m3, 64, {8, 7}},
    {Mod::kind_mxf4nvf4, Mod::scale_vec_4X, Mod::ue8m0, 64, {9, 1}},
};

const ScaledForm* scaled_form(const InstructionRef& i) {
  for (const ScaledForm& f : kScaledForms) {
    if (f.kind == i.mod(Slot::kind) && f.vec == i.mod(Slot::scale_vec) && f.scale == i.mod(Slot::stype))
      return &f;
  }
  return nullptr;
}

bool is_packed(Mod kind) { return kind == Mod::kind_mxf4 || kind == Mod::kind_mxf4nvf4; }

void check_form(const InstructionRef& i, LegalityReport& out) {
  const Mod kind = i.mod(Slot::kind);
  const ScaledForm* form = scaled_form(i);
  if (form == nullptr) {
    out.error(Code::E1386, fmt::format(".{} has no such scale vector and scale type", mod_text(kind)),
              "mxf8f6f4: 1X, ue8m0; mxf4: 2X, ue8m0; mxf4nvf4: 2X, ue8m0 or 4X, ue4m3");
    return;
  }
  if (i.module.version < form->since) {
    out.error(Code::E1211, fmt::format(".scale_vec::4X with .ue8m0 needs PTX {}.{}", form->since.major,
                                       form->since.minor));
  }
  const bool sparse = i.mod(Slot::sp) != Mod::none;
  const unsigned k = form->k * (sparse ? 2u : 1u);
  if (mma_shape(i.mod(Slot::shape)).k != k)
    out.error(Code::E1385, fmt::format(".{} has k = {} here", mod_text(kind), k));
  if (!is_packed(kind)) return;
  if (i.mod(Slot::atype) != Mod::e2m1 || i.mod(Slot::btype) != Mod::e2m1)
    out.error(Code::E1384, fmt::format("A and B of .{} are .e2m1", mod_text(kind)));
  if (sparse && !has_feature(i.module.target, Feature::sm120a)) {
    out.error(Code::E1210, fmt::format("sparse .{} needs {}", mod_text(kind), feature_name(Feature::sm120a)));
  }
}

void check_scale(const InstructionRef& i, LegalityReport& out, const char* name) {
  const Operand& o = *i.operand(name);
  if (o.kind == Operand::Kind::vec) return check_registers(i, out, name, 1, 32, true);
  if (type_bits(i.function.regs[o.index].type) != 32)
    out.error(Code::E1201, fmt::format("'{}' is a register of 32 bits", name));
}

/// {byte, thread}: the first of the bytes that count, and the pair (A) or lane (B) of each quad that holds
/// them. A register's value is checked when the instruction executes.
void check_ids(const InstructionRef& i, LegalityReport& out, const char* name, int64_t threads) {
  const auto elements = i.function.elements(*i.operand(name));
  if (elements.size() != 2) return out.error(Code::E1399, fmt::format("'{}' is {{byte, thread}}", name));
  const unsigned factors = mma_scale_factors(i.mod(Slot::kind), i.mod(Slot::scale_vec));
  if (const Operand& byte = elements[0];
      byte.kind == Operand::Kind::imm && (byte.value < 0 || byte.value > 3 || byte.value % factors != 0)) {
    out.error(Code::E1399, fmt::format("byte {} of '{}': {} codes start at a multiple of {} below 4",
                                       byte.value, name, factors, factors));
  }
  if (const Operand& thread = elements[1];
      thread.kind == Operand::Kind::imm && (thread.value < 0 || thread.value >= threads)) {
    out.error(Code::E1399, fmt::format("thread {} of '{}': 0 to {}", thread.value, name, threads - 1));
  }
}

void check_scales(const InstructionRef& i, LegalityReport& out) {
  check_scale(i, out, "scale_a");
  check_scale(i, out, "scale_b");
  check_ids(i, out, "id_a", 2);
  check_ids(i, out, "id_b", 4);
}

}  // namespace

void mma_kind(const InstructionRef& i, LegalityReport& out) {
  const Mod kind = i.mod(Slot::kind), c = i.mod(Slot::ctype), d = i.mod(Slot::dtype);
  const bool sparse = i.mod(Slot::sp) != Mod::none, scaled = i.has(Mod::block_scale);
  if (c != d)
    out.error(Code::E1384, fmt::format("D of .{} does not go with C of .{}", mod_text(d), mod_text(c)));
  if (scaled) check_form(i, out);
  if (out.failed()) return;
  const MmaShape s = mma_shape(i.mod(Slot::shape));
  const unsigned bits =
      is_packed(kind) ? 4 : 8;  // 6- and 4-bit elements take a byte of their register in the other kinds
  check_registers(i, out, "d", s.m * s.n * type_bits(d) / 1024, 32, d == Mod::f32);
  check_registers(i, out, "a", s.m * s.k / (sparse ? 2u : 1u) * bits / 1024, 32, false);
  check_registers(i, out, "b", s.n * s.k * bits / 1024, 32, false);
  check_registers(i, out, "c", s.m * s.n * type_bits(c) / 1024, 32, c == Mod::f32);
  if (sparse && i.operand("f")->value != 0) out.error(Code::E1388, "the sparsity selector is 0 here");
  if (scaled) check_scales(i, out);
}

}  // namespace drywell::isa::legality
