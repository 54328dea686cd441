// Variables of every space.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "drywell/core/sizes.h"
#include "isa/parser.h"

namespace drywell::isa {
namespace {

constexpr uint64_t kMaxConstantBytes = 65536;  // of a module's .const variables (PTX ISA 5.1.3)

unsigned byte_width(Mod type) { return std::max(1u, type_bits(type) / 8); }

uint32_t vector_width(std::string_view word) {
  return word == "v2" ? 2 : word == "v4" ? 4
                                         : 0;
}

bool is_texture_type(std::string_view word) { return word == "texref" || word == "samplerref" || word == "surfref"; }

}  // namespace

Mod Parser::type_word(std::string_view word, TextPos at) {
  const Mod type = find_mod(word);
  const unsigned bits = type_bits(type);
  if (word.empty()) fail_expected("a type such as .b32");
  if (bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) {
    fail(Code::E1112, at, fmt::format("'.{}' is not a type that is declared", word),
         ".pred, or b, u, s or f with 8 to 128 bits");
  }
  return type;
}

uint32_t Parser::alignment() {
  const TextPos at = lex_.pos();
  const uint64_t n = unsigned_constant("an alignment", uint64_t{1} << 31);
  if (!std::has_single_bit(n)) fail(Code::E1114, at, fmt::format("alignment {} is not a power of two", n));
  return static_cast<uint32_t>(n);
}

void Parser::skip_attribute(Variable* v) {
  expect('(', "'(' and the attribute");
  do {
    const std::string_view word = lex_.directive();
    if (word.empty()) fail_expected("an attribute such as .managed");
    if (word != "managed" && word != "unified") {
      fail(Code::E1108, lex_.pos(), fmt::format("there is no attribute '.{}'", word), ".managed, .unified(…)");
    }
    if (word == "managed" && v != nullptr) v->managed = true;
    if (lex_.take('(')) {  // .unified(uuid1, uuid2)
      do constant();
      while (lex_.take(','));
      expect(')', "')'");
    }
  } while (lex_.take(','));
  expect(')', "')'");
}

void Parser::variable_statement(Mod space, Linkage linkage) {
  Variable v;
  v.space = space;
  v.linkage = linkage;
  if (!in_function_) v.position = static_cast<uint32_t>(module_.functions.size());
  uint32_t align = 0;
  bool has_type = false;
  while (!has_type) {
    const TextPos at = lex_.pos();
    const std::string_view word = lex_.directive();
    if (word == "align" && v.vec == 1) {
      align = alignment();
    } else if (word == "attribute") {
      skip_attribute(&v);
    } else if (vector_width(word) != 0) {
      v.vec = static_cast<uint8_t>(vector_width(word));
    } else {
      if (is_texture_type(word)) fail(Code::U5001, at, fmt::format("textures and surfaces ('.{}') are not modelled", word));
      v.type = variable_type(word, v.vec, at);
      has_type = true;
    }
  }
  if (linkage == Linkage::common && space != Mod::global) fail(Code::E1108, lex_.pos(), ".common variables are .global");
  v.align = align != 0 ? align : byte_width(v.type) * v.vec;
  do {
    const TextPos at = lex_.pos();
    Dimensions dimensions;
    std::string_view name;
    Variable one = declarator(v, dimensions, name);
    if (!one.is_array && lex_.take('<')) {
      variable_range(one);
      continue;
    }
    if (lex_.take('=')) initialiser(one, dimensions);
    if (one.is_array && one.elements == 0 && one.linkage != Linkage::external) {
      fail(Code::E1113, at, fmt::format("'{}' has neither a size nor an initialiser", one.name),
           "give it a size, or declare it .extern");
    }
    count_constants(one, at);
    declare_variable(std::move(one), name, at);
  } while (lex_.take(','));
  expect_semicolon();
}

// Only registers have type .pred; .bf16 and similar types are types of instructions (PTX ISA 5.2.1).
Mod Parser::variable_type(std::string_view word, unsigned vec, TextPos at) {
  const Mod type = type_word(word, at);
  if (type_bits(type) == 1) fail(Code::E1112, at, "predicates live in registers only", "use .b8");
  if (!word.starts_with('b') && !word.starts_with('u') && !word.starts_with('s') && !word.starts_with('f')) {
    fail(Code::E1112, at, fmt::format("'.{}' is a type of instructions, not of variables", word), "use bits: .b16, .b32");
  }
  if (word.starts_with("bf")) fail(Code::E1112, at, fmt::format("'.{}' is a type of instructions, not of variables", word), "use .b16 or .b32");
  if (type_bits(type) * vec > 128) fail(Code::E1112, at, fmt::format(".v{} .{} has more than 128 bits", vec, word));
  return type;
}

// "name<4>" declares name0 … name3 (PTX ISA 5.4.7, parameterised variable names).
void Parser::variable_range(const Variable& v) {
  const TextPos at = lex_.pos();
  const uint32_t count = plain_number("a number of variables");
  if (count > kMaxVariablesOfRanges - range_names_.size()) {
    fail(Code::E1110, at, fmt::format("{} more variables are too many", count), fmt::format("ranges declare at most {} in a module", kMaxVariablesOfRanges));
  }
  expect('>', "'>'");
  for (uint32_t i = 0; i < count; ++i) {
    Variable one = v;
    one.name = fmt::format("{}{}", v.name, i);
    count_constants(one, at);
    range_names_.push_back(one.name);  // names outlive the statement
    const std::string_view name = range_names_.back();
    declare_variable(std::move(one), name, at);
  }
}

void Parser::count_constants(const Variable& v, TextPos at) {
  if (v.space != Mod::const_ || v.linkage == Linkage::external) return;
  constant_bytes_ = size_sum(constant_bytes_, v.bytes());
  if (constant_bytes_ > kMaxConstantBytes) {
    fail(Code::E1110, at, fmt::format("the module's constants need more than {} bytes", kMaxConstantBytes), "put large tables in .global");
  }
}

Variable Parser::declarator(Variable v, Dimensions& dimensions, std::string_view& name) {
  name = expect_identifier("a name");
  v.name = name;
  uint64_t elements = 1;
  while (lex_.take('[')) {
    v.is_array = true;
    const TextPos at = lex_.pos();
    uint64_t n = 0;
    if (lex_.peek() == ']') {
      if (!dimensions.sizes.empty()) fail(Code::E1113, at, "only the first dimension may be left open");
      dimensions.unsized_first = true;
    } else {
      n = unsigned_constant("an array size", kMaxElementsOfVariable);
      if (n != 0 && elements > kMaxElementsOfVariable / n) fail(Code::E1110, at, "the array is too large");
      elements *= n;
    }
    dimensions.sizes.push_back(n);
    if (dimensions.sizes.size() > kMaxNesting) fail(Code::E1110, at, "too many dimensions");
    expect(']', "']'");
  }
  v.elements = dimensions.unsized_first ? 0 : elements;
  return v;
}

// An .extern declaration and its definition must agree, and the definition must be visible outside (as in
// ptxas).
void Parser::check_redeclaration(const Variable& known, const Variable& v, TextPos at) {
  if (known.type != v.type || known.vec != v.vec || known.space != v.space) {
    fail(Code::E1105, at, fmt::format("'{}' is declared with another type before", v.name));
  }
  const bool both_external = known.linkage == Linkage::external && v.linkage == Linkage::external;
  if (!both_external && (known.linkage == Linkage::internal || v.linkage == Linkage::internal)) {
    fail(Code::E1105, at, fmt::format("'{}' is .extern, its definition must be .visible", v.name));
  }
}

void Parser::declare_variable(Variable v, std::string_view name, TextPos at) {
  const bool local = in_function_;
  const size_t index = local ? fn_.variables.size() : module_.variables.size();
  if (Binding* known = names_.find_here(name); known != nullptr) {
    // A declaration and its definition are both allowed at module scope.
    const bool redeclares =
        !local && known->kind == NameKind::variable &&
        (v.linkage == Linkage::external || module_.variables[known->index].linkage == Linkage::external);
    if (!redeclares) fail(Code::E1105, at, fmt::format("'{}' is declared twice in this scope", name));
    check_redeclaration(module_.variables[known->index], v, at);
    if (v.linkage != Linkage::external) known->index = static_cast<uint32_t>(index);
    module_.variables.push_back(std::move(v));
    return;
  }
  if (local) v.name = names_.unique(name);
  names_.declare(name, local ? NameKind::local : NameKind::variable, static_cast<uint32_t>(index));
  (local ? fn_.variables : module_.variables).push_back(std::move(v));
}

}  // namespace drywell::isa
