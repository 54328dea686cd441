// The IR is PTX: instructions, operands and functions as plain values with structural equality. Const calls may run at
// the same time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/isa/mods.h"
#include "drywell/isa/spec.h"
#include "drywell/isa/target.h"

namespace drywell::isa {

/// Index into Function::regs.
using RegId = uint32_t;
inline constexpr RegId kNoReg = ~RegId{0};

/// Special registers that a mov can read.
enum class SpecialReg : uint8_t {
#define SREG(OP_, TEXT_) OP_,
#include "drywell/isa/table/special_regs.inc"
#undef SREG
  count_
};
std::string_view special_reg_text(SpecialReg r);
/// Parses "%tid.x" (with the percent sign); returns nothing for an unknown name.
std::optional<SpecialReg> find_special_reg(std::string_view text);

/// Written form of an immediate, kept for printing.
enum class ImmKind : uint8_t { decimal, hex, f32, f64, warp_size };

/// One operand. Composite operands (vectors, tensor addresses, argument lists) refer to a run of elements in
/// Function::pool: pool[index] … pool[index + count - 1].
struct Operand {
  enum class Kind : uint8_t { none, reg, imm, addr, vec, label, symbol, sink, tensor, pair, special, args };
  enum class Base : uint8_t { none, reg, symbol };

  Kind kind = Kind::none;
  Base base = Base::none;           // addr: the base that the offset is added to
  ImmKind imm_kind = ImmKind::decimal;
  bool negated = false;             // !p
  bool explicit_plus = false;       // unused by semantics: "[r+-4]" against "[r-4]"
  uint16_t count = 0;               // elements of a composite
  uint32_t index = 0;               // register, label, symbol or pool index; SpecialReg value
  int64_t value = 0;                // immediate bits, or address offset in bytes

  bool operator==(const Operand&) const = default;

  static Operand reg(RegId r, bool neg = false) { Operand o; o.kind = Kind::reg; o.index = r; o.negated = neg; return o; }
  static Operand imm(int64_t v, ImmKind k = ImmKind::decimal) { Operand o; o.kind = Kind::imm; o.value = v; o.imm_kind = k; return o; }
  static Operand label(uint32_t l) { Operand o; o.kind = Kind::label; o.index = l; return o; }
  static Operand symbol(uint32_t s) { Operand o; o.kind = Kind::symbol; o.index = s; return o; }
  static Operand sink() { Operand o; o.kind = Kind::sink; return o; }
  static Operand special(SpecialReg r) { Operand o; o.kind = Kind::special; o.index = static_cast<uint32_t>(r); return o; }
  static Operand address(RegId r, int64_t offset = 0) { Operand o; o.kind = Kind::addr; o.base = Base::reg; o.index = r; o.value = offset; return o; }
  static Operand address_of(uint32_t symbol_id, int64_t offset = 0) { Operand o; o.kind = Kind::addr; o.base = Base::symbol; o.index = symbol_id; o.value = offset; return o; }
  static Operand absolute(int64_t a) { Operand o; o.kind = Kind::addr; o.value = a; return o; }
};

/// Source of an instruction: a line of PTX, or of the program that it was made from (DSL C++ or CUDA).
struct SourceRef {
  uint32_t file = 0;  // index into Module::files; 0 = none
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t call_site = 0;  // call site of an inlined line: 1 + index into Module::call_sites; 0 = not inlined, or unknown
  /// Compares the line only: two equal modules may number their call sites differently.
  bool operator==(const SourceRef& o) const { return file == o.file && line == o.line && column == o.column; }
};

/// One instruction: a row of the table with values for its slots and operands.
struct Instruction {
  Opcode op{};
  bool guard_negated = false;
  uint8_t operand_count = 0;
  RegId guard = kNoReg;                   // @p
  std::array<uint8_t, kMaxSlots> mods{};  // per slot of the row: 1-based index into its values, 0 = absent
  uint32_t operands = 0;                  // first operand in Function::pool
  SourceRef source{};                     // the author's line (.loc or C++ source_location)
  uint32_t ptx_line = 0;                  // line of the parsed PTX text; 0 = made by a builder

  Mod mod_at(size_t slot) const {
    return mods[slot] == 0 ? Mod::none : spec(op).slots[slot].mods[mods[slot] - 1];
  }
  /// Returns the token in slot `s`, or Mod::none if the slot is empty or not a slot of this row.
  Mod mod(Slot s) const {
    const int i = spec(op).slot_index(s);
    return i < 0 ? Mod::none : mod_at(static_cast<size_t>(i));
  }
  bool has(Mod m) const;
};

struct RegDecl {
  std::string name;        // as printed, with or without %
  Mod type = Mod::b32;     // declared type; semantics follow the opcode, never this type
  bool operator==(const RegDecl&) const = default;
};

enum class Linkage : uint8_t { internal, visible, external, weak, common };

/// A variable: global, constant, shared, local, or a (formal) parameter.
struct Variable {
  std::string name;
  Mod space = Mod::global;           // global, const_, shared, local, param
  Mod type = Mod::b8;                // element type
  uint32_t align = 1;                // bytes
  uint64_t elements = 1;             // 0: unsized (.extern .shared name[])
  bool is_array = false;
  uint8_t vec = 1;                   // .v2 / .v4 element vectors
  Linkage linkage = Linkage::internal;
  Mod pointee = Mod::none;           // parameters: .ptr{.space}; generic = Mod::param placeholder
  bool is_pointer = false;
  uint32_t pointee_align = 0;
  std::vector<uint8_t> init;         // bytes; shorter than the variable = rest zero
  bool managed = false;              // .attribute(.managed)
  uint32_t position = 0;             // module variables: index of the next function in the text
  struct Reloc { uint64_t offset; std::string symbol; int64_t addend; bool generic; bool operator==(const Reloc&) const = default; };
  std::vector<Reloc> relocations;    // initialisers that are addresses
  uint64_t bytes() const { return elements * vec * (type_bits(type) == 1 ? 8 : type_bits(type)) / 8; }
  bool operator==(const Variable&) const = default;
};

struct Label {
  std::string name;
  uint32_t position = 0;  // index of the next instruction; body.size() = end
  bool operator==(const Label&) const = default;
};

/// Performance and launch directives of an entry.
struct Directives {
  std::optional<std::array<uint32_t, 3>> maxntid, reqntid, reqnctapercluster;
  std::optional<uint32_t> minnctapersm, maxnctapersm, maxnreg, maxclusterrank;
  bool explicitcluster = false;
  bool blocksareclusters = false;
  bool noreturn = false;
  bool operator==(const Directives&) const = default;
};

/// A named range of warps, for statistics per role ("mma", "dma", "epilogue").
struct WarpRole {
  std::string name;
  uint32_t first = 0, last = 0;
  bool operator==(const WarpRole&) const = default;
};

/// The object of a symbol operand: a kind and an index into the list of that kind.
struct SymbolRef {
  enum class Kind : uint8_t {
    variable,        // Module::variables
    param,           // Function::params, then Function::returns: index - params.size()
    local,           // Function::variables
    function,        // Module::functions; the definition if the module has one, else the declaration
    prototype,       // Function::prototypes
    external,
    branch_targets,  // Function::branch_targets
    call_targets,    // Function::call_targets
  } kind = Kind::variable;
  uint32_t index = 0;
  std::string name;
  bool operator==(const SymbolRef&) const = default;
};

/// A .pragma or other text, kept with the position of the next instruction.
struct Annotation {
  uint32_t position = 0;
  std::string text;
  bool operator==(const Annotation&) const = default;
};

/// A .callprototype: the signature of an indirect call.
struct CallPrototype {
  std::string name;
  std::vector<Variable> returns, params;  // names may be "_"
  bool noreturn = false;
  bool operator==(const CallPrototype&) const = default;
};

/// A kernel (.entry) or a .func.
struct Function {
  std::string name;
  bool is_entry = true;
  bool is_prototype = false;        // declared, not defined
  Linkage linkage = Linkage::visible;
  Directives directives;
  std::vector<Variable> params;
  std::vector<Variable> returns;    // .func only
  std::vector<Variable> variables;  // .shared, .local, .param declared in the body
  std::vector<RegDecl> regs;
  std::vector<SymbolRef> symbols;   // objects that Operand::symbol and address_of refer to, by index
  std::vector<Label> labels;
  std::vector<std::vector<uint32_t>> branch_targets;  // .branchtargets lists: label indices
  std::vector<std::vector<uint32_t>> call_targets;    // .calltargets lists: Module::functions indices
  std::vector<CallPrototype> prototypes;
  std::vector<Operand> pool;
  std::vector<Instruction> body;
  std::vector<Annotation> pragmas;
  std::vector<WarpRole> roles;
  SourceRef source{};

  std::span<const Operand> operands(const Instruction& i) const { return {pool.data() + i.operands, i.operand_count}; }
  std::span<const Operand> elements(const Operand& o) const { return {pool.data() + o.index, o.count}; }
};

/// .alias name, target: a second name of a function.
struct Alias {
  std::string name, target;
  bool operator==(const Alias&) const = default;
};

/// A translation unit.
struct Module {
  PtxVersion version{9, 0};
  Target target = Target::sm_100a;
  bool debug = false;
  std::vector<std::string> files{""};  // 0: the file name of the text; empty for a built or linked module
  std::vector<SourceRef> call_sites;   // of inlined functions; the call_site of an element is its enclosing call
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Alias> aliases;
  std::vector<std::string> pragmas;    // .pragma at module scope

  /// Returns the definition of the function with that name or alias, or nullptr.
  const Function* find_function(std::string_view name) const;
  /// Returns the index of `path` in `files`; appends it if it is new. Not const: no other call at the same time.
  uint32_t file_index(std::string_view path);
};

/// An instruction in its module and function, as printers, validators and decoders take it.
struct InstructionRef {
  const Module& module;
  const Function& function;
  const Instruction& instr;

  const InstrSpec& row() const { return spec(instr.op); }
  Mod mod(Slot s) const { return instr.mod(s); }
  bool has(Mod m) const { return instr.has(m); }
  std::span<const Operand> operands() const { return function.operands(instr); }
  /// Returns the operand at row position `name` ("a", "mbar", …), or nullptr if this instruction does not have it.
  const Operand* operand(std::string_view name) const;
  SourcePos where() const;
  /// Returns the author's line, then the lines of the enclosing inlined calls, innermost first. Empty if unknown.
  std::vector<SourcePos> author_lines() const;
};

/// Matches the operands of `i` to its row's operand positions; entry k is the operand index at row position k or -1.
/// Throws InternalError if they do not fit.
std::array<int8_t, kMaxOperands> operand_positions(const Function& f, const Instruction& i);

}  // namespace drywell::isa
