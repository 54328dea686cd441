#include "drywell/isa/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "drywell/core/sizes.h"
#include "drywell/isa/print.h"
#include "drywell/isa/resolve.h"
#include "isa/call_check.h"
#include "isa/legality/legality.h"

namespace drywell::isa {

void LegalityReport::error(Code code, std::string message, std::string hint) {
  failed_ = true;
  out_.error(code, at_.where(), fmt::format("{} — in '{}'", message, print_instruction(at_.function, at_.instr)), std::move(hint));
}

void LegalityReport::warning(Code code, std::string message, std::string hint) {
  out_.warning(code, at_.where(), fmt::format("{} — in '{}'", message, print_instruction(at_.function, at_.instr)), std::move(hint));
}

namespace {

unsigned wanted_bits(const InstructionRef& i, const TypeRule& t) {
  switch (t.from) {
    case TypeRule::From::any: return 0;
    case TypeRule::From::fixed: return type_bits(t.fixed);
    case TypeRule::From::slot: return type_bits(i.mod(t.slot));
    case TypeRule::From::slot_wide: return 2 * type_bits(i.mod(t.slot));
  }
  return 0;
}

Mod wanted_type(const InstructionRef& i, const TypeRule& t) {
  if (t.from == TypeRule::From::fixed) return t.fixed;
  if (t.from == TypeRule::From::slot) return i.mod(t.slot);
  return Mod::none;
}

// PTX ISA 9.4: an operand's register must have the instruction's width and an agreeing kind; untyped .bN agrees with all.
void check_register(const InstructionRef& i, LegalityReport& out, const OperandSpec& want, const Operand& o) {
  const unsigned bits = wanted_bits(i, want.type);
  if (bits == 0) return;
  const RegDecl& r = i.function.regs[o.index];
  const unsigned have = type_bits(r.type);
  if (have != bits && !(want.type.loose && have >= bits)) {
    out.error(Code::E1201, fmt::format("operand '{}' is .{} ({} bits), the instruction takes {} bits", r.name, mod_text(r.type), have, bits),
              fmt::format("declare it .b{} or convert it", bits));
    return;
  }
  const Mod type = wanted_type(i, want.type);
  if (type != Mod::none && !legality::kinds_agree(type, r.type)) {
    out.error(Code::E1202, fmt::format("operand '{}' is .{}, the instruction's type is .{}", r.name, mod_text(r.type), mod_text(type)),
              "declare the register .bN, or move it with mov.bN");
  }
}

// As ptxas: no conversion between integers and floats, and a bit type takes only a literal of its own width.
bool literal_fits(ImmKind kind, Mod type) {
  const bool is_float = kind == ImmKind::f32 || kind == ImmKind::f64;
  switch (type) {
    case Mod::none: return true;
    case Mod::f32:
    case Mod::f64: return is_float;
    case Mod::b32: return kind != ImmKind::f64;
    case Mod::b64: return kind != ImmKind::f32;
    default: return !is_float || is_float_type(type);
  }
}

void check_immediate(const InstructionRef& i, LegalityReport& out, const OperandSpec& want, const Operand& o) {
  const Mod type = wanted_type(i, want.type);
  if (literal_fits(o.imm_kind, type)) return;
  out.error(Code::E1206, fmt::format("the literal does not fit type .{}", mod_text(type)),
            is_float_type(type) ? "floats are written 1.0, 0f3F800000, 0d3FF0000000000000" : "0f… is 32 bits, 0d… and 1.0 are 64 bits");
}

/// True if addresses with this base have 32 bits: a 32-bit register, or a variable outside global memory.
bool has_short_address(const InstructionRef& i, const Operand& o) {
  if (o.base == Operand::Base::reg) return type_bits(i.function.regs[o.index].type) <= 32;
  if (o.base != Operand::Base::symbol) return false;
  const SymbolRef& s = i.function.symbols[o.index];
  if (s.kind == SymbolRef::Kind::variable) return i.module.variables[s.index].space == Mod::shared;
  return s.kind == SymbolRef::Kind::param || s.kind == SymbolRef::Kind::local;
}

// PTX ISA 6.4.1: the offset is a signed 32-bit number. An unsigned one that means the same is left alone, and so are 64-bit addresses.
void check_offset(const InstructionRef& i, LegalityReport& out, const Operand& o) {
  constexpr int64_t kLeast = -(int64_t{1} << 31), kMost = (int64_t{1} << 32) - 1;
  if (!has_short_address(i, o) || (o.value >= kLeast && o.value <= kMost)) return;
  out.error(Code::E1107, fmt::format("the offset {} does not fit in 32 bits, which is what this address has", o.value));
}

void check_operand(const InstructionRef& i, LegalityReport& out, const OperandSpec& want, const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::reg: check_register(i, out, want, o); break;
    case Operand::Kind::imm: check_immediate(i, out, want, o); break;
    case Operand::Kind::vec:
      if (want.type.from != TypeRule::From::any && i.row().legality == nullptr) {
        for (const Operand& e : i.function.elements(o)) {
          if (e.kind == Operand::Kind::reg) check_register(i, out, want, e);
          if (e.kind == Operand::Kind::imm) check_immediate(i, out, want, e);
        }
      }
      break;
    case Operand::Kind::addr:
      check_offset(i, out, o);
      if (o.base == Operand::Base::reg && is_float_type(i.function.regs[o.index].type)) {
        out.error(Code::E1202, fmt::format("register '{}' is .{}: no address", i.function.regs[o.index].name, mod_text(i.function.regs[o.index].type)), "an address is an integer");
      }
      if (o.base == Operand::Base::reg && type_bits(i.function.regs[o.index].type) < 32) {
        out.error(Code::E1203, fmt::format("address register '{}' is narrower than 32 bits", i.function.regs[o.index].name));
      }
      break;
    default: break;
  }
}

/// A machine's target that has the feature.
Target example_of(Feature f) {
  static constexpr Target kMachines[] = {Target::sm_100a, Target::sm_90a, Target::sm_103a};
  const Target* found = std::find_if(std::begin(kMachines), std::end(kMachines), [f](Target t) { return has_feature(t, f); });
  return found != std::end(kMachines) ? *found : Target::sm_120a;
}

}  // namespace

void validate_instruction(const InstructionRef& i, Diagnostics& out) {
  LegalityReport report(i, out);
  const InstrSpec& row = i.row();
  if (!has_feature(i.module.target, row.needs)) {
    report.error(Code::E1210, fmt::format("'{}' needs {}, the target is {}", row.mnemonic, feature_name(row.needs), target_name(i.module.target)),
                 fmt::format("compile for a target that has it, e.g. {}", target_name(example_of(row.needs))));
  }
  if (i.module.version < row.since) {
    report.error(Code::E1211, fmt::format("'{}' needs PTX {}.{}, the module says {}.{}", row.mnemonic, row.since.major, row.since.minor,
                                          i.module.version.major, i.module.version.minor));
  }
  if (i.instr.guard != kNoReg && i.function.regs[i.instr.guard].type != Mod::pred) {
    report.error(Code::E1204, fmt::format("guard '{}' is not a predicate", i.function.regs[i.instr.guard].name));
  }
  std::array<int8_t, kMaxOperands> positions;
  if (!match_operands(i.function, {i.instr.op, i.instr.mods}, i.operands(), positions)) {
    report.error(Code::E1205, fmt::format("operands do not fit '{}'", row.mnemonic), fmt::format("for example: {}", row.example));
    return;
  }
  for (size_t k = 0; k < kMaxOperands && row.operands[k].name != nullptr; ++k) {
    if (positions[k] >= 0) check_operand(i, report, row.operands[k], i.operands()[static_cast<size_t>(positions[k])]);
  }
  if (row.legality != nullptr && !report.failed()) row.legality(i, report);
  if (row.flow == Flow::call && !report.failed()) check_call(i, report);
}

void validate_function(const Module& m, const Function& f, Diagnostics& out) {
  std::set<std::string_view> names;
  for (const Label& l : f.labels) {
    if (l.position > f.body.size()) out.error(Code::E1220, {f.name, 0, 0}, fmt::format("label '{}' is never bound", l.name));
    if (!names.insert(l.name).second) out.error(Code::E1221, {f.name, 0, 0}, fmt::format("label '{}' is defined twice", l.name));
  }
  for (const Instruction& ins : f.body) validate_instruction({m, f, ins}, out);
}

SourcePos place_of(const Module& m, const Function& f) { return {m.files[0].empty() ? f.name : m.files[0], 0, 0}; }

// PTX ISA 7.6.1.1: 4352 bytes; from PTX 8.1 on 32764 (.param of kernels, sm_70 and later).
void check_parameters(const Module& m, const Function& f, Diagnostics& out) {
  SizeCursor block;
  for (const Variable& p : f.params) block.place(p.bytes(), p.align);
  const uint64_t bytes = block.end();
  const uint64_t most = m.version < PtxVersion{8, 1} ? 4352 : 32764;
  if (!f.is_entry || bytes <= most) return;
  out.error(Code::E1223, place_of(m, f),
            fmt::format("the parameters of '{}' are {} bytes, at most {} in PTX {}.{}", f.name, bytes, most, m.version.major, m.version.minor),
            "give the kernel a pointer to the data instead");
}

Diagnostics validate(const Module& m) {
  Diagnostics out;
  std::set<std::string_view> names;
  for (const Function& f : m.functions) {
    if (!f.is_prototype && !names.insert(f.name).second) out.error(Code::E1222, place_of(m, f), fmt::format("'{}' is defined twice", f.name));
    check_parameters(m, f, out);
    validate_function(m, f, out);
  }
  return out;
}

}  // namespace drywell::isa
