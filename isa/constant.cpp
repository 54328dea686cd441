#include "isa/constant.h"

#include <array>
#include <bit>

namespace drywell::isa {
namespace {

// Longer spellings first: "<<" before "<".
constexpr std::array kBinary = {BinaryOperator{"||", 1}, BinaryOperator{"&&", 2}, BinaryOperator{"==", 6}, BinaryOperator{"!=", 6},
                                BinaryOperator{"<=", 7}, BinaryOperator{">=", 7}, BinaryOperator{"<<", 8}, BinaryOperator{">>", 8},
                                BinaryOperator{"|", 3}, BinaryOperator{"^", 4}, BinaryOperator{"&", 5}, BinaryOperator{"<", 7},
                                BinaryOperator{">", 7}, BinaryOperator{"+", 9}, BinaryOperator{"-", 9}, BinaryOperator{"*", 10},
                                BinaryOperator{"/", 10}, BinaryOperator{"%", 10}};

constexpr const char* kExactBits = "0f… stands for exact bits and takes part in no expression; write 0d… or a decimal number";

Constant integer(uint64_t bits, bool is_unsigned, ImmKind kind = ImmKind::decimal) { return {bits, is_unsigned, kind}; }
Constant truth(bool b) { return integer(b ? 1 : 0, false); }
Constant real(double v) { return {std::bit_cast<uint64_t>(v), false, ImmKind::f64}; }

template <class T>
bool compare(std::string_view op, T a, T b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}
bool is_comparison(std::string_view op) { return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">="; }

Constant apply_real(std::string_view op, const Constant& a, const Constant& b) {
  if (a.kind == ImmKind::f32 || b.kind == ImmKind::f32) throw ConstantError(kExactBits);
  if (!a.is_float() || !b.is_float()) throw ConstantError("a constant expression is over integers or over floats, not both");
  const auto x = std::bit_cast<double>(a.bits), y = std::bit_cast<double>(b.bits);
  if (is_comparison(op)) return truth(compare(op, x, y));
  switch (op[0]) {
    case '+': return real(x + y);
    case '-': return real(x - y);
    case '*': return real(x * y);
    case '/':
      if (y == 0) throw ConstantError("division by zero in a constant expression");
      return real(x / y);
    default: throw ConstantError("'" + std::string(op) + "' takes integers");
  }
}

// The most negative number divided by -1 wraps.
uint64_t quotient(uint64_t a, uint64_t b, bool is_unsigned) {
  if (is_unsigned) return a / b;
  if (b == ~uint64_t{0}) return 0 - a;
  return static_cast<uint64_t>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
}

uint64_t shift_right(const Constant& a, uint64_t by) {
  return a.is_unsigned ? a.bits >> by : static_cast<uint64_t>(static_cast<int64_t>(a.bits) >> by);
}

}  // namespace

const BinaryOperator* find_binary_operator(char first, char second) {
  for (const BinaryOperator& op : kBinary) {
    if (op.text[0] == first && (op.text.size() == 1 || op.text[1] == second)) return &op;
  }
  return nullptr;
}

Constant apply_unary(char op, Constant a) {
  if (a.kind == ImmKind::f32) throw ConstantError(kExactBits);
  if (a.kind == ImmKind::f64) {
    if (op == '-') a.bits ^= uint64_t{1} << 63;
    if (op == '~' || op == '!') throw ConstantError(std::string("'") + op + "' takes an integer");
    return a;
  }
  switch (op) {
    case '-': return integer(0 - a.bits, a.is_unsigned);
    case '~': return integer(~a.bits, true, a.kind);
    case '!': return truth(a.bits == 0);
    default: return a;
  }
}

Constant apply_binary(std::string_view op, const Constant& a, const Constant& b) {
  if (a.is_float() || b.is_float()) return apply_real(op, a, b);
  const bool is_unsigned = a.is_unsigned || b.is_unsigned;  // the usual arithmetic conversions
  if (is_comparison(op)) {
    return truth(is_unsigned ? compare(op, a.bits, b.bits)
                             : compare(op, static_cast<int64_t>(a.bits), static_cast<int64_t>(b.bits)));
  }
  if (op == "&&") return truth(a.bits != 0 && b.bits != 0);
  if (op == "||") return truth(a.bits != 0 || b.bits != 0);
  const ImmKind kind = a.kind == ImmKind::hex ? ImmKind::hex : ImmKind::decimal;
  // Shift counts are taken modulo 64: PTX ISA 4.5.5 defines shifts in all cases but does not give the result
  // for counts of 64 or more.
  if (op == "<<") return integer(a.bits << (b.bits & 63), a.is_unsigned, kind);
  if (op == ">>") return integer(shift_right(a, b.bits & 63), a.is_unsigned, kind);
  switch (op[0]) {
    case '+': return integer(a.bits + b.bits, is_unsigned, kind);
    case '-': return integer(a.bits - b.bits, is_unsigned, kind);
    case '*': return integer(a.bits * b.bits, is_unsigned, kind);
    case '&': return integer(a.bits & b.bits, is_unsigned, kind);
    case '|': return integer(a.bits | b.bits, is_unsigned, kind);
    case '^': return integer(a.bits ^ b.bits, is_unsigned, kind);
    default: break;
  }
  if (b.bits == 0) throw ConstantError("division by zero in a constant expression");
  // The remainder is of unsigned numbers, and ptxas gives an unsigned result, where table 5 of PTX ISA 4.5.6
  // says .s64.
  if (op == "%") return integer(a.bits % b.bits, true, kind);
  return integer(quotient(a.bits, b.bits, is_unsigned), is_unsigned, kind);
}

Constant cast_constant(Constant a, bool to_unsigned) {
  if (a.is_float()) throw ConstantError("constants are not cast between floats and integers");
  a.is_unsigned = to_unsigned;
  return a;
}

// PTX ISA 4.5.5 allows floats as the second and third operand of '? :', but ptxas rejects them; the result keeps
// the signedness of the chosen operand, as in ptxas.
Constant choose_constant(const Constant& condition, const Constant& yes, const Constant& no) {
  if (condition.is_float() || yes.is_float() || no.is_float()) throw ConstantError("'? :' takes integers");
  return condition.bits != 0 ? yes : no;
}

}  // namespace drywell::isa
