// Constant expressions (PTX ISA 4.5.4): C's operators on signed and unsigned 64-bit integers.
#include <fmt/format.h>

#include <array>
#include <cctype>

#include "isa/parser.h"

namespace drywell::isa {
namespace {

constexpr std::string_view kWarpSize = "WARP_SZ";

struct BinaryOp {
  std::string_view text;
  int precedence;
};

// Longer spellings first: "<<" before "<".
constexpr std::array kBinary = {BinaryOp{"||", 1}, BinaryOp{"&&", 2}, BinaryOp{"==", 6}, BinaryOp{"!=", 6},
                                BinaryOp{"<=", 7}, BinaryOp{">=", 7}, BinaryOp{"<<", 8}, BinaryOp{">>", 8},
                                BinaryOp{"|", 3},  BinaryOp{"^", 4},  BinaryOp{"&", 5},  BinaryOp{"<", 7},
                                BinaryOp{">", 7},  BinaryOp{"+", 9},  BinaryOp{"-", 9},  BinaryOp{"*", 10},
                                BinaryOp{"/", 10}, BinaryOp{"%", 10}};

const BinaryOp* next_operator(Lexer& lex) {
  const char first = lex.peek();
  for (const BinaryOp& op : kBinary) {
    if (op.text[0] == first && (op.text.size() == 1 || op.text[1] == lex.look(1))) return &op;
  }
  return nullptr;
}

bool compare(std::string_view op, uint64_t a, uint64_t b, bool is_unsigned) {
  const bool less = is_unsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return less;
  if (op == "<=") return less || a == b;
  if (op == ">") return !less && a != b;
  return !less;
}

// Signed division by zero is excluded by the caller; INT64_MIN / -1 wraps.
uint64_t divide(std::string_view op, uint64_t a, uint64_t b, bool is_unsigned) {
  if (is_unsigned) return op == "/" ? a / b : a % b;
  if (b == ~uint64_t{0}) return op == "/" ? 0 - a : 0;
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  return static_cast<uint64_t>(op == "/" ? x / y : x % y);
}

uint64_t shift_right(uint64_t a, uint64_t by, bool is_unsigned) {
  if (is_unsigned) return by > 63 ? 0 : a >> by;
  return static_cast<uint64_t>(static_cast<int64_t>(a) >> (by > 63 ? 63 : by));
}

}  // namespace

bool Parser::at_constant() {
  const char c = lex_.peek();
  if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '(' || c == '~' || c == '!') return true;
  size_t n = 0;
  while (n < kWarpSize.size() && lex_.look(n) == kWarpSize[n]) ++n;
  const char next = lex_.look(n);
  return n == kWarpSize.size() && std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_' && next != '$';
}

// a ? b : c binds least and to the right.
Parser::Constant Parser::constant(unsigned nesting) {
  const Constant condition = constant_expression(1, nesting);
  const TextPos at = lex_.pos();
  if (!lex_.take('?')) return condition;
  const Constant yes = constant(nesting + 1);
  expect(':', "':'");
  const Constant no = constant(nesting + 1);
  if (condition.is_float() || yes.is_float() || no.is_float()) fail("E1107", at, "constant expressions are integers");
  return condition.bits != 0 ? yes : no;
}

Parser::Constant Parser::constant_expression(int min_precedence, unsigned nesting) {
  Constant a = constant_primary(nesting);
  while (const BinaryOp* op = next_operator(lex_)) {
    if (op->precedence < min_precedence) break;
    const TextPos at = lex_.pos();
    for (size_t i = 0; i < op->text.size(); ++i) lex_.take(op->text[i]);
    const Constant b = constant_expression(op->precedence + 1, nesting + 1);
    if (a.is_float() || b.is_float()) fail("E1107", at, "constant expressions are integers");
    const bool is_unsigned = a.is_unsigned || b.is_unsigned;
    uint64_t r = 0;
    bool result_unsigned = is_unsigned;
    switch (op->text[0]) {
      case '+': r = a.bits + b.bits; break;
      case '-': r = a.bits - b.bits; break;
      case '*': r = a.bits * b.bits; break;
      case '/':
      case '%':
        if (b.bits == 0) fail("E1107", at, "division by zero in a constant expression");
        r = divide(op->text, a.bits, b.bits, is_unsigned);
        break;
      case '^': r = a.bits ^ b.bits; break;
      case '&':
        r = op->text == "&&" ? static_cast<uint64_t>(a.bits != 0 && b.bits != 0) : a.bits & b.bits;
        break;
      case '|':
        r = op->text == "||" ? static_cast<uint64_t>(a.bits != 0 || b.bits != 0) : a.bits | b.bits;
        break;
      default:
        if (op->text == "<<" || op->text == ">>") {
          r = op->text == "<<" ? (b.bits > 63 ? 0 : a.bits << b.bits)
                               : shift_right(a.bits, b.bits, a.is_unsigned);
          result_unsigned = a.is_unsigned;
        } else {
          r = static_cast<uint64_t>(compare(op->text, a.bits, b.bits, is_unsigned));
          result_unsigned = false;
        }
    }
    a = {r, result_unsigned, a.kind == ImmKind::hex ? ImmKind::hex : ImmKind::decimal, false};
  }
  return a;
}

Parser::Constant Parser::constant_primary(unsigned nesting) {
  const TextPos at = lex_.pos();
  if (nesting > kMaxNesting) {
    fail("E1110", at, "constant expression nested too deeply", fmt::format("at most {} levels", kMaxNesting));
  }
  const char c = lex_.peek();
  if (c == '-' || c == '+' || c == '~' || c == '!') {
    lex_.take(c);
    Constant a = constant_primary(nesting + 1);
    if (a.is_float()) {
      if (!a.is_decimal_float) fail("E1107", at, "bits of a float have no sign in front", "the sign is the first of the bits");
      if (c == '-') a.bits ^= a.kind == ImmKind::f32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
      if (c == '~' || c == '!') fail("E1107", at, fmt::format("'{}' takes an integer", c));
      return a;
    }
    if (c == '-') a.bits = 0 - a.bits;
    if (c == '~') a.bits = ~a.bits;
    if (c == '!') a.bits = static_cast<uint64_t>(a.bits == 0);
    if (c == '-' || c == '!') a.kind = ImmKind::decimal;
    return a;
  }
  if (c == '(') {
    lex_.take('(');
    if (lex_.peek() == '.') {  // (.s64) and (.u64) casts
      const std::string_view type = lex_.directive();
      if (type != "s64" && type != "u64") fail("E1112", at, "constants are cast to .s64 or .u64");
      expect(')', "')'");
      Constant a = constant_primary(nesting + 1);
      a.is_unsigned = type == "u64";
      return a;
    }
    const Constant a = constant(nesting + 1);
    expect(')', "')'");
    return a;
  }
  if (c == 'W' && at_constant()) {
    lex_.identifier();
    return {32, false, ImmKind::decimal, false};
  }
  if (c < '0' || c > '9') fail_expected("a number");
  const Literal n = lex_.number();
  if (!n.ok) {
    fail("E1107", at, "this is not a number PTX knows, or it needs more than 64 bits",
         "decimal, 0x…, 0b…, octal 0…, 0f and 8 or 0d and 16 hexadecimal digits");
  }
  return {n.bits, n.is_unsigned, n.kind, n.is_decimal_float};
}

uint32_t Parser::plain_number(std::string_view what) {
  const TextPos at = lex_.pos();
  const Literal n = lex_.number();
  if (!n.ok || (n.kind != ImmKind::decimal && n.kind != ImmKind::hex) || n.bits > ~uint32_t{0}) {
    fail("E1107", at, fmt::format("{} is a whole number up to {}", what, ~uint32_t{0}));
  }
  return static_cast<uint32_t>(n.bits);
}

uint64_t Parser::unsigned_constant(std::string_view what, uint64_t max) {
  const TextPos at = lex_.pos();
  const Constant c = constant();
  const bool negative = !c.is_unsigned && static_cast<int64_t>(c.bits) < 0;
  if (c.is_float() || negative || c.bits > max) {
    fail("E1107", at, fmt::format("{} is a whole number up to {}", what, max));
  }
  return c.bits;
}

}  // namespace drywell::isa
