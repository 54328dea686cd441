// The C++ DSL: a kernel author writes PTX, one call per instruction, with C++ around it.
//
//   KernelBuilder k("ids", Target::sm_100a);
//   const Reg out = k.named("out", k.load_param(k.param(Mod::u64, "out"), Mod::u64));
//   const Reg thread = k.named("thread", k.def("mov.u32", SpecialReg::tid_x));
//   const Reg at = k.def("mad.wide.u32", thread, 4, out);
//   k("st.global.u32", mem(at), thread);     // checked against the table here, with this line as its source
//   const Module module = k.finish();
//
// docs/dsl.md is the guide. A mistake (a default Reg, a register of another builder, a use after finish) throws InputError with its line.
// Structured helpers (if_, while_, for_range, warp roles) emit plain instructions of the same kernel.
// One thread uses a builder at a time; different builders may be used at the same time.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drywell/core/source_location.h"
#include "drywell/isa/instruction.h"
#include "drywell/isa/opcode_check.h"

namespace drywell::isa {

/// The builder that made a register, a label or a symbol: another builder refuses it. 0: none.
using BuilderTag = uint16_t;

/// A virtual register of the kernel being built. A default one names none, and no instruction takes it.
struct Reg {
  RegId id = kNoReg;     // index into Function::regs
  Mod type = Mod::none;  // declared type
  BuilderTag owner = 0;  // its builder

  /// False for a default one.
  bool valid() const { return id != kNoReg; }
};
/// A predicate operand, negated.
struct NotReg {
  Reg reg;  // a predicate
};
/// `!p` as an operand.
inline NotReg operator!(Reg r) { return {r}; }

/// A part of a register, or a register with a minus sign, as an operand of a video instruction.
struct PartReg {
  Reg reg;             // 32 bits
  Subword part{};      // r.b0
  bool minus = false;  // -r
};
/// `r.b0`, `r.h1`, `r.b7654` as an operand; throws an InputError (E1102) if `text`, without the point, is no selector.
PartReg part(Reg r, std::string_view text);
/// `-r` as an operand.
inline PartReg operator-(Reg r) { return {r, {}, true}; }
/// `-r.b0` as an operand.
inline PartReg operator-(PartReg r) { return {r.reg, r.part, !r.minus}; }

/// Registers addressed by index; as an operand they are a vector.
class RegArray {
 public:
  /// No registers.
  RegArray() = default;
  /// These registers, of one type for most instructions.
  explicit RegArray(std::vector<Reg> regs) : regs_(std::move(regs)) {}
  /// Throws std::out_of_range past the end.
  Reg operator[](size_t i) const { return regs_.at(i); }
  /// The number of registers.
  size_t size() const { return regs_.size(); }
  /// Returns `count` registers from `first` on, as a vector operand. Throws std::out_of_range past the end.
  RegArray slice(size_t first, size_t count) const;
  /// To loop over the registers.
  auto begin() const { return regs_.begin(); }
  /// Behind the last register.
  auto end() const { return regs_.end(); }

 private:
  std::vector<Reg> regs_;
};

/// A label of the kernel, bound or not.
struct LabelRef {
  uint32_t id = 0;       // index into Function::labels
  BuilderTag owner = 0;  // its builder
};
/// A parameter, shared variable or other named object; as an operand its value is its address.
struct Symbol {
  uint32_t id = 0;       // index into Function::symbols
  BuilderTag owner = 0;  // its builder
};

/// An argument of an instruction call.
struct Arg {
  /// The kinds of Operand, with addresses by their base.
  enum class Kind : uint8_t {
    reg,
    imm,
    f32,
    addr_reg,
    addr_symbol,
    vec,
    label,
    symbol,
    sink,
    special,
    tensor,
    pair
  };
  Kind kind = Kind::imm;   // says which members below count
  bool negated = false;    // !p
  BuilderTag owner = 0;    // label, symbol
  bool minus = false;      // -r
  Subword part{};          // r.b0
  Reg reg{};               // register, or base of an address
  int64_t value = 0;       // immediate or address offset
  uint32_t id = 0;         // label, symbol, special register
  std::vector<Arg> parts;  // vec, tensor (address, coordinates, offsets), pair

  /// A register.
  Arg(Reg r) : kind(Kind::reg), reg(r) {}
  /// A part of a register, or a register with a minus sign.
  Arg(PartReg p) : kind(Kind::reg), minus(p.minus), part(p.part), reg(p.reg) {}
  /// A negated predicate.
  Arg(NotReg n) : kind(Kind::reg), negated(true), reg(n.reg) {}
  /// An immediate; its type is the instruction's.
  Arg(int v) : value(v) {}
  /// An immediate.
  Arg(unsigned v) : value(v) {}
  /// An immediate.
  Arg(long v) : value(v) {}
  /// An immediate, by its bits.
  Arg(unsigned long v) : value(static_cast<int64_t>(v)) {}
  /// An f32 immediate, printed as 0f and eight hexadecimal digits.
  Arg(float v);
  /// A bool is no immediate of PTX: write 0 or 1, or choose the instruction in C++.
  template <std::same_as<bool> B>
  Arg(B v) = delete;
  /// A branch target.
  Arg(LabelRef l) : kind(Kind::label), owner(l.owner), id(l.id) {}
  /// The address of a variable or parameter, as a value.
  Arg(Symbol s) : kind(Kind::symbol), owner(s.owner), id(s.id) {}
  /// A special register.
  Arg(SpecialReg s) : kind(Kind::special), id(static_cast<uint32_t>(s)) {}
  /// A vector of registers.
  Arg(const RegArray& a);
  /// A vector {a, b, …}.
  Arg(std::initializer_list<Arg> elements);
  // Not inline: kernels have thousands of arguments, and the code that copies and frees `parts` would be half of a kernel's text.
  Arg(const Arg& other);
  Arg(Arg&& other) noexcept;             // `other` is to be assigned to or destroyed
  Arg& operator=(const Arg& other);      // a copy
  Arg& operator=(Arg&& other) noexcept;  // as the constructor
  ~Arg();
  /// `_`.
  static Arg sink() {
    Arg a(0);
    a.kind = Kind::sink;
    return a;
  }
};

/// Address operands [reg + offset] and [symbol + offset]; `offset` in bytes.
Arg mem(Reg base, int64_t offset = 0);
/// [symbol + offset].
Arg mem(Symbol base, int64_t offset = 0);
/// Tensor address operand [map, {coordinates}].
Arg tensor(Reg map, std::initializer_list<Arg> coordinates);
/// The same of a map that is a parameter.
Arg tensor(Symbol map, std::initializer_list<Arg> coordinates);
/// Operand d|p
Arg pair(Arg d, Reg p);
/// `_`: the result is not kept.
inline Arg sink() { return Arg::sink(); }
/// Vector operand {a, b, …}
template <class... A>
Arg vec(A&&... elements) {
  return Arg({Arg(std::forward<A>(elements))...});
}

/// Opcode text that the program makes while it runs, with the source line of the call: `k(OpText(fmt::format("ld.{}", type)), …)`. It is
/// checked when the call runs.
struct OpText {
  std::string_view text;  // mnemonic and modifiers: "ld.global.v4.f32"
  SourceLocation where;   // of the call

  /// The text, and the line that has it.
  explicit OpText(const char* t, SourceLocation w = SourceLocation::current()) : text(t), where(w) {}
  /// The same of a string, which outlives the call.
  explicit OpText(const std::string& t, SourceLocation w = SourceLocation::current()) : text(t), where(w) {}
  /// The same with a line that is known.
  explicit constexpr OpText(std::string_view t, SourceLocation w) : text(t), where(w) {}
};

/// Opcode text in the source, with the source line of the call. The compiler checks that the table has the instruction, its modifiers and
/// that number of operands; its message names a function of drywell/isa/opcode_check.h that says what is wrong.
template <int Operands>
class OpLiteral {
 public:
  /// The opcode's text; does not compile if the table does not take it.
  consteval OpLiteral(const char* text, SourceLocation where = SourceLocation::current()) : text_(text), where_(where) {
    opcode_check::expect(text, Operands);
  }
  /// Text that is not a literal: does not compile, and says what to write.
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::convertible_to<const Text&, const char*>)
      OpLiteral(const Text&) {
    static_assert(sizeof(Text) == 0, "this opcode is made while the program runs: write k(OpText(text), ...)");
  }
  /// The text, to be emitted.
  OpText checked() const { return OpText(text_, where_); }

 private:
  std::string_view text_;
  SourceLocation where_;
};

/// Builds one kernel; each call adds one instruction or declaration at its end.
class KernelBuilder {
 public:
  using Body = std::function<void()>;  // emits the instructions of a block
  using Where = SourceLocation;        // the author's line

  /// The result of `when`: emits instructions with its guard.
  class [[nodiscard]] Guarded {
   public:
    /// Guard @p, or @!p if `negated`.
    Guarded(KernelBuilder& k, Reg p, bool negated) : k_(k), p_(p), negated_(negated) {}
    /// KernelBuilder::operator() with the guard.
    template <class... A>
    void operator()(OpLiteral<sizeof...(A)> op, A&&... args) {
      guarded()(op.checked(), std::forward<A>(args)...);
    }
    /// The same for an opcode that the program makes while it runs.
    template <class... A>
    void operator()(OpText op, A&&... args) {
      guarded()(op, std::forward<A>(args)...);
    }
    /// KernelBuilder::def with the guard: the register keeps its value in lanes whose guard is false.
    template <class... A>
    Reg def(OpLiteral<sizeof...(A) + 1> op, A&&... args) {
      return guarded().def(op.checked(), std::forward<A>(args)...);
    }
    /// The same for an opcode that the program makes while it runs.
    template <class... A>
    Reg def(OpText op, A&&... args) {
      return guarded().def(op, std::forward<A>(args)...);
    }
    /// KernelBuilder::emit with the guard.
    void emit(OpText op, std::span<const Arg> args) { guarded().emit(op, args); }
    /// The same with the arguments in braces.
    void emit(OpText op, std::initializer_list<Arg> args) { guarded().emit(op, args); }
    /// The same with an opcode that the compiler checks.
    void emit(OpLiteral<opcode_check::kAnyCount> op, std::initializer_list<Arg> args) { guarded().emit(op.checked(), args); }
    /// KernelBuilder::emit_def with the guard: the register keeps its value in lanes whose guard is false.
    Reg emit_def(OpText op, std::span<const Arg> args) { return guarded().emit_def(op, args); }

   private:
    KernelBuilder& guarded() {
      k_.guard_ = p_;
      k_.guard_negated_ = negated_;
      k_.has_guard_ = true;
      return k_;
    }
    KernelBuilder& k_;
    Reg p_;
    bool negated_;
  };

  /// A module with one entry `name`; finish() checks the name.
  explicit KernelBuilder(std::string name, Target target = Target::sm_100a);

  // ---- declarations
  /// Returns a new register, %<name> or %<prefix><n> by type; an array's elements are %<name>_<i>. A repeated name gets a
  /// number. Throws InputError E1100 for a type that registers cannot hold, E1107 for a name that is none of PTX.
  Reg reg(Mod type, std::string_view name = {}, Where w = Where::current());
  /// `count` new registers of one type; errors as reg().
  RegArray regs(Mod type, size_t count, std::string_view name = {}, Where w = Where::current());
  /// Names a register that an instruction made: `k.named("tile_m", k.def("mul.lo.u32", m, 128))`. Debugger, traces and PTX show it.
  Reg named(std::string_view name, Reg r, Where w = Where::current());
  /// Declares a scalar kernel parameter; `load_param` reads it.
  Symbol param(Mod type, std::string_view name);
  /// Declares a byte-array parameter of `bytes` bytes (a tensor map: 128 bytes, align 64 or 128).
  Symbol param_bytes(std::string_view name, uint32_t bytes, uint32_t align);
  /// Emits ld.param into a new register of that type.
  Reg load_param(Symbol p, Mod type, Where w = Where::current());
  /// Declares static shared memory of the kernel; `bytes` and `align` in bytes.
  Symbol shared(std::string_view name, uint32_t bytes, uint32_t align);
  /// Declares the launch's dynamic shared memory; `align` in bytes.
  Symbol dynamic_shared(std::string_view name, uint32_t align);
  /// The launch and performance directives, to be set.
  Directives& directives() { return function().directives; }
  /// Names warps first…last of the CTA, both included, for statistics.
  void role(std::string_view name, uint32_t first, uint32_t last);

  // ---- instructions
  /// Emits one instruction and checks it against the table: opcode and number of operands when this is compiled, the rest when it runs.
  /// Throws InputError with this call's line: E1102 (operands), or the codes of validate_instruction.
  template <class... A>
  void operator()(OpLiteral<sizeof...(A)> op, A&&... args) {
    operator()(op.checked(), std::forward<A>(args)...);
  }
  /// The same for an opcode that the program makes while it runs; throws also InputError E1101 (opcode).
  template <class... A>
  void operator()(OpText op, A&&... args) {
    emit(op, std::array<Arg, sizeof...(A)>{Arg(std::forward<A>(args))...});
  }
  /// Emits one instruction whose first operand is a new register of the row's result type; returns the register. Throws
  /// as operator() does.
  template <class... A>
  Reg def(OpLiteral<sizeof...(A) + 1> op, A&&... args) {
    return def(op.checked(), std::forward<A>(args)...);
  }
  /// The same for an opcode that the program makes while it runs; throws also InputError E1101 (opcode).
  template <class... A>
  Reg def(OpText op, A&&... args) {
    return emit_def(op, std::array<Arg, sizeof...(A)>{Arg(std::forward<A>(args))...});
  }
  /// operator() with any number of operands.
  void emit(OpText op, std::span<const Arg> args);
  /// The same with the operands in braces.
  void emit(OpText op, std::initializer_list<Arg> args) { emit(op, std::span(args.begin(), args.size())); }
  /// The same with an opcode that the compiler checks.
  void emit(OpLiteral<opcode_check::kAnyCount> op, std::span<const Arg> args) { emit(op.checked(), args); }
  /// The same with an opcode that the compiler checks, and the operands in braces.
  void emit(OpLiteral<opcode_check::kAnyCount> op, std::initializer_list<Arg> args) { emit(op.checked(), args); }
  /// def() with any number of operands.
  Reg emit_def(OpText op, std::span<const Arg> args);
  /// The same with the operands in braces.
  Reg emit_def(OpText op, std::initializer_list<Arg> args) { return emit_def(op, std::span(args.begin(), args.size())); }
  /// The same with an opcode that the compiler checks.
  Reg emit_def(OpLiteral<opcode_check::kAnyCount> op, std::span<const Arg> args) { return emit_def(op.checked(), args); }
  /// The same with an opcode that the compiler checks, and the operands in braces.
  Reg emit_def(OpLiteral<opcode_check::kAnyCount> op, std::initializer_list<Arg> args) { return emit_def(op.checked(), args); }
  /// One instruction guarded by @p or @!p: k.when(p)("st.global.u32", mem(a), x). Instructions that its arguments emit are not guarded.
  Guarded when(Reg p) { return {*this, p, false}; }
  /// when() with @!p.
  Guarded unless(Reg p) { return {*this, p, true}; }

  // ---- control flow
  /// A new label, not bound; without a name it gets one.
  LabelRef label(std::string_view name = {});
  /// Throws InputError E1221 if the label is bound already.
  void bind(LabelRef l, Where w = Where::current());
  /// `then` is for the lanes whose predicate `p` is true; a branch jumps over it.
  void if_(Reg p, const Body& then, Where w = Where::current());
  /// The same for the lanes whose predicate is false.
  void if_not(Reg p, const Body& then, Where w = Where::current());
  /// Both, each for its lanes.
  void if_else(Reg p, const Body& then, const Body& otherwise, Where w = Where::current());
  /// `condition` emits code and returns a predicate; the loop evaluates it before each iteration.
  void while_(const std::function<Reg()>& condition, const Body& body, Where w = Where::current());
  /// The body returns a predicate; while it is true, the loop runs again.
  void do_while(const std::function<Reg()>& body_then_condition, Where w = Where::current());
  /// Loop for (i = begin; i < end; i += step) on 32-bit unsigned values.
  void for_range(Arg begin, Arg end, Arg step, const std::function<void(Reg)>& body, Where w = Where::current());
  /// Body for warps first…last of the CTA, both included; also names the role.
  void warp_role(std::string_view name, Reg warp_index, uint32_t first, uint32_t last, const Body& body, Where w = Where::current());
  /// Body for one elected lane of the converged warp.
  void elect_one(const Body& body, Where w = Where::current());

  // ---- result
  /// Throws InputError E1100 after finish().
  Function& function();
  /// The module so far.
  const Module& module() const { return module_; }
  /// Checks the whole kernel and returns it with its registers sorted by type. Throws InputError with every diagnostic.
  /// The builder cannot be used afterwards: E1100.
  Module finish(Where w = Where::current());

 private:
  Operand lower(const Arg& a, const SourcePos& where);
  void expect_open(const SourcePos& where) const;
  void expect_own(const Arg& a, const SourcePos& where) const;
  RegId guard_of(Reg p, const SourcePos& where) const;
  std::string author_name(std::string_view name, const SourcePos& where);
  uint32_t put(const std::vector<Operand>& elements);
  void jump(LabelRef target, Where w);
  void branch(LabelRef target, Reg guard, bool negated, Where w);
  uint32_t add_symbol(SymbolRef s);
  void sort_registers();

  Module module_;
  Reg guard_;
  bool has_guard_ = false, guard_negated_ = false;
  bool finished_ = false;
  BuilderTag tag_ = 0;
  Reg add_register(Mod type, std::string name);
  std::string unique_name(std::string_view name);

  std::map<std::string, uint32_t, std::less<>> names_;  // number of uses of each name
  std::vector<bool> named_;                             // registers with a name that the author chose
  uint32_t label_counter_ = 0;
};

}  // namespace drywell::isa
