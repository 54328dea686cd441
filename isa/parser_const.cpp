// Constant expressions (PTX ISA 4.5.4): their grammar. The operators are in constant.cpp.
#include <fmt/format.h>

#include <cctype>

#include "isa/parser.h"

namespace drywell::isa {
namespace {

constexpr std::string_view kWarpSize = "WARP_SZ";

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_unary(char c) { return c == '-' || c == '+' || c == '~' || c == '!'; }

}  // namespace

bool Parser::at_number() {
  const char c = lex_.peek();
  return is_decimal(c) || (c == '.' && is_decimal(lex_.look(1)));
}

bool Parser::at_constant() {
  const char c = lex_.peek();
  if (at_number() || is_unary(c) || c == '(') return true;
  size_t n = 0;
  while (n < kWarpSize.size() && lex_.look(n) == kWarpSize[n]) ++n;
  const char next = lex_.look(n);
  return n == kWarpSize.size() && std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_' && next != '$';
}

// Runs `f`, arithmetic on parsed constants; reports a ConstantError as E1107.
template <class F>
Constant Parser::evaluated(TextPos at, F&& f) {
  try {
    return f();
  } catch (const ConstantError& e) {
    fail(Code::E1107, at, e.what());
  }
}

// a ? b : c has the lowest precedence and groups from the right.
Constant Parser::constant(unsigned nesting) {
  const Constant condition = constant_expression(1, nesting);
  const TextPos at = lex_.pos();
  if (!lex_.take('?')) return condition;
  const Constant yes = constant(nesting + 1);
  expect(':', "':'");
  const Constant no = constant(nesting + 1);
  return evaluated(at, [&] { return choose_constant(condition, yes, no); });
}

Constant Parser::constant_expression(int min_precedence, unsigned nesting) {
  Constant a = constant_primary(nesting);
  while (true) {
    const char first = lex_.peek();
    const BinaryOperator* op = find_binary_operator(first, lex_.look(1));
    if (op == nullptr || op->precedence < min_precedence) return a;
    const TextPos at = lex_.pos();
    for (const char c : op->text) lex_.take(c);
    const Constant b = constant_expression(op->precedence + 1, nesting + 1);
    a = evaluated(at, [&] { return apply_binary(op->text, a, b); });
  }
}

Constant Parser::constant_primary(unsigned nesting) {
  const TextPos at = lex_.pos();
  if (nesting > kMaxNesting) {
    fail(Code::E1110, at, "constant expression nested too deeply", fmt::format("at most {} levels", kMaxNesting));
  }
  const char c = lex_.peek();
  if (is_unary(c)) {
    lex_.take(c);
    const Constant a = constant_primary(nesting + 1);
    return evaluated(at, [&] { return apply_unary(c, a); });
  }
  if (c == '(') return parenthesised(at, nesting);
  if (c == 'W' && at_constant()) {
    lex_.identifier();
    return {kWarpLanes, false, ImmKind::decimal};
  }
  if (!at_number()) fail_expected("a number");
  const Literal n = lex_.number();
  if (!n.ok) {
    fail(Code::E1107, at, "this is not a number PTX knows, or it needs more than 64 bits",
         "decimal, 0x…, 0b…, octal 0…, 0f and 8 or 0d and 16 hexadecimal digits");
  }
  return {n.bits, n.is_unsigned, n.kind};
}

// ( expression ), or a cast: (.s64) or (.u64) and its operand.
Constant Parser::parenthesised(TextPos at, unsigned nesting) {
  lex_.take('(');
  if (lex_.peek() != '.' || at_number()) {
    const Constant a = constant(nesting + 1);
    expect(')', "')'");
    return a;
  }
  const std::string_view type = lex_.directive();
  if (type != "s64" && type != "u64") fail(Code::E1112, at, "constants are cast to .s64 or .u64");
  expect(')', "')'");
  const Constant a = constant_primary(nesting + 1);
  return evaluated(at, [&] { return cast_constant(a, type == "u64"); });
}

uint32_t Parser::plain_number(std::string_view what) {
  const TextPos at = lex_.pos();
  const Literal n = lex_.number();
  if (!n.ok || (n.kind != ImmKind::decimal && n.kind != ImmKind::hex) || n.bits > ~uint32_t{0}) {
    fail(Code::E1107, at, fmt::format("{} is a whole number up to {}", what, ~uint32_t{0}));
  }
  return static_cast<uint32_t>(n.bits);
}

uint64_t Parser::unsigned_constant(std::string_view what, uint64_t max) {
  const TextPos at = lex_.pos();
  const Constant c = constant();
  const bool negative = !c.is_unsigned && static_cast<int64_t>(c.bits) < 0;
  if (c.is_float() || negative || c.bits > max) {
    fail(Code::E1107, at, fmt::format("{} is a whole number up to {}", what, max));
  }
  return c.bits;
}

int64_t Parser::address_offset() {
  const TextPos at = lex_.pos();
  const Constant c = constant();
  if (c.is_float()) fail(Code::E1107, at, "addresses and offsets are whole numbers");
  return static_cast<int64_t>(c.bits);
}

}  // namespace drywell::isa
