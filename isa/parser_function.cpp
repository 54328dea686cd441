// Function headers: linkage, parameters, performance directives, prototypes.
#include <fmt/format.h>

#include <algorithm>

#include "isa/parser.h"

namespace drywell::isa {
namespace {

template <class T>
struct DirectiveField {
  std::string_view word;
  T Directives::*field;
};
constexpr DirectiveField<std::optional<std::array<uint32_t, 3>>> kExtents[] = {
    {"maxntid", &Directives::maxntid},
    {"reqntid", &Directives::reqntid},
    {"reqnctapercluster", &Directives::reqnctapercluster}};
constexpr DirectiveField<std::optional<uint32_t>> kNumbers[] = {
    {"minnctapersm", &Directives::minnctapersm},
    {"maxnctapersm", &Directives::maxnctapersm},
    {"maxnreg", &Directives::maxnreg},
    {"maxclusterrank", &Directives::maxclusterrank}};
constexpr DirectiveField<bool> kFlags[] = {{"explicitcluster", &Directives::explicitcluster},
                                           {"blocksareclusters", &Directives::blocksareclusters},
                                           {"noreturn", &Directives::noreturn}};

/// Directives of register allocation; the simulator ignores them.
bool concerns_registers_only(std::string_view word) {
  return word == "abi_preserve" || word == "abi_preserve_control";
}

}  // namespace

void Parser::function_item(bool is_entry, Linkage linkage) {
  fn_ = Function{};
  param_names_.clear();
  return_names_.clear();
  register_parameters_.clear();
  fn_.is_entry = is_entry;
  fn_.linkage = linkage;
  if (lex_.peek() == '.') {
    const std::string_view word = lex_.directive();
    if (word != "attribute") fail_expected("the function's name");
    skip_attribute(nullptr);
  }
  if (lex_.peek() == '(') {
    if (is_entry) {
      fail(Code::E1103, lex_.pos(), "an entry returns no value", "write the name, then the parameters");
    }
    fn_.returns = parameter_list("a return parameter", return_names_);
    for (RegisterParameter& p : register_parameters_) p.is_return = true;
  }
  const TextPos at = lex_.pos();
  const std::string_view name = expect_identifier("the function's name");
  fn_.name = name;
  if (lex_.peek() == '(') fn_.params = parameter_list("a parameter", param_names_);
  function_directives();
  fn_.is_prototype = lex_.take(';');
  if (!fn_.is_prototype && lex_.peek() != '{') fail_expected("'{' and the body, or ';'");

  const auto index = static_cast<uint32_t>(module_.functions.size());
  if (Binding* known = names_.find(name); known == nullptr) {
    names_.declare(name, NameKind::function, index);
  } else if (known->kind != NameKind::function) {
    report(Code::E1105, at, fmt::format("'{}' is already the name of a variable", name));
  } else if (!fn_.is_prototype) {
    if (!module_.functions[known->index].is_prototype) {
      report(Code::E1105, at, fmt::format("'{}' is defined twice", name));
    }
    known->index = index;
  }
  if (fn_.is_prototype) {
    module_.functions.push_back(std::move(fn_));
    return;
  }
  // The function is added before its body is read, because a recursive call names it.
  module_.functions.emplace_back();
  module_.functions.back().name = fn_.name;
  function_body();
  module_.functions[index] = std::move(fn_);
}

std::vector<Variable> Parser::parameter_list(std::string_view what, std::vector<std::string_view>& names) {
  std::vector<Variable> out;
  expect('(', "'('");
  if (lex_.take(')')) return out;
  do {
    std::string_view name;
    const size_t in_registers = register_parameters_.size();
    out.push_back(parameter(what, name));
    if (register_parameters_.size() != in_registers) register_parameters_.back().index = static_cast<uint32_t>(out.size() - 1);
    names.push_back(name);
  } while (lex_.take(','));
  expect(')', "')' or ','");
  return out;
}

// ".param {.align A} .type {.ptr {.space} {.align A}} name{[N]}"; the name is optional in a prototype.
Variable Parser::parameter(std::string_view what, std::string_view& name) {
  Variable v;
  v.space = Mod::param;
  v.name = "_";
  const TextPos start = lex_.pos();
  const std::string_view space = lex_.directive();
  const bool in_register = space == "reg" && (in_function_ || !fn_.is_entry);
  if (space != "param" && !in_register) fail(Code::E1103, start, fmt::format("expected {} (.param …)", what));
  uint32_t align = 0;
  bool has_type = false;
  while (lex_.peek() == '.') {
    const TextPos at = lex_.pos();
    const std::string_view word = lex_.directive();
    const Mod mod = find_mod(word);
    if (word == "align") {
      (v.is_pointer ? v.pointee_align : align) = alignment();
    } else if (word == "ptr") {
      v.is_pointer = true;
    } else if (v.is_pointer &&
               (mod == Mod::global || mod == Mod::const_ || mod == Mod::shared || mod == Mod::local)) {
      v.pointee = mod;
    } else if (word == "v2" || word == "v4") {
      v.vec = word == "v2" ? 2 : 4;
    } else if (has_type) {
      fail(Code::E1108, at, fmt::format("unknown parameter attribute '.{}'", word));
    } else if (word == "texref" || word == "samplerref" || word == "surfref") {
      fail(Code::U5001, at, fmt::format("textures and surfaces ('.{}') are not modelled", word));
    } else {
      v.type = type_word(word, at);
      has_type = true;
    }
  }
  if (!has_type) fail_expected("the parameter's type");
  v.align = align != 0 ? align : std::max(1u, type_bits(v.type) / 8) * v.vec;
  Dimensions dimensions;
  if (lex_.peek() != ',' && lex_.peek() != ')') v = declarator(std::move(v), dimensions, name);
  if (in_register) check_register_parameter(v, start);
  if (in_register) register_parameters_.push_back({false, 0, v.type});
  return v;
}

void Parser::check_register_parameter(const Variable& v, TextPos at) {
  const bool scalar = !v.is_array && v.vec == 1 && !v.is_pointer && v.type != Mod::pred && type_bits(v.type) <= 64;
  if (!scalar) fail(Code::U5001, at, "predicates, vectors and 128 bits as parameters in registers are not modelled", "declare them .param");
}

std::array<uint32_t, 3> Parser::triple() {
  std::array<uint32_t, 3> t{1, 1, 1};
  for (size_t i = 0; i < 3 && (i == 0 || lex_.take(',')); ++i) {
    t[i] = static_cast<uint32_t>(unsigned_constant("an extent", ~uint32_t{0}));
  }
  return t;
}

void Parser::function_directives() {
  Directives& d = fn_.directives;
  while (lex_.peek() == '.') {
    const TextPos at = lex_.pos();
    const std::string_view word = lex_.directive();
    const auto is_word = [&](const auto& entry) { return entry.word == word; };
    if (const auto* extent = std::ranges::find_if(kExtents, is_word); extent != std::end(kExtents)) {
      d.*extent->field = triple();
    } else if (const auto* number = std::ranges::find_if(kNumbers, is_word); number != std::end(kNumbers)) {
      d.*number->field = static_cast<uint32_t>(unsigned_constant("the value", ~uint32_t{0}));
    } else if (const auto* flag = std::ranges::find_if(kFlags, is_word); flag != std::end(kFlags)) {
      d.*flag->field = true;
    } else if (concerns_registers_only(word)) {
      unsigned_constant("the value", ~uint32_t{0});
    } else if (word == "pragma") {
      fn_.pragmas.push_back({0, pragma_text()});
    } else {
      fail(Code::E1108, at, fmt::format("unknown function directive '.{}'", word),
           "e.g. .maxntid, .reqntid, .minnctapersm, .reqnctapercluster, .explicitcluster");
    }
  }
}

CallPrototype Parser::call_prototype(std::string_view name) {
  CallPrototype p;
  p.name = name;
  std::vector<std::string_view> ignored;
  const std::vector<RegisterParameter> own = register_parameters_;  // of the function around it
  if (lex_.peek() == '(') p.returns = parameter_list("a return parameter", ignored);
  expect_identifier("'_'");
  if (lex_.peek() == '(') p.params = parameter_list("a parameter", ignored);
  while (lex_.peek() == '.') {
    const TextPos at = lex_.pos();
    const std::string_view word = lex_.directive();
    if (word == "noreturn") {
      p.noreturn = true;
    } else if (concerns_registers_only(word)) {
      unsigned_constant("the value", ~uint32_t{0});
    } else {
      fail(Code::E1108, at, fmt::format("unknown prototype directive '.{}'", word));
    }
  }
  expect_semicolon();
  register_parameters_ = own;
  return p;
}

// ---- the body as a whole

void Parser::declare_parameters(TextPos at) {
  uint32_t index = 0;
  for (const auto* list : {&param_names_, &return_names_}) {
    for (size_t k = 0; k < list->size(); ++k) {
      const std::string_view name = (*list)[k];
      const uint32_t i = index++;
      if (name.empty() || name == "_") continue;
      const auto in_register = std::ranges::find_if(register_parameters_, [&](const RegisterParameter& p) { return p.is_return == (list == &return_names_) && p.index == k; });
      if (in_register != register_parameters_.end()) {
        in_register->reg = add_registers(name, false, 1, in_register->type, at);
        if (names_.declare(name, NameKind::reg, in_register->reg) == nullptr) report(Code::E1105, at, fmt::format("two parameters are called '{}'", name));
        continue;
      }
      if (names_.declare(name, NameKind::param, i) == nullptr) {
        report(Code::E1105, at, fmt::format("two parameters are called '{}'", name));
      }
      names_.reserve(name);
    }
  }
}

// A parameter in a register is one in memory that the function loads first, or stores before it returns.
Operand Parser::place_of(const RegisterParameter& p) {
  std::vector<Variable>& list = p.is_return ? fn_.returns : fn_.params;
  Variable& v = list[p.index];
  const auto number = static_cast<uint32_t>(p.is_return ? fn_.params.size() + p.index : p.index);
  const auto known = std::ranges::find_if(fn_.symbols, [&](const SymbolRef& s) { return s.kind == SymbolRef::Kind::param && s.index == number; });
  const auto symbol = static_cast<uint32_t>(known - fn_.symbols.begin());
  if (known == fn_.symbols.end()) {
    v.name = names_.unique(names_.keep(v.name + "_param"));
    fn_.symbols.push_back({SymbolRef::Kind::param, number, v.name});
  }
  return Operand::address_of(symbol);
}

void Parser::load_parameters(TextPos at) {
  Instruction like;
  like.ptx_line = at.line;
  for (const RegisterParameter& p : register_parameters_) {
    if (p.is_return || p.reg == kNoReg) continue;
    append(fmt::format("ld.param.b{}", type_bits(p.type)), std::array<Operand, 2>{Operand::reg(p.reg), place_of(p)}, like, at);
  }
}

void Parser::store_results(const Instruction& like, TextPos at) {
  for (const RegisterParameter& p : register_parameters_) {
    if (!p.is_return || p.reg == kNoReg) continue;
    append(fmt::format("st.param.b{}", type_bits(p.type)), std::array<Operand, 2>{place_of(p), Operand::reg(p.reg)}, like, at);
  }
}

void Parser::function_body() {
  in_function_ = true;
  ++function_number_;
  source_ = {};
  names_.begin_function();
  names_.open();
  const TextPos begin = lex_.pos();
  declare_parameters(begin);
  open_scope();
  load_parameters(begin);
  while (!pending_starts_.empty()) {
    if (lex_.at_end()) {
      report(Code::E1111, scope_positions_.front(), fmt::format("the body of '{}' is not closed", fn_.name),
             "its matching '}' is missing");
      while (!pending_starts_.empty()) close_scope();
      break;
    }
    recovering([&] { statement(); });
  }
  if (fn_.body.empty() || spec(fn_.body.back().op).flow != Flow::return_ || fn_.body.back().guard != kNoReg) {
    Instruction end;  // without a ret
    end.ptx_line = begin.line;
    store_results(end, begin);
  }
  names_.close();
  in_function_ = false;
  finish_function();
}

void Parser::finish_function() {
  // Lists that no instruction names keep their names in the printed text.
  const auto complete = [&](SymbolRef::Kind kind, const std::vector<std::string_view>& names) {
    std::vector<bool> named(names.size(), false);
    for (const SymbolRef& s : fn_.symbols) {
      if (s.kind == kind) named[s.index] = true;
    }
    for (uint32_t i = 0; i < names.size(); ++i) {
      if (!named[i]) fn_.symbols.push_back({kind, i, std::string(names[i])});
    }
  };
  complete(SymbolRef::Kind::branch_targets, branch_target_names_);
  complete(SymbolRef::Kind::call_targets, call_target_names_);
  branch_target_names_.clear();
  call_target_names_.clear();
  fn_.regs.shrink_to_fit();
  fn_.pool.shrink_to_fit();
  fn_.body.shrink_to_fit();
  fn_.variables.shrink_to_fit();
  fn_.symbols.shrink_to_fit();
  fn_.labels.shrink_to_fit();
}

}  // namespace drywell::isa
