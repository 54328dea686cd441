// Instructions as C++ functions, so that an editor completes names, modifiers and operands. Opt-in: builder.h does not include it.
//
//   Typed t(k);
//   t.mbarrier_init({.space = Mod::shared_cta}, mem(full), 1);  // as k("mbarrier.init.shared::cta.b64", mem(full), 1)
//   const Reg sum = t.add({.type = Mod::u32}, a, b);           // as k.def("add.u32", a, b)
//   t.add_to({.type = Mod::u32}, sum, a, b);                   // as k("add.u32", sum, a, b)
//   Typed(k.when(p)).bra({}, label);                           // guarded
//
// A function stands for a row of the instruction table and has its name. `f` has the row's modifiers; those that are always there are not
// among its fields, and a modifier that the row does not have does not compile. Errors of operands are the builder's, and so is the rule for
// threads: one uses it at a time.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "drywell/isa/builder.h"

namespace drywell::isa {

namespace typed_mistake {
/// Not constexpr: named in the compiler's message.
inline void this_instruction_does_not_take_this_modifier() {}
}  // namespace typed_mistake

/// A modifier of the list; one is required.
template <Mod... allowed>
struct OneOf {
  Mod value;  // one of them
  /// Does not compile with another.
  consteval OneOf(Mod m) : value(m) {
    if (!((m == allowed) || ...)) typed_mistake::this_instruction_does_not_take_this_modifier();
  }
  /// As the opcode's text has it.
  constexpr operator Mod() const { return value; }
};

/// A modifier of the list, or none.
template <Mod... allowed>
struct Maybe {
  Mod value = Mod::none;  // or one of them
  /// None.
  constexpr Maybe() = default;
  /// Does not compile with another.
  consteval Maybe(Mod m) : value(m) {
    if (m != Mod::none && !((m == allowed) || ...)) typed_mistake::this_instruction_does_not_take_this_modifier();
  }
  /// As the opcode's text has it.
  constexpr operator Mod() const { return value; }
};

/// The modifier, if true.
template <Mod modifier>
struct Flag {
  bool value = false;  // the opcode has it
  /// Without it.
  constexpr Flag() = default;
  /// With it, if true.
  constexpr Flag(bool v) : value(v) {}
  /// As the opcode's text has it.
  constexpr operator Mod() const { return value ? modifier : Mod::none; }
};

/// An argument, or none where an instruction may lack it.
class TypedOperand {
 public:
  /// None.
  TypedOperand() = default;
  /// Whatever is an Arg.
  template <class T>
  requires(std::convertible_to<T&&, Arg> && !std::same_as<std::remove_cvref_t<T>, TypedOperand>)
      TypedOperand(T&& a) : arg_(Arg(std::forward<T>(a))) {}
  /// A vector {a, b, …}.
  TypedOperand(std::initializer_list<Arg> elements) : arg_(Arg(elements)) {}
  /// Empty if the instruction lacks it.
  const std::optional<Arg>& arg() const { return arg_; }

 private:
  std::optional<Arg> arg_;
};

/// The modifiers of each row.
namespace typed {
#define DRYWELL_TYPED_FORMS
#include "drywell/isa/table/typed_forms.inc"
#undef DRYWELL_TYPED_FORMS
}  // namespace typed

/// `K`: KernelBuilder&, or the KernelBuilder::Guarded that k.when(p) returns.
template <class K>
class Typed {
 public:
  using Where = SourceLocation;  // the author's line
  using Operand = TypedOperand;  // of a function below

  /// Emits into `k`.
  explicit Typed(K&& k) : k_(std::forward<K>(k)) {}

  // ---- a function for each row; NAME returns a new register with the result, NAME_to takes the destination
#include "drywell/isa/table/typed_forms.inc"

 private:
  static std::string opcode(std::string_view mnemonic, std::initializer_list<Mod> modifiers) {
    std::string text(mnemonic);
    for (const Mod m : modifiers)
      if (m != Mod::none) (text += '.') += mod_text(m);
    return text;
  }
  static std::vector<Arg> present(std::initializer_list<Operand> operands) {
    std::vector<Arg> out;
    for (const Operand& o : operands)
      if (o.arg().has_value()) out.push_back(*o.arg());
    return out;
  }
  void emit(std::string_view mnemonic, std::initializer_list<Mod> modifiers, std::initializer_list<Operand> operands, Where w) {
    const std::string text = opcode(mnemonic, modifiers);
    k_.emit(OpText(std::string_view(text), w), present(operands));
  }
  Reg def(std::string_view mnemonic, std::initializer_list<Mod> modifiers, std::initializer_list<Operand> operands, Where w) {
    const std::string text = opcode(mnemonic, modifiers);
    return k_.emit_def(OpText(std::string_view(text), w), present(operands));
  }

  K k_;
};
/// Typed(k) refers to a builder, and holds a guard.
template <class K>
Typed(K&&) -> Typed<K>;

}  // namespace drywell::isa
