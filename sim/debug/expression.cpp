#include "sim/debug/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <optional>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/core/text.h"
#include "drywell/core/whole_number.h"
#include "sim/exec/exec.h"
#include "sim/exec/shared_layout.h"

namespace drywell::sim {

// Numbers are doubles: every register of 32 bits and every float has its exact value; 64-bit integers are exact to 2^53.
struct Expression::Node {
  enum class Kind : uint8_t {
    number,
    reg,
    place,
    symbol,
    memory,
    unary,
    binary
  } kind = Kind::number;
  double number = 0;
  std::string name;               // register; place: "cta.x", "warp", …; symbol: a shared variable; memory: "smem" or "gmem"
  std::optional<ValueType> type;  // reg: the type of f32(%r7); memory: the type of the element
  std::string op;
  std::unique_ptr<Node> a, b;
};

namespace {

using Node = Expression::Node;
using NodePtr = std::unique_ptr<Node>;
using Kind = Node::Kind;

// From lowest to highest precedence, as in C.
const std::vector<std::vector<std::string_view>> kBinary = {{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
// Longer ones first, so that "<=" is not "<".
constexpr std::string_view kOperators[] = {"||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "|", "^", "&", "<", ">", "+", "-", "*", "/", "%", "!", "~", "(", ")", "[", "]"};

/// Hexadecimal numbers are whole ones.
std::optional<double> number_of(std::string_view token) {
  if (!token.starts_with("0x") && !token.starts_with("0X")) return whole_number<double>(token);
  const std::optional<uint64_t> v = whole_number_or_hex<uint64_t>(token);
  return v.has_value() ? std::optional(static_cast<double>(*v)) : std::nullopt;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { next(); }

  NodePtr parse() {
    NodePtr n = binary(0);
    if (!token_.empty()) fail(fmt::format("'{}' is not expected", token_));
    return n;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError(Code::E4323, fmt::format("condition '{}': {}", text_, why), "for example %r1 == 3 && %tid.x < 32, u32[smem 0x400] != 0, f32(%r7) > 1.5, warp == 2");
  }

  // "%" starts a register if a value is expected; otherwise it is the remainder operator.
  void next(bool value_expected = true) {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const size_t start = at_;
    const auto word = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$'; };
    if (at_ < text_.size() && ((text_[at_] == '%' && value_expected) || word(text_[at_]))) {
      ++at_;
      while (at_ < text_.size() && word(text_[at_])) ++at_;
    } else if (at_ < text_.size()) {
      for (std::string_view op : kOperators) {
        if (!text_.substr(at_).starts_with(op)) continue;
        at_ += op.size();
        break;
      }
      if (at_ == start) fail(fmt::format("'{}' at {} is not expected", text_[at_], at_ + 1));
    }
    token_ = text_.substr(start, at_ - start);
  }

  void expect(std::string_view t, bool value_expected) {
    if (token_ != t) fail(token_.empty() ? fmt::format("'{}' is missing at the end", t) : fmt::format("'{}' is expected before '{}'", t, token_));
    next(value_expected);
  }

  NodePtr binary(size_t level) {
    if (level == kBinary.size()) return unary();
    NodePtr a = binary(level + 1);
    while (std::find(kBinary[level].begin(), kBinary[level].end(), token_) != kBinary[level].end()) {
      auto n = std::make_unique<Node>();
      n->kind = Kind::binary;
      n->op = token_;
      next();
      n->a = std::move(a);
      n->b = binary(level + 1);
      a = std::move(n);
    }
    return a;
  }

  NodePtr unary() {
    if (++depth_ > 200) fail("nested too deeply");
    NodePtr n;
    if (token_ == "-" || token_ == "!" || token_ == "~") {
      n = std::make_unique<Node>();
      n->kind = Kind::unary;
      n->op = token_;
      next();
      n->a = unary();
    } else {
      n = primary();
    }
    --depth_;
    return n;
  }

  NodePtr primary() {
    auto n = std::make_unique<Node>();
    if (token_ == "(") {
      next();
      n = binary(0);
      expect(")", false);
      return n;
    }
    if (token_.starts_with('%')) {
      n->kind = Kind::reg;
      n->name = token_;
      next(false);
      return n;
    }
    if (!token_.empty() && std::isdigit(static_cast<unsigned char>(token_[0])) != 0) {
      const std::optional<double> number = number_of(token_);
      if (!number.has_value()) fail(fmt::format("'{}' is no number", token_));
      n->number = *number;
      next(false);
      return n;
    }
    return named();
  }

  // cta.x, warp, …; TYPE(%r); TYPE[smem ADDRESS].
  NodePtr named() {
    auto n = std::make_unique<Node>();
    for (std::string_view place : {"cta.x", "cta.y", "cta.z", "cta", "warp", "lane", "step"}) {
      if (token_ != place) continue;
      n->kind = Kind::place;
      n->name = token_;
      next(false);
      return n;
    }
    if (token_.empty()) fail("something is missing at the end");
    const std::string type(token_);
    next(false);
    if (token_ != "(" && token_ != "[") {
      n->kind = Kind::symbol;
      n->name = type;
      return n;
    }
    n->type = parse_value_type(type);
    if (token_ == "(") {
      next();
      if (!token_.starts_with('%')) fail("a register is expected in TYPE(…)");
      n->kind = Kind::reg;
      n->name = token_;
      next(false);
      expect(")", false);
      return n;
    }
    next();
    n->kind = Kind::memory;
    n->name = token_;
    if (token_ != "smem" && token_ != "gmem") fail("TYPE[…] begins with smem or gmem");
    next();
    n->a = binary(0);
    expect("]", false);
    return n;
  }

  std::string_view text_, token_;
  size_t at_ = 0;
  int depth_ = 0;
};

double register_value(const Node& n, const Warp& w, uint32_t lane) {
  const RegisterRef r = find_register(w, n.name);
  const uint64_t v = read_register(w, r)[lane];
  if (r.predicate) return static_cast<double>(v);
  if (n.type.has_value()) return value_as_double(*n.type, v);
  const ValueType t = type_of_register(r.declared);
  return t.elements == 1 ? value_as_double(t, v) : static_cast<double>(v);
}

double place_value(const Node& n, const Session& s, const Warp& w, uint32_t lane) {
  const Dim3 i = w.cta->index;
  if (n.name == "cta.x") return i.x;
  if (n.name == "cta.y") return i.y;
  if (n.name == "cta.z") return i.z;
  if (n.name == "cta") return static_cast<double>(s.launch().grid.linear(i));
  if (n.name == "warp") return w.index;
  return n.name == "lane" ? lane : static_cast<double>(s.position());
}

// The address of a shared variable in its CTA.
double symbol_value(const Node& n, const Session& s) {
  const Program& p = s.program();
  std::vector<std::string> names;
  for (const SharedVariable& v : lay_out_shared(*p.module, p.functions).variables) {
    if (v.variable->name == n.name) return v.offset;
    names.push_back(v.variable->name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string near = did_you_mean(n.name, views);
  throw InputError(Code::E4324, fmt::format("'{}' is no value: neither a register nor a shared variable", n.name), near.empty() ? "variables of the source are registers here: info line shows those of this line" : near);
}

double memory_value(const Node& n, const Session& s, const Warp& w, double address) {
  if (!(address >= 0 && address < 0x1p63)) throw InputError(Code::E4324, fmt::format("{}: {} is no address", n.name, address));
  const auto at = static_cast<uint64_t>(address);
  const uint64_t bytes = (n.type->bits + 7u) / 8;
  const uint8_t* p = n.name == "gmem" ? s.launch().gmem->translate(at, bytes) : smem_at(*w.cta, shared_offset(static_cast<uint32_t>(at)), bytes);
  if (p == nullptr) throw InputError(Code::E4324, fmt::format("{}: {:#x} is outside", n.name, at));
  return value_as_double(*n.type, bits_of(p, 0, n.type->bits));
}

double apply(std::string_view op, double a, double b) {
  const auto integer = [](double v) { return static_cast<int64_t>(v); };
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "%") return std::fmod(a, b);
  // Bit operations need values that fit in 64 bits.
  if (std::isnan(a) || std::isnan(b) || std::abs(a) >= 0x1p63 || std::abs(b) >= 0x1p63) return std::nan("");
  const int64_t x = integer(a), y = integer(b);
  if (op == "&") return static_cast<double>(x & y);
  if (op == "|") return static_cast<double>(x | y);
  if (op == "^") return static_cast<double>(x ^ y);
  if (y < 0 || y > 63) return 0;
  return op == "<<" ? static_cast<double>(static_cast<int64_t>(static_cast<uint64_t>(x) << y)) : static_cast<double>(x >> y);
}

double value_of(const Node& n, const Session& s, const Warp& w, uint32_t lane) {
  switch (n.kind) {
    case Kind::number: return n.number;
    case Kind::reg: return register_value(n, w, lane);
    case Kind::place: return place_value(n, s, w, lane);
    case Kind::symbol: return symbol_value(n, s);
    case Kind::memory: return memory_value(n, s, w, value_of(*n.a, s, w, lane));
    case Kind::unary: {
      const double a = value_of(*n.a, s, w, lane);
      if (n.op == "-") return -a;
      return n.op == "!" ? a == 0 : apply("^", a, -1);
    }
    case Kind::binary: {
      const double a = value_of(*n.a, s, w, lane);
      if (n.op == "&&") return a != 0 && value_of(*n.b, s, w, lane) != 0;
      if (n.op == "||") return a != 0 || value_of(*n.b, s, w, lane) != 0;
      return apply(n.op, a, value_of(*n.b, s, w, lane));
    }
  }
  return 0;
}

}  // namespace

Expression::Expression(std::string text, std::unique_ptr<Node> root) : text_(std::move(text)), root_(std::move(root)) {}
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

// A chain of operators is a tree as deep as it is long.
Expression Expression::parse(std::string_view text) {
  constexpr size_t kMost = 4096;
  if (text.size() > kMost) throw InputError(Code::E4323, fmt::format("the condition has more than {} characters", kMost));
  return {std::string(text), Parser(text).parse()};
}

double Expression::evaluate(const Session& s, const Warp& w, uint32_t lane) const { return value_of(*root_, s, w, lane); }

bool Expression::holds(const Session& s, const Warp& w, LaneMask lanes) const {
  bool any = false;
  for_lanes(lanes, [&](uint32_t lane) { any = any || evaluate(s, w, lane) != 0; });
  return any;
}

}  // namespace drywell::sim
