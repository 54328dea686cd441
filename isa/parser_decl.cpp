// Variables of every space, and their initialisers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "isa/parser.h"

namespace drywell::isa {
namespace {

constexpr uint64_t kMaxElementsOfVariable = uint64_t{1} << 40;
// Rows of a sparse table may skip far ahead; what the text itself can fill is always allowed.
constexpr uint64_t kMaxSkippedBytes = uint64_t{1} << 26;
constexpr uint64_t kMaxBytesPerCharacter = 16;

unsigned byte_width(Mod type) { return std::max(1u, type_bits(type) / 8); }

uint32_t vector_width(std::string_view word) {
  return word == "v2" ? 2 : word == "v4" ? 4 : word == "v8" ? 8 : 0;
}

}  // namespace

Mod Parser::type_word(std::string_view word, TextPos at) {
  const Mod type = find_mod(word);
  const unsigned bits = type_bits(type);
  if (word.empty()) fail_expected("a type such as .b32");
  if (bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128) {
    fail("E1112", at, fmt::format("'.{}' is not a type that is declared", word),
         ".pred, or b, u, s or f with 8 to 128 bits");
  }
  return type;
}

uint32_t Parser::alignment() {
  const TextPos at = lex_.pos();
  const uint64_t n = unsigned_constant("an alignment", uint64_t{1} << 31);
  if (!std::has_single_bit(n)) fail("E1114", at, fmt::format("alignment {} is not a power of two", n));
  return static_cast<uint32_t>(n);
}

void Parser::skip_attribute(Variable* v) {
  expect('(', "'(' and the attribute");
  do {
    const std::string_view word = lex_.directive();
    if (word.empty()) fail_expected("an attribute such as .managed");
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
    if (word == "align") {
      align = alignment();
    } else if (word == "attribute") {
      skip_attribute(&v);
    } else if (vector_width(word) != 0) {
      v.vec = static_cast<uint8_t>(vector_width(word));
    } else {
      v.type = type_word(word, at);
      has_type = true;
    }
  }
  v.align = align != 0 ? align : byte_width(v.type) * v.vec;
  do {
    const TextPos at = lex_.pos();
    Dimensions dimensions;
    std::string_view name;
    Variable one = declarator(v, dimensions, name);
    if (lex_.take('=')) initialiser(one, dimensions);
    if (one.is_array && one.elements == 0 && one.linkage != Linkage::external) {
      fail("E1113", at, fmt::format("'{}' has neither a size nor an initialiser", one.name),
           "give it a size, or declare it .extern");
    }
    declare_variable(std::move(one), name, at);
  } while (lex_.take(','));
  expect_semicolon();
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
      if (!dimensions.sizes.empty()) fail("E1113", at, "only the first dimension may be left open");
      dimensions.unsized_first = true;
    } else {
      n = unsigned_constant("an array size", kMaxElementsOfVariable);
      if (n != 0 && elements > kMaxElementsOfVariable / n) fail("E1110", at, "the array is too large");
      elements *= n;
    }
    dimensions.sizes.push_back(n);
    if (dimensions.sizes.size() > kMaxNesting) fail("E1110", at, "too many dimensions");
    expect(']', "']'");
  }
  v.elements = dimensions.unsized_first ? 0 : elements;
  return v;
}

void Parser::declare_variable(Variable v, std::string_view name, TextPos at) {
  const bool local = in_function_;
  const size_t index = local ? fn_.variables.size() : module_.variables.size();
  if (Binding* known = names_.find_here(name); known != nullptr) {
    // A declaration and its definition may both stand at module scope.
    const bool redeclares =
        !local && known->kind == NameKind::variable &&
        (v.linkage == Linkage::external || module_.variables[known->index].linkage == Linkage::external);
    if (!redeclares) fail("E1105", at, fmt::format("'{}' is declared twice in this scope", name));
    if (v.linkage != Linkage::external) known->index = static_cast<uint32_t>(index);
    module_.variables.push_back(std::move(v));
    return;
  }
  if (local) v.name = names_.unique(name);
  names_.declare(name, local ? NameKind::local : NameKind::variable, static_cast<uint32_t>(index));
  (local ? fn_.variables : module_.variables).push_back(std::move(v));
}

// ---- initialisers

void Parser::initialiser(Variable& v, Dimensions& dimensions) {
  const TextPos at = lex_.pos();
  if (v.linkage == Linkage::external || v.space == Mod::shared || v.space == Mod::local ||
      v.space == Mod::param) {
    fail("E1113", at, fmt::format("'{}' cannot have an initialiser", v.name),
         "only .global and .const variables that are defined here");
  }
  uint64_t end = 0;
  if (lex_.peek() == '{') {
    if (v.is_array && v.vec > 1) dimensions.sizes.push_back(v.vec);
    if (!v.is_array) dimensions.sizes.assign(1, v.vec);
    if (dimensions.unsized_first) dimensions.sizes[0] = kMaxElementsOfVariable;
    initialiser_list(v, dimensions, 0, end);
  } else {
    if (v.is_array || v.vec > 1) fail("E1113", at, "an array's initialiser stands in braces");
    initialiser_value(v, end);
  }
  check_masked_address(at);
  if (dimensions.unsized_first) {
    uint64_t row = 1;
    for (size_t i = 1; i < dimensions.sizes.size(); ++i) row *= dimensions.sizes[i];
    v.elements = row == 0 ? 0 : (end + row - 1) / row * row / v.vec;
  }
}

// `at` counts scalars from the variable's start; braces of an inner dimension end at its row's end.
void Parser::initialiser_list(Variable& v, const Dimensions& d, size_t level, uint64_t& at) {
  expect('{', "'{'");
  ++open_braces_;
  uint64_t stride = 1;
  for (size_t i = level + 1; i < d.sizes.size(); ++i) stride *= std::max<uint64_t>(1, d.sizes[i]);
  const uint64_t begin = at;
  const uint64_t size = level < d.sizes.size() ? d.sizes[level] : 0;
  const uint64_t end =
      size > kMaxElementsOfVariable / stride ? begin + kMaxElementsOfVariable : begin + size * stride;
  while (lex_.peek() != '}') {
    const TextPos here = lex_.pos();
    if (at >= end) fail("E1113", here, fmt::format("more initial values than '{}' has elements", v.name));
    if (lex_.peek() == '{') {
      if (level + 1 >= d.sizes.size()) {
        fail("E1113", here, fmt::format("'{}' has fewer dimensions than its initialiser has braces", v.name));
      }
      initialiser_list(v, d, level + 1, at);
    } else {
      initialiser_value(v, at);
    }
    if (!lex_.take(',')) break;
  }
  expect('}', "'}' or ','");
  --open_braces_;
  if (level > 0) at = end;
}

void Parser::initialiser_put(Variable& v, uint64_t at, uint64_t bits) {
  const unsigned width = byte_width(v.type);
  const uint64_t end = (at + 1) * width;  // `at` is below kMaxElementsOfVariable
  if (end > v.init.size()) {
    initialised_total_ += end - v.init.size();
    if (initialised_total_ > kMaxSkippedBytes + kMaxBytesPerCharacter * text_.size()) {
      fail("E1110", lex_.pos(), "the initialised part of the variables is too large");
    }
    v.init.resize(end);
  }
  for (unsigned b = 0; b < width && b < 8; ++b) {
    v.init[at * width + b] = static_cast<uint8_t>(bits >> (8 * b));
  }
}

void Parser::initialiser_value(Variable& v, uint64_t& at) {
  const TextPos here = lex_.pos();
  const char c = lex_.peek();
  const unsigned width = byte_width(v.type);
  if (!(c >= '0' && c <= '9')) check_masked_address(here);
  const bool is_number = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '(' || c == '~' || c == '!';
  if (!is_number) {
    if (width < 4) {
      fail("E1113", here, fmt::format("an address does not fit in a .{}", mod_text(v.type)),
           "use .u64, or masks such as 0xFF(name)");
    }
    v.relocations.push_back(address_constant(at * width));
    initialiser_put(v, at++, 0);
    return;
  }
  Constant k = constant();
  if (lex_.take('(')) {
    initialiser_masked(v, k.bits, at);
    initialiser_put(v, at++, 0);
    return;
  }
  check_masked_address(here);
  const bool float_variable = v.type == Mod::f32 || v.type == Mod::f64;
  if (k.is_float() != float_variable && !(float_variable && k.bits == 0)) {
    fail("E1113", here, fmt::format("this value does not initialise a .{}", mod_text(v.type)),
         float_variable ? "e.g. 0f3F800000" : "");
  }
  if (v.type == Mod::f32 && k.kind == ImmKind::f64) {
    k.bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(k.bits)));
  }
  if (v.type == Mod::f64 && k.kind == ImmKind::f32) {
    k.bits = std::bit_cast<uint64_t>(double{std::bit_cast<float>(static_cast<uint32_t>(k.bits))});
  }
  initialiser_put(v, at++, k.bits);
}

Variable::Reloc Parser::address_constant(uint64_t offset) {
  Variable::Reloc r{offset, {}, 0, false};
  TextPos at = lex_.pos();
  std::string_view name = expect_identifier("a value");
  if (name == "generic" && lex_.take('(')) {
    r.generic = true;
    at = lex_.pos();
    name = expect_identifier("a variable");
  }
  const Binding* b = names_.find(name);
  if (b == nullptr) fail_unknown_name(name, at);
  if (b->kind != NameKind::variable && b->kind != NameKind::function && b->kind != NameKind::local) {
    fail("E1113", at, fmt::format("'{}' has no address that is known before the launch", name));
  }
  r.symbol = b->kind == NameKind::local ? fn_.variables[b->index].name : std::string(name);
  if (r.generic) expect(')', "')'");
  if (lex_.peek() == '+' || lex_.peek() == '-') r.addend = static_cast<int64_t>(constant().bits);
  return r;
}

// nvcc writes a pointer at an odd place of a packed structure as eight bytes of it: 0xFF(p), 0xFF00(p), …
void Parser::initialiser_masked(Variable& v, uint64_t mask, uint64_t at) {
  const TextPos here = lex_.pos();
  Variable::Reloc r = address_constant(at);
  expect(')', "')'");
  const bool is_byte = type_bits(v.type) == 8;
  if (is_byte && mask == 0xFF && masked_bytes_left_ == 0) {
    v.relocations.push_back(std::move(r));
    masked_bytes_left_ = 7;
    return;
  }
  const bool continues = masked_bytes_left_ != 0 &&
                         mask == uint64_t{0xFF} << (8 * (8 - masked_bytes_left_)) &&
                         r.symbol == v.relocations.back().symbol && r.addend == v.relocations.back().addend &&
                         r.generic == v.relocations.back().generic;
  if (!continues) masked_bytes_left_ = ~0u;
  check_masked_address(here, continues);
  --masked_bytes_left_;
}

void Parser::check_masked_address(TextPos at, bool continues) {
  if (masked_bytes_left_ == 0 || continues) return;
  masked_bytes_left_ = 0;
  fail("U5001", at, "only whole pointers written byte by byte are modelled as masked addresses",
       "0xFF(p), 0xFF00(p), … in .b8 or .u8");
}

}  // namespace drywell::isa
