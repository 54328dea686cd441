#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {
namespace {

bool is_half(Mod t) { return one_of(t, Mod::f16, Mod::f16x2, Mod::bf16, Mod::bf16x2); }

bool type_fits(Mod op, Mod type, bool vector) {
  if (vector) return is_half(type) ? one_of(op, Mod::add, Mod::min, Mod::max) : type == Mod::f32 && op == Mod::add;
  switch (op) {
    case Mod::and_:
    case Mod::or_:
    case Mod::xor_: return one_of(type, Mod::b32, Mod::b64);
    case Mod::exch: return one_of(type, Mod::b32, Mod::b64, Mod::b128);
    case Mod::cas: return one_of(type, Mod::b16, Mod::b32, Mod::b64, Mod::b128);
    case Mod::add: return is_half(type) || one_of(type, Mod::u32, Mod::s32, Mod::u64, Mod::f32, Mod::f64);
    case Mod::inc:
    case Mod::dec: return type == Mod::u32;
    default: return one_of(type, Mod::u32, Mod::s32, Mod::u64, Mod::s64);
  }
}

void check_values(const InstructionRef& i, LegalityReport& out, const char* name, unsigned lanes) {
  const Operand* o = i.operand(name);
  if (o == nullptr || o->kind == Operand::Kind::sink) return;
  const unsigned given = o->kind == Operand::Kind::vec ? o->count : 1;
  if (given != lanes || (lanes == 1 && o->kind == Operand::Kind::vec)) {
    out.error(Code::E1330, fmt::format("operand '{}' has {} values here, {} given", name, lanes, given));
    return;
  }
  const Mod type = i.mod(Slot::type);
  const auto check = [&](const Operand& e) {
    if (e.kind == Operand::Kind::reg && type_bits(i.function.regs[e.index].type) != type_bits(type)) {
      out.error(Code::E1201, fmt::format("register '{}' is .{}, the instruction's type is .{}", i.function.regs[e.index].name,
                                         mod_text(i.function.regs[e.index].type), mod_text(type)));
    }
  };
  if (o->kind != Operand::Kind::vec) return check(*o);
  for (const Operand& e : i.function.elements(*o)) check(e);
}

}  // namespace

// PTX ISA 9.7.13.3; the legal combinations are those that ptxas 13.0 accepts.
void atomic(const InstructionRef& i, LegalityReport& out) {
  const Mod op = i.mod(Slot::op), type = i.mod(Slot::type), vec = i.mod(Slot::vec), space = i.mod(Slot::space);
  const unsigned lanes = vec == Mod::v2 ? 2 : vec == Mod::v4 ? 4
                                          : vec == Mod::v8   ? 8
                                                             : 1;
  const bool global = space == Mod::global || space == Mod::none;
  if (!type_fits(op, type, lanes > 1)) out.error(Code::E1345, fmt::format(".{} has no .{}{}", mod_text(op), lanes > 1 ? "vectors of ." : "", mod_text(type)));
  if (lanes > 1 && lanes * type_bits(type) > 128) out.error(Code::E1345, "a vector has at most 128 bits");
  if (lanes > 1 && !global) out.error(Code::E1346, "vectors are for global memory");
  if (lanes > 1 && !has_feature(i.module.target, Feature::sm90)) out.error(Code::E1210, "atomic vectors need sm_90 or later");
  if (is_half(type) != i.has(Mod::noftz)) out.error(Code::E1347, ".noftz goes with the 16-bit types, always");
  if (i.has(Mod::L2_cache_hint) && !global) out.error(Code::E1336, "cache hints are for global memory");
  if (!out.failed()) {
    check_values(i, out, "d", lanes);
    check_values(i, out, "b", lanes);
    check_values(i, out, "c", lanes);
  }
}

}  // namespace drywell::isa::legality
