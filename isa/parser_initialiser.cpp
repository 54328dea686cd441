// Initialisers of .global and .const variables, as strict as ptxas: nested braces follow the dimensions, vectors are
// complete, the kind of value fits the type.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/parser.h"

namespace drywell::isa {
namespace {

// Limit on skipped elements of a sparse table; bytes that the text itself can fill are always allowed.
constexpr uint64_t kMaxSkippedBytes = uint64_t{1} << 26;
constexpr uint64_t kMaxBytesPerCharacter = 16;

unsigned element_bytes(Mod type) { return std::max(1u, type_bits(type) / 8); }

bool only_floats(Mod type) { return type == Mod::f32 || type == Mod::f64; }
/// Types that take a floating-point value: .b32 and .b64 hold its bits.
bool takes_float(Mod type) { return only_floats(type) || type == Mod::b32 || type == Mod::b64; }

/// The bits of `value`, written with `kind`, in a variable of `type`. A 64-bit type takes the bits of a 0f… literal
/// unchanged (PTX ISA 4.5.2, as ptxas does).
uint64_t float_bits(uint64_t value, ImmKind kind, Mod type) {
  const bool narrows = type_bits(type) == 32 && kind == ImmKind::f64;
  return narrows ? std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value))) : value;
}

}  // namespace

void Parser::initialiser(Variable& v, Dimensions& dimensions) {
  const TextPos at = lex_.pos();
  if (v.linkage == Linkage::external || v.space == Mod::shared || v.space == Mod::local || v.space == Mod::param) {
    fail(Code::E1113, at, fmt::format("'{}' cannot have an initialiser", v.name),
         "only .global and .const variables that are defined here");
  }
  if (v.type == Mod::f16 || v.type == Mod::f16x2) {
    fail(Code::E1113, at, fmt::format("a .{} has no initialiser in PTX", mod_text(v.type)), "declare it .b16 or .b32 and give the bits");
  }
  uint64_t end = 0;
  const bool braces = lex_.peek() == '{';
  if (braces && !v.is_array && v.vec == 1) fail(Code::E1113, at, "a scalar's initialiser has no braces");
  if (!braces && (v.is_array || v.vec > 1)) fail(Code::E1113, at, "an array's initialiser stands in braces");
  if (braces) {
    if (v.is_array && v.vec > 1) dimensions.sizes.push_back(v.vec);
    if (!v.is_array) dimensions.sizes.assign(1, v.vec);
    if (dimensions.unsized_first) dimensions.sizes[0] = kMaxElementsOfVariable;
    initialiser_list(v, dimensions, 0, end);
  } else {
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
  const TextPos open = lex_.pos();
  expect('{', "'{'");
  ++open_braces_;
  const bool innermost = level + 1 == d.sizes.size(), vector = innermost && v.vec > 1;
  uint64_t stride = 1;
  for (size_t i = level + 1; i < d.sizes.size(); ++i) stride *= std::max<uint64_t>(1, d.sizes[i]);
  const uint64_t begin = at, size = d.sizes[level];
  const uint64_t end = size > kMaxElementsOfVariable / stride ? begin + kMaxElementsOfVariable : begin + size * stride;
  while (lex_.peek() != '}' || at != begin) {
    const TextPos here = lex_.pos();
    if (lex_.peek() == '}') fail_expected("a value");
    if (at >= end) fail(Code::E1113, here, fmt::format("more initial values than '{}' has elements", v.name));
    if (innermost && lex_.peek() == '{') {
      fail(Code::E1113, here, fmt::format("'{}' has fewer dimensions than its initialiser has braces", v.name));
    }
    if (!innermost && lex_.peek() != '{') {
      fail(Code::E1113, here, "the values of an inner dimension stand in braces of their own", "e.g. {{1, 2}, {3, 4}}");
    }
    if (innermost) initialiser_value(v, at);
    else initialiser_list(v, d, level + 1, at);
    if (!lex_.take(',')) break;
  }
  if (vector && at != end) fail(Code::E1113, open, fmt::format("a .v{} vector takes {} values", v.vec, v.vec));
  expect('}', "'}' or ','");
  --open_braces_;
  if (level > 0) at = end;
}

void Parser::initialiser_put(Variable& v, uint64_t at, uint64_t bits) {
  const unsigned width = element_bytes(v.type);
  const uint64_t end = (at + 1) * width;  // `at` is below kMaxElementsOfVariable
  if (end > v.init.size()) {
    initialised_total_ += end - v.init.size();
    if (initialised_total_ > kMaxSkippedBytes + kMaxBytesPerCharacter * text_.size()) {
      fail(Code::E1110, lex_.pos(), "the initialised part of the variables is too large");
    }
    v.init.resize(end);
  }
  for (unsigned b = 0; b < width && b < 8; ++b) {
    v.init[at * width + b] = static_cast<uint8_t>(bits >> (8 * b));
  }
}

void Parser::initialiser_value(Variable& v, uint64_t& at) {
  const TextPos here = lex_.pos();
  const unsigned width = element_bytes(v.type);
  if (!at_number()) check_masked_address(here);
  if (!at_constant()) {
    if (width < 4) {
      fail(Code::E1113, here, fmt::format("an address does not fit in a .{}", mod_text(v.type)), "use .u64, or masks such as 0xFF(name)");
    }
    if (v.type != Mod::u32 && v.type != Mod::u64) {
      fail(Code::E1113, here, fmt::format("an address does not initialise a .{}", mod_text(v.type)), "use .u64");
    }
    v.relocations.push_back(address_constant(at * width));
    initialiser_put(v, at++, 0);
    return;
  }
  const Constant k = constant();
  if (lex_.take('(')) {
    initialiser_masked(v, k.bits, at);
    initialiser_put(v, at++, 0);
    return;
  }
  check_masked_address(here);
  if (k.is_float() ? !takes_float(v.type) : only_floats(v.type)) {
    fail(Code::E1113, here, fmt::format("this value does not initialise a .{}", mod_text(v.type)),
         only_floats(v.type) ? "e.g. 0f3F800000, 1.0" : "");
  }
  initialiser_put(v, at++, k.is_float() ? float_bits(k.bits, k.kind, v.type) : k.bits);
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
    fail(Code::E1113, at, fmt::format("'{}' has no address that is known before the launch", name));
  }
  if (b->kind == NameKind::function) {
    if (r.generic) fail(Code::E1113, at, "generic() is for variables, functions have one address");
    r.symbol = std::string(name);
  } else {
    const Variable& target = b->kind == NameKind::local ? fn_.variables[b->index] : module_.variables[b->index];
    if (target.space != Mod::global && target.space != Mod::const_) {
      fail(Code::E1113, at, fmt::format("'{}' is neither .global nor .const: it has no address before the launch", name));
    }
    r.symbol = target.name;
  }
  if (r.generic) expect(')', "')'");
  if (lex_.peek() == '+') r.addend = address_offset();
  return r;
}

// nvcc writes a pointer at an unaligned offset of a packed structure as its eight bytes: 0xFF(p), 0xFF00(p),
// …
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
  const bool continues = masked_bytes_left_ != 0 && mask == uint64_t{0xFF} << (8 * (8 - masked_bytes_left_)) &&
                         r.symbol == v.relocations.back().symbol && r.addend == v.relocations.back().addend &&
                         r.generic == v.relocations.back().generic;
  if (!continues) masked_bytes_left_ = ~0u;
  check_masked_address(here, continues);
  --masked_bytes_left_;
}

void Parser::check_masked_address(TextPos at, bool continues) {
  if (masked_bytes_left_ == 0 || continues) return;
  masked_bytes_left_ = 0;
  fail(Code::U5001, at, "only whole pointers written byte by byte are modelled as masked addresses",
       "0xFF(p), 0xFF00(p), … in .b8 or .u8");
}

}  // namespace drywell::isa
