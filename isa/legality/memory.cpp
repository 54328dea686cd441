#include <fmt/format.h>

#include "isa/legality/legality.h"

namespace drywell::isa::legality {

namespace {

void special_width(const InstructionRef& i, LegalityReport& out, SpecialReg r) {
  const Mod type = i.mod(Slot::type);
  if (reads_special_as(r, type)) return;
  for (const Mod own : {Mod::u32, Mod::u64, Mod::pred}) {
    if (!reads_special_as(r, own)) continue;
    return out.error(Code::E1202, fmt::format("{} is no value of type .{}", special_reg_text(r), mod_text(type)), fmt::format("mov.{} reads it", mod_text(own)));
  }
}

bool neighbours_agree(Mod a, Mod b) { return a == b || untyped(a) || untyped(b) || (!is_float_type(a) && !is_float_type(b)); }

// Registers of two widths in a vector, or neighbours of two kinds: ptxas 13.0 refuses them, whatever the instruction's type.
void one_kind(const InstructionRef& i, LegalityReport& out, const Operand& vector) {
  Mod before = Mod::none;
  for (const Operand& e : i.function.elements(vector)) {
    if (e.kind != Operand::Kind::reg) continue;
    const Mod type = i.function.regs[e.index].type;
    if (before != Mod::none && type_bits(type) != type_bits(before)) return out.error(Code::E1201, "the registers of a vector have one width");
    if (before != Mod::none && !neighbours_agree(before, type)) {
      return out.error(Code::E1202, fmt::format("registers of types .{} and .{} side by side in a vector", mod_text(before), mod_text(type)), "declare them .bN");
    }
    before = type;
  }
}

}  // namespace

// For ptxas an .f16x2 is 32 bits of an integer unless the instruction computes with it.
bool kinds_agree(Mod type, Mod of_register) {
  const auto number = [](Mod m) { return m == Mod::f16 || m == Mod::f32 || m == Mod::f64; };
  if (untyped(type) || untyped(of_register) || type == of_register) return true;
  if (type == Mod::bf16 || type == Mod::bf16x2) return true;
  if (type == Mod::tf32) return of_register == Mod::f32;
  return !is_float_type(type) && !number(of_register);
}

// mov packs and unpacks vectors whose elements add up to the instruction's width (PTX ISA 9.7.9.4).
void mov(const InstructionRef& i, LegalityReport& out) {
  const unsigned bits = type_bits(i.mod(Slot::type));
  const auto operands = i.operands();
  if (operands[1].kind == Operand::Kind::special) special_width(i, out, static_cast<SpecialReg>(operands[1].index));
  if (operands[0].kind == Operand::Kind::vec && operands[1].kind == Operand::Kind::vec) out.error(Code::E1320, "mov takes one vector at most");
  for (const Operand& o : operands) {
    if (o.kind != Operand::Kind::vec) continue;
    one_kind(i, out, o);
    if (!untyped(i.mod(Slot::type))) out.error(Code::E1202, "a vector is packed and unpacked without a type", fmt::format("mov.b{}", bits));
    unsigned sum = 0, each = o.count == 0 ? 0 : bits / o.count;
    for (const Operand& e : i.function.elements(o)) {
      if (e.kind == Operand::Kind::sink && &o != &operands[0]) out.error(Code::E1321, "'_' is no value: a vector that is packed has all of its elements");
      sum += e.kind == Operand::Kind::reg ? type_bits(i.function.regs[e.index].type) : each;
    }
    if (sum != bits) out.error(Code::E1321, fmt::format("the vector holds {} bits, the move is {} bits wide", sum, bits));
  }
}

namespace {

// As for ptxas, a vector whose registers have several types is untyped; so is one of integers for an access of floats of their width.
bool vector_is_untyped(const InstructionRef& i, const Operand& vector) {
  Mod first = Mod::none;
  for (const Operand& e : i.function.elements(vector)) {
    if (e.kind != Operand::Kind::reg) continue;
    const Mod type = i.function.regs[e.index].type;
    if (first != Mod::none && type != first) return true;
    first = type;
  }
  const Mod accessed = i.mod(Slot::type);
  return first == Mod::none || (is_float_type(accessed) && !is_float_type(first) && type_bits(first) == type_bits(accessed));
}

// Legal combinations of caches and orders, as ptxas 13.0 accepts them.
void access_modifiers(const InstructionRef& i, LegalityReport& out) {
  const Mod sem = i.mod(Slot::sem), space = i.mod(Slot::space), cop = i.mod(Slot::cop), l1 = i.mod(Slot::l1);
  const bool ordered = sem == Mod::relaxed || sem == Mod::acquire || sem == Mod::release, weak = sem == Mod::none || sem == Mod::weak;
  const bool global_or_generic = space == Mod::global || space == Mod::none;
  const bool read_only = space == Mod::param || space == Mod::param_entry || space == Mod::param_func || space == Mod::const_;
  if (ordered != (i.mod(Slot::scope) != Mod::none)) out.error(Code::E1332, "a scope goes with .relaxed, .acquire and .release");
  const bool volatile_local = sem == Mod::volatile_ && space == Mod::local && i.module.version >= PtxVersion{9, 1};
  if ((ordered || sem == Mod::volatile_) && (space == Mod::local || read_only) && !volatile_local) out.error(Code::E1334, "this space has no ordered or volatile accesses");
  if (cop != Mod::none && !weak) out.error(Code::E1335, "a cache operator goes with weak accesses");
  if (l1 != Mod::none && (cop != Mod::none || sem == Mod::volatile_)) out.error(Code::E1335, "an L1 eviction priority goes neither with a cache operator nor with .volatile");
  if ((l1 != Mod::none || i.mod(Slot::l2_prefetch) != Mod::none || i.has(Mod::L2_cache_hint)) && !global_or_generic) {
    out.error(Code::E1336, "cache hints are for global memory");
  }
  if (i.has(Mod::nc) && (space != Mod::global || sem != Mod::none || cop == Mod::lu || cop == Mod::cv)) {
    out.error(Code::E1337, ".nc is for .global, without an order, with no cache operator but .ca, .cg and .cs");
  }
  if (i.has(Mod::mmio) && (sem != Mod::relaxed || i.mod(Slot::scope) != Mod::sys || !global_or_generic || i.mod(Slot::vec) != Mod::none)) {
    out.error(Code::E1338, ".mmio goes with .relaxed.sys, one element, global memory");
  }
}

void access_width(const InstructionRef& i, LegalityReport& out, unsigned lanes) {
  const Mod type = i.mod(Slot::type), space = i.mod(Slot::space), vec = i.mod(Slot::vec);
  const unsigned bits = lanes * type_bits(type);
  const bool wide_space = (space == Mod::global || space == Mod::none) && has_feature(i.module.target, Feature::sm100) && i.row().mnemonic != "ldu";
  if (bits > 256 || type == Mod::b128 ? lanes > 1 : bits > 128 && !wide_space) {
    out.error(Code::E1331, fmt::format("{} bits in one access", bits), "at most 128; 256 only for .global on sm_100 and later");
  }
  if (bits == 256 && type_bits(type) < 32) out.error(Code::E1331, "256-bit accesses take 32- or 64-bit elements");
  if (vec == Mod::v8 && type_bits(type) != 32) out.error(Code::E1331, ".v8 takes 32-bit elements");
  if (i.mod(Slot::l2) != Mod::none && bits != 256) out.error(Code::E1339, "an L2 eviction priority goes with 256-bit accesses", "use .L2::cache_hint");
}

unsigned lanes_of(Mod vec) { return vec == Mod::v2 ? 2 : vec == Mod::v4 ? 4
                                                     : vec == Mod::v8   ? 8
                                                                        : 1; }

}  // namespace

namespace {

/// The state space of the variable that an address names; Mod::none if it names none.
Mod space_of_base(const InstructionRef& i, const Operand& address) {
  if (address.kind != Operand::Kind::addr || address.base != Operand::Base::symbol) return Mod::none;
  const SymbolRef& s = i.function.symbols[address.index];
  if (s.kind == SymbolRef::Kind::variable) return i.module.variables[s.index].space;
  if (s.kind == SymbolRef::Kind::local) return i.function.variables[s.index].space;
  return s.kind == SymbolRef::Kind::param ? Mod::param : Mod::none;
}

bool spaces_agree(Mod accessed, Mod declared) {
  switch (accessed) {
    case Mod::none: return declared != Mod::param && declared != Mod::const_;  // generic
    case Mod::shared_cta:
    case Mod::shared_cluster: return declared == Mod::shared;
    case Mod::param_entry:
    case Mod::param_func: return declared == Mod::param;
    default: return accessed == declared;
  }
}

// As ptxas: a variable is accessed in its own space, parameters are read, and what a function returns is written.
void named_variable(const InstructionRef& i, LegalityReport& out, const Operand& address, bool is_load) {
  const Mod declared = space_of_base(i, address), accessed = i.mod(Slot::space);
  if (declared == Mod::none) return;
  const SymbolRef& s = i.function.symbols[address.index];
  if (!spaces_agree(accessed, declared)) {
    return out.error(Code::E1102, fmt::format("'{}' is a .{} variable, the access is {}", s.name, mod_text(declared), accessed == Mod::none ? "generic" : fmt::format(".{}", mod_text(accessed))));
  }
  if (s.kind != SymbolRef::Kind::param) return;
  const bool returned = s.index >= i.function.params.size();
  if (!is_load && !returned) out.error(Code::E1333, fmt::format("'{}' is a parameter: it is read only", s.name));
  if (is_load && returned) out.error(Code::E1333, fmt::format("'{}' is what the function returns: it is written only", s.name));
}

}  // namespace

void ld_st(const InstructionRef& i, LegalityReport& out) {
  const Mod vec = i.mod(Slot::vec), type = i.mod(Slot::type), space = i.mod(Slot::space);
  const unsigned lanes = lanes_of(vec);
  const bool is_load = i.row().mnemonic != "st";
  const Operand& data = *i.operand(is_load ? "d" : "b");
  const unsigned given = data.kind == Operand::Kind::vec ? data.count : 1;
  if (given != lanes) out.error(Code::E1330, fmt::format("{} values for a .{} access", given, vec == Mod::none ? "scalar" : mod_text(vec)));
  access_width(i, out, lanes);
  access_modifiers(i, out);
  named_variable(i, out, *i.operand("a"), is_load);
  if (!is_load && (space == Mod::const_ || space == Mod::param_entry)) out.error(Code::E1333, "this space cannot be written");
  bool any_kind = false;
  const auto check = [&](const Operand& e) {
    if (e.kind == Operand::Kind::reg) {
      const RegDecl& r = i.function.regs[e.index];
      if (type_bits(r.type) < type_bits(type)) {
        out.error(Code::E1201, fmt::format("register '{}' is narrower than .{}", r.name, mod_text(type)));
      } else if (!any_kind && !kinds_agree(type, r.type)) {
        out.error(Code::E1202, fmt::format("register '{}' is .{}, the access is .{}", r.name, mod_text(r.type), mod_text(type)), "use the register's type, or .bN");
      }
    }
    if (!is_load && e.kind == Operand::Kind::sink && lanes * type_bits(type) != 256) out.error(Code::E1358, "only 256-bit stores leave elements out");
  };
  if (data.kind == Operand::Kind::vec) {
    one_kind(i, out, data);
    any_kind = vector_is_untyped(i, data);
    for (const Operand& e : i.function.elements(data)) check(e);
  } else {
    check(data);
  }
}

void elect(const InstructionRef& i, LegalityReport& out) {
  if (i.operands()[0].kind != Operand::Kind::pair) out.error(Code::E1340, "elect.sync writes d|p", "e.g. elect.sync _|%p1, 0xFFFFFFFF");
}

void named_barrier(const InstructionRef& i, LegalityReport& out) {
  const Operand *barrier = i.operand("a"), *count = i.operand("b");
  if (barrier->kind == Operand::Kind::imm && (barrier->value < 0 || barrier->value > 15)) out.error(Code::E1341, "barriers are numbered 0 to 15");
  if (count != nullptr && count->kind == Operand::Kind::imm && (count->value <= 0 || count->value % 32 != 0)) {
    out.error(Code::E1342, "the thread count is a positive multiple of 32");
  }
}

}  // namespace drywell::isa::legality
