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
#include "drywell/isa/subword.h"
#include "drywell/isa/target.h"

namespace drywell::isa {

/// Index into Function::regs.
using RegId = uint32_t;
inline constexpr RegId kNoReg = ~RegId{0};  // no register: an instruction without a guard

/// Special registers that a mov can read.
enum class SpecialReg : uint8_t {
#define SREG(OP_, TEXT_, WIDTHS_) OP_,
#include "drywell/isa/table/special_regs.inc"
#undef SREG
  count_
};
/// Its name in PTX, with the percent sign: "%tid.x".
std::string_view special_reg_text(SpecialReg r);
/// Parses "%tid.x" (with the percent sign); returns nothing for an unknown name.
std::optional<SpecialReg> find_special_reg(std::string_view text);
/// Whether a mov of this type reads it: most have 32 bits, some 16 or 64, too, and %is_explicit_cluster is a predicate (as ptxas 13.0).
bool reads_special_as(SpecialReg r, Mod type);

/// Written form of an immediate, kept for printing.
enum class ImmKind : uint8_t {
  decimal,
  hex,
  f32,
  f64,
  warp_size
};

/// One operand. Composite operands (vectors, tensor addresses, argument lists) refer to a run of elements in
/// Function::pool: pool[index] … pool[index + count - 1].
struct Operand {
  /// Kinds of operands, as OperandShape of the rows has them. tensor: [map, {coordinates}]; pair: d|p; args: a call's list.
  enum class Kind : uint8_t {
    none,
    reg,
    imm,
    addr,
    vec,
    label,
    symbol,
    sink,
    tensor,
    pair,
    special,
    args
  };
  /// Base of an address; none: it is absolute.
  enum class Base : uint8_t {
    none,
    reg,
    symbol
  };

  /// Says which of the members below count.
  Kind kind = Kind::none;
  Base base = Base::none;               // addr: the base that the offset is added to
  ImmKind imm_kind = ImmKind::decimal;  // imm: how it is printed
  bool negated = false;                 // !p
  bool explicit_plus = false;           // unused by semantics: "[r+-4]" against "[r-4]"
  bool minus = false;                   // reg: -a
  uint16_t count = 0;                   // elements of a composite
  uint32_t index = 0;                   // register, label, symbol or pool index; SpecialReg value
  Subword part{};                       // reg: a.b0
  int64_t value = 0;                    // immediate bits, or address offset in bytes

  bool operator==(const Operand&) const = default;

  /// A register; `neg`: a predicate written !p.
  static Operand reg(RegId r, bool neg = false) {
    Operand o;
    o.kind = Kind::reg;
    o.index = r;
    o.negated = neg;
    return o;
  }
  /// An immediate; `v`: its bits, of f32 in the lower half.
  static Operand imm(int64_t v, ImmKind k = ImmKind::decimal) {
    Operand o;
    o.kind = Kind::imm;
    o.value = v;
    o.imm_kind = k;
    return o;
  }
  /// A branch target; `l`: index into Function::labels.
  static Operand label(uint32_t l) {
    Operand o;
    o.kind = Kind::label;
    o.index = l;
    return o;
  }
  /// The address of a variable, parameter or function; `s`: index into Function::symbols.
  static Operand symbol(uint32_t s) {
    Operand o;
    o.kind = Kind::symbol;
    o.index = s;
    return o;
  }
  /// `_`: the result is not kept.
  static Operand sink() {
    Operand o;
    o.kind = Kind::sink;
    return o;
  }
  /// A special register.
  static Operand special(SpecialReg r) {
    Operand o;
    o.kind = Kind::special;
    o.index = static_cast<uint32_t>(r);
    return o;
  }
  /// [r+offset]; the offset is in bytes.
  static Operand address(RegId r, int64_t offset = 0) {
    Operand o;
    o.kind = Kind::addr;
    o.base = Base::reg;
    o.index = r;
    o.value = offset;
    return o;
  }
  /// [symbol+offset]; `symbol_id`: index into Function::symbols, the offset is in bytes.
  static Operand address_of(uint32_t symbol_id, int64_t offset = 0) {
    Operand o;
    o.kind = Kind::addr;
    o.base = Base::symbol;
    o.index = symbol_id;
    o.value = offset;
    return o;
  }
  /// [a]: an address in bytes.
  static Operand absolute(int64_t a) {
    Operand o;
    o.kind = Kind::addr;
    o.value = a;
    return o;
  }
};

/// Source of an instruction: a line of PTX, or of the program that it was made from (DSL C++ or CUDA).
struct SourceRef {
  uint32_t file = 0;       // index into Module::files; 0 = none
  uint32_t line = 0;       // from 1; 0: unknown
  uint32_t column = 0;     // from 1; 0: unknown
  uint32_t call_site = 0;  // call site of an inlined line: 1 + index into Module::call_sites; 0 = not inlined, or unknown

  /// Compares the line only: two equal modules may number their call sites differently.
  bool operator==(const SourceRef& o) const { return file == o.file && line == o.line && column == o.column; }
};

/// One instruction: a row of the table with values for its slots and operands.
struct Instruction {
  Opcode op{};                            // the row
  bool guard_negated = false;             // @!p
  uint8_t operand_count = 0;              // operands given; optional ones that are absent do not count
  RegId guard = kNoReg;                   // @p
  std::array<uint8_t, kMaxSlots> mods{};  // per slot of the row: 1-based index into its values, 0 = absent
  uint32_t operands = 0;                  // first operand in Function::pool
  SourceRef source{};                     // the author's line (.loc or C++ source_location)
  uint32_t ptx_line = 0;                  // line of the parsed PTX text; 0 = made by a builder

  /// The token in the row's slot number `slot`, or Mod::none.
  Mod mod_at(size_t slot) const {
    return mods[slot] == 0 ? Mod::none : spec(op).slots[slot].mods[mods[slot] - 1];
  }
  /// Returns the token in slot `s`, or Mod::none if the slot is empty or not a slot of this row.
  Mod mod(Slot s) const {
    const int i = spec(op).slot_index(s);
    return i < 0 ? Mod::none : mod_at(static_cast<size_t>(i));
  }
  /// True if some slot has this token.
  bool has(Mod m) const;
};

/// A declared register.
struct RegDecl {
  std::string name;     // as printed, with or without %
  Mod type = Mod::b32;  // declared type; semantics follow the opcode, never this type
  bool operator==(const RegDecl&) const = default;
};

/// Linkage of a variable or function, as its directive says (PTX ISA 5.4.6); internal: none is written.
enum class Linkage : uint8_t {
  internal,
  visible,
  external,
  weak,
  common
};

/// A variable: global, constant, shared, local, or a (formal) parameter.
struct Variable {
  std::string name;                     // as written
  Mod space = Mod::global;              // global, const_, shared, local, param
  Mod type = Mod::b8;                   // element type
  uint32_t align = 1;                   // bytes
  uint64_t elements = 1;                // 0: unsized (.extern .shared name[])
  bool is_array = false;                // written with [ ]
  uint8_t vec = 1;                      // .v2 / .v4 element vectors
  Linkage linkage = Linkage::internal;  // of a module variable
  Mod pointee = Mod::none;              // parameters: .ptr{.space}; generic = Mod::param placeholder
  bool is_pointer = false;              // a parameter with .ptr
  uint32_t pointee_align = 0;           // of .ptr … .align, bytes; 0: not given
  std::vector<uint8_t> init;            // bytes; shorter than the variable = rest zero
  bool managed = false;                 // .attribute(.managed)
  uint32_t position = 0;                // module variables: index of the next function in the text

  /// An initialiser that is an address: of `symbol` plus `addend` bytes.
  struct Reloc {
    uint64_t offset;     // in the variable, bytes
    std::string symbol;  // a variable or function of the module
    int64_t addend;      // bytes
    bool generic;        // generic(symbol): a generic address
    bool operator==(const Reloc&) const = default;
  };
  std::vector<Reloc> relocations;  // initialisers that are addresses

  /// Size in bytes; 0 for an unsized one.
  uint64_t bytes() const { return elements * vec * (type_bits(type) == 1 ? 8 : type_bits(type)) / 8; }
  bool operator==(const Variable&) const = default;
};

/// A branch target of a function.
struct Label {
  std::string name;       // as written, without the colon
  uint32_t position = 0;  // index of the next instruction; body.size() = end
  bool operator==(const Label&) const = default;
};

/// Performance and launch directives of an entry.
struct Directives {
  std::optional<std::array<uint32_t, 3>> maxntid, reqntid, reqnctapercluster;   // x, y, z; PTX ISA 11.4
  std::optional<uint32_t> minnctapersm, maxnctapersm, maxnreg, maxclusterrank;  // as the directives of these names
  bool explicitcluster = false;                                                 // .explicitcluster
  bool blocksareclusters = false;                                               // .blocksareclusters
  bool noreturn = false;                                                        // .noreturn
  bool operator==(const Directives&) const = default;
};

/// A named range of warps, for statistics per role ("mma", "dma", "epilogue").
struct WarpRole {
  std::string name;              // in reports and traces
  uint32_t first = 0, last = 0;  // warps of a CTA, both included
  bool operator==(const WarpRole&) const = default;
};

/// The object of a symbol operand: a kind and an index into the list of that kind.
struct SymbolRef {
  /// The list that the symbol is in.
  enum class Kind : uint8_t {
    variable,   // Module::variables
    param,      // Function::params, then Function::returns: index - params.size()
    local,      // Function::variables
    function,   // Module::functions; the definition if the module has one, else the declaration
    prototype,  // Function::prototypes
    external,
    branch_targets,         // Function::branch_targets
    call_targets,           // Function::call_targets
  } kind = Kind::variable;  // of this symbol
  uint32_t index = 0;       // into the list of its kind
  std::string name;         // as written
  bool operator==(const SymbolRef&) const = default;
};

/// A .pragma or other text, kept with the position of the next instruction.
struct Annotation {
  uint32_t position = 0;  // index of the next instruction
  std::string text;       // as written, without its semicolon
  bool operator==(const Annotation&) const = default;
};

/// A .callprototype: the signature of an indirect call.
struct CallPrototype {
  std::string name;                       // its label
  std::vector<Variable> returns, params;  // names may be "_"
  bool noreturn = false;                  // .noreturn
  bool operator==(const CallPrototype&) const = default;
};

/// A kernel (.entry) or a .func.
struct Function {
  std::string name;                                   // as written
  bool is_entry = true;                               // .entry; false: .func
  bool is_prototype = false;                          // declared, not defined
  Linkage linkage = Linkage::visible;                 // as its directive says
  Directives directives;                              // of an entry
  std::vector<Variable> params;                       // in order
  std::vector<Variable> returns;                      // .func only
  std::vector<Variable> variables;                    // .shared, .local, .param declared in the body
  std::vector<RegDecl> regs;                          // RegId is the index
  std::vector<SymbolRef> symbols;                     // objects that Operand::symbol and address_of refer to, by index
  std::vector<Label> labels;                          // Operand::label is the index
  std::vector<std::vector<uint32_t>> branch_targets;  // .branchtargets lists: label indices
  std::vector<std::vector<uint32_t>> call_targets;    // .calltargets lists: Module::functions indices
  std::vector<CallPrototype> prototypes;              // of indirect calls
  std::vector<Operand> pool;                          // operands of the instructions, and elements of composite operands
  std::vector<Instruction> body;                      // in the order of the text; empty for a prototype
  std::vector<Annotation> pragmas;                    // of the body
  std::vector<WarpRole> roles;                        // of a CTA's warps; empty: none were named
  SourceRef source{};                                 // its first line
  std::string refused;                                // opcode of its first instruction on textures or surfaces, which are not in `body`; empty: none

  /// The operands given to an instruction of this function, in PTX order.
  std::span<const Operand> operands(const Instruction& i) const { return {pool.data() + i.operands, i.operand_count}; }
  /// The elements of a composite operand.
  std::span<const Operand> elements(const Operand& o) const { return {pool.data() + o.index, o.count}; }
};

/// .alias name, target: a second name of a function.
struct Alias {
  std::string name, target;  // both names of functions
  bool operator==(const Alias&) const = default;
};

/// A translation unit.
struct Module {
  PtxVersion version{9, 0};            // .version
  Target target = Target::sm_100a;     // .target
  bool debug = false;                  // .target …, debug
  std::vector<std::string> files{""};  // 0: the file name of the text; empty for a built or linked module
  std::vector<SourceRef> call_sites;   // of inlined functions; the call_site of an element is its enclosing call
  std::vector<Variable> variables;     // of the module
  std::vector<Function> functions;     // declarations too, in the order of the text
  std::vector<Alias> aliases;          // second names of functions
  std::vector<std::string> pragmas;    // .pragma at module scope

  /// Returns the definition of the function with that name or alias, or nullptr.
  const Function* find_function(std::string_view name) const;
  /// Returns the index of `path` in `files`; appends it if it is new. Not const: no other call at the same time.
  uint32_t file_index(std::string_view path);
};

/// An instruction in its module and function, as printers, validators and decoders take it.
struct InstructionRef {
  /// Outlives the reference.
  const Module& module;
  /// Of the module.
  const Function& function;
  /// Of the function's body.
  const Instruction& instr;

  /// Its row of the instruction table.
  const InstrSpec& row() const { return spec(instr.op); }
  /// Instruction::mod.
  Mod mod(Slot s) const { return instr.mod(s); }
  /// Instruction::has.
  bool has(Mod m) const { return instr.has(m); }
  /// Those given, in PTX order.
  std::span<const Operand> operands() const { return function.operands(instr); }
  /// Returns the operand at row position `name` ("a", "mbar", …), or nullptr if this instruction does not have it.
  const Operand* operand(std::string_view name) const;
  /// Its line of PTX; for a built module the author's line.
  SourcePos where() const;
  /// Returns the author's line, then the lines of the enclosing inlined calls, innermost first. Empty if unknown.
  std::vector<SourcePos> author_lines() const;
};

/// Matches the operands of `i` to its row's operand positions; entry k is the operand index at row position k or -1.
/// Throws InternalError if they do not fit.
std::array<int8_t, kMaxOperands> operand_positions(const Function& f, const Instruction& i);

}  // namespace drywell::isa
