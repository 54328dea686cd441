#include "isa/call_check.h"

#include <fmt/format.h>

#include <span>

namespace drywell::isa {
namespace {

/// The formal parameters of the called function; absent if only the address is known at run time.
struct Signature {
  const std::vector<Variable>*returns = nullptr, *params = nullptr;
  std::string_view name;
  bool is_entry = false;
};

Signature signature_of(const InstructionRef& i, const Operand& target) {
  const Function& f = i.function;
  if (target.kind == Operand::Kind::symbol && f.symbols[target.index].kind == SymbolRef::Kind::function) {
    const Function& callee = i.module.functions[f.symbols[target.index].index];
    return {&callee.returns, &callee.params, callee.name, callee.is_entry};
  }
  for (const Operand& o : i.operands()) {
    if (o.kind != Operand::Kind::symbol || f.symbols[o.index].kind != SymbolRef::Kind::prototype) continue;
    const CallPrototype& p = f.prototypes[f.symbols[o.index].index];
    return {&p.returns, &p.params, p.name};
  }
  return {};
}

bool is_float(Mod type) { return mod_text(type)[0] == 'f'; }
bool is_untyped(Mod type) { return mod_text(type)[0] == 'b'; }

// As ptxas: the same width; an untyped side agrees with all, signed agrees with unsigned, integers and floats
// do not agree.
bool types_agree(Mod have, Mod want) {
  if (type_bits(have) != type_bits(want)) return false;
  return is_untyped(have) || is_untyped(want) || is_float(have) == is_float(want);
}

/// One argument or result beside its formal parameter.
class Passed {
 public:
  Passed(const InstructionRef& i, LegalityReport& out, const Variable& formal, std::string_view callee,
         bool result)
      : i_(i), out_(out), formal_(formal), callee_(callee), result_(result) {}

  void check(const Operand& o) {
    switch (o.kind) {
      case Operand::Kind::symbol: return variable(i_.function.symbols[o.index]);
      case Operand::Kind::reg: return scalar(i_.function.regs[o.index].name, i_.function.regs[o.index].type);
      case Operand::Kind::imm: return literal(o);
      case Operand::Kind::sink:
        if (!result_) mismatch("_ is not a value");
        return;
      default: return mismatch("it is neither a .param variable nor a register nor a number");
    }
  }

 private:
  void variable(const SymbolRef& s) {
    const Variable* v = s.kind == SymbolRef::Kind::local ? &i_.function.variables[s.index] : nullptr;
    if (v == nullptr || v->space != Mod::param) {
      return mismatch(fmt::format("'{}' is not a .param variable of this block", s.name),
                      "declare a .param variable, and store the value there with st.param");
    }
    if (formal_.is_array && formal_.elements == 0)
      return;  // the last parameter of a function with a variable number of them
    const bool same_shape = v->is_array == formal_.is_array &&
                            (v->is_array ? v->bytes() == formal_.bytes()
                                         : types_agree(v->type, formal_.type) && v->vec == formal_.vec);
    if (!same_shape)
      return mismatch(fmt::format("'{}' has {}, the parameter {}", v->name, shape(*v), shape(formal_)));
    if (v->align != formal_.align)
      mismatch(fmt::format("'{}' has .align {}, the parameter .align {}", v->name, v->align, formal_.align));
  }

  void scalar(std::string_view name, Mod type) {
    if (formal_.is_array || formal_.vec != 1 || !types_agree(type, formal_.type)) {
      mismatch(fmt::format("'{}' has .{}, the parameter {}", name, mod_text(type), shape(formal_)));
    }
  }

  void literal(const Operand& o) {
    const bool number_is_float = o.imm_kind == ImmKind::f32 || o.imm_kind == ImmKind::f64;
    const bool fits = !formal_.is_array && formal_.vec == 1 &&
                      (is_untyped(formal_.type) || number_is_float == is_float(formal_.type));
    if (result_ || !fits)
      mismatch(result_ ? "a number cannot take a result" : fmt::format("a number for {}", shape(formal_)));
  }

  static std::string shape(const Variable& v) {
    return v.is_array ? fmt::format("an array of {} bytes", v.bytes())
                      : fmt::format("{}.{}", v.vec == 1 ? "" : fmt::format(".v{} ", v.vec), mod_text(v.type));
  }

  void mismatch(const std::string& why, std::string hint = {}) {
    out_.error(
        Code::E1230,
        fmt::format("{} '{}' of '{}': {}", result_ ? "result" : "parameter", formal_.name, callee_, why),
        std::move(hint));
  }

  const InstructionRef& i_;
  LegalityReport& out_;
  const Variable& formal_;
  std::string_view callee_;
  bool result_;
};

std::span<const Operand> given(const InstructionRef& i, const char* position) {
  const Operand* o = i.operand(position);
  return o == nullptr ? std::span<const Operand>() : i.function.elements(*o);
}

void check_list(const InstructionRef& i, LegalityReport& out, const Signature& s, bool results) {
  const std::span<const Operand> values = given(i, results ? "ret" : "args");
  const std::vector<Variable>& formals = results ? *s.returns : *s.params;
  const bool open_end = !formals.empty() && formals.back().is_array && formals.back().elements == 0;
  if (values.size() != formals.size() && !(open_end && values.size() + 1 == formals.size())) {
    return out.error(Code::E1230, fmt::format("'{}' {} {} values, the call has {}", s.name,
                                              results ? "returns" : "takes", formals.size(), values.size()));
  }
  for (size_t k = 0; k < values.size(); ++k) Passed(i, out, formals[k], s.name, results).check(values[k]);
}

}  // namespace

void check_call(const InstructionRef& i, LegalityReport& out) {
  const Signature s = signature_of(i, *i.operand("target"));
  if (s.is_entry) return out.error(Code::E1231, fmt::format("'{}' is a kernel; calls are for .func", s.name));
  if (i.operand("target")->kind == Operand::Kind::reg && i.operand("prototype") == nullptr)
    return out.error(Code::E1230, "a call of an address names no prototype", "P: .callprototype _ (.param .b32 _); call %rd1, (x), P;");
  if (s.params == nullptr) return;
  check_list(i, out, s, true);
  check_list(i, out, s, false);
}

}  // namespace drywell::isa
