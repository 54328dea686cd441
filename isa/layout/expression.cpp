// Lexer, parser and evaluator in one pass: every construct is evaluated as soon as it is read.
#include "drywell/isa/layout/expression.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "drywell/core/error.h"
#include "drywell/core/text.h"
#include "isa/layout/functions.h"

namespace drywell::layout {
namespace {

constexpr size_t kMaxText = 64 * 1024;
constexpr int kMaxCalls = 512;
constexpr int kMaxNesting = 48;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool has_static_mark(std::string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const bool starts = i == 0 || (!is_alpha(text[i - 1]) && !is_digit(text[i - 1]));
    if (text[i] == '_' && starts && (is_digit(text[i + 1]) || text[i + 1] == '-')) return true;
  }
  return false;
}

class Parser {
 public:
  Parser(std::string_view text, Marks marks) : text_(text), marks_(marks) {}

  Value run() {
    Value v = statement();
    while (accept(';')) {
      if (at_end()) break;
      v = statement();
    }
    if (!at_end()) syntax(fmt::format("unexpected '{}'", shown(peek())));
    return v;
  }

 private:
  // --- text ---
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  bool at_end() {
    skip_space();
    return at_ >= text_.size();
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  char raw(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) {
      syntax(at_end() ? fmt::format("expected '{}', found the end", c)
                      : fmt::format("expected '{}', found '{}'", c, shown(peek())));
    }
  }
  bool accept_text(std::string_view t) {
    if (text_.substr(at_, t.size()) != t) return false;
    at_ += t.size();
    return true;
  }
  static std::string shown(char c) {
    return c >= ' ' && c < 127 ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  SourcePos position(size_t at) const {
    SourcePos p{"layout expression", 1, 1};
    for (size_t i = 0; i < at && i < text_.size(); ++i) {
      ++p.column;
      if (text_[i] == '\n') {
        ++p.line;
        p.column = 1;
      }
    }
    return p;
  }
  [[noreturn]] void raise(Code code, size_t at, std::string message, std::string hint = {}) const {
    Diagnostics d;
    d.error(code, position(at), std::move(message), std::move(hint));
    throw InputError(std::move(d));
  }
  [[noreturn]] void syntax(std::string message, std::string hint = {}) {
    skip_space();
    raise(Code::E1801, at_, std::move(message), std::move(hint));
  }

  /// Runs f; an error of the algebra gets the position `at`.
  template <class F>
  auto located(size_t at, F&& f) const {
    try {
      return f();
    } catch (const InputError& e) {
      const Diagnostic& first = e.diagnostics().list().front();
      if (first.where.line != 0) throw;
      raise(first.code, at, first.message, first.hint);
    }
  }

  struct Nested {
    explicit Nested(Parser& parser) : p(parser) {
      if (++p.nesting_ > kMaxNesting)
        p.raise(Code::E1808, p.at_, fmt::format("nested deeper than {} levels", kMaxNesting));
    }
    ~Nested() { --p.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    Parser& p;
  };

  std::string_view identifier() {
    skip_space();
    const size_t start = at_;
    while (is_alpha(raw()) || is_digit(raw())) ++at_;
    return text_.substr(start, at_ - start);
  }

  // --- numbers ---
  int64_t digits() {
    const size_t start = at_;
    int base = 10;
    if (raw() == '0' && (raw(1) == 'x' || raw(1) == 'X')) {
      base = 16;
      at_ += 2;
    }
    int64_t v = 0;
    const auto [end, err] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v, base);
    if (err == std::errc::result_out_of_range) raise(Code::E1807, start, "a number does not fit in 64 bits");
    if (err != std::errc()) syntax("expected a number");
    at_ = static_cast<size_t>(end - text_.data());
    return v;
  }

  int64_t signed_number() {
    const bool negative = peek() == '-';
    if (negative) ++at_;
    if (!is_digit(raw())) syntax("expected a number");
    const int64_t v = digits();
    return negative ? -v : v;
  }

  /// Products 2*8 of integers.
  Int integer() {
    skip_space();
    const size_t start = at_;
    Int v = integer_factor();
    while (accept('*')) {
      skip_space();
      if (!is_digit(raw()) && raw() != '_' && raw() != '-') syntax("expected a number after '*'");
      const Int factor = integer_factor();
      v = located(start, [&] { return v * factor; });
    }
    return v;
  }

  /// [-]N, _N, _-N with @basis suffixes.
  Int integer_factor() {
    bool fixed = marks_ == Marks::plain;
    if (raw() == '_') {
      fixed = true;
      ++at_;
    }
    Int v(signed_number(), fixed);
    std::vector<uint8_t> path;
    while (raw() == '@') {
      ++at_;
      const size_t digit_at = at_;
      if (!is_digit(raw())) syntax("expected a mode number after '@'");
      const int64_t mode = digits();
      if (mode > 255 || path.size() >= kMaxBasisDepth) raise(Code::E1808, digit_at, "basis too deep or too wide");
      path.push_back(static_cast<uint8_t>(mode));
    }
    // Printed innermost mode first: _1@1@0 is E<0,1>.
    for (auto it = path.rbegin(); it != path.rend(); ++it) v.basis[v.basis_depth++] = *it;
    return v;
  }

  // --- constructs ---
  Value statement() {
    const size_t start = (skip_space(), at_);
    const std::string_view name = identifier();
    if (!name.empty() && !is_digit(name[0]) && peek() == '=') {
      ++at_;
      if (name == "_" || name == "o" || find_function(name))
        raise(Code::E1801, start, fmt::format("'{}' is reserved", name));
      Value v = chain();
      names_.insert_or_assign(std::string(name), v);
      return v;
    }
    at_ = start;
    return chain();
  }

  bool accept_compose() {
    skip_space();
    if (accept_text("\xE2\x88\x98")) return true;  // ∘
    if (raw() == 'o' && !is_alpha(raw(1)) && !is_digit(raw(1))) {
      ++at_;
      return true;
    }
    return false;
  }

  /// term o term o term, from the right.
  Value chain() {
    Nested nested(*this);
    std::vector<std::pair<size_t, Value>> items;
    do {
      skip_space();
      const size_t start = at_;
      items.emplace_back(start, term());
    } while (accept_compose());
    Value v = std::move(items.back().second);
    for (size_t i = items.size() - 1; i-- > 0;) {
      count_call();
      v = located(items[i].first, [&] { return put_in_front(items[i].second, v); });
    }
    return v;
  }

  static Value put_in_front(const Value& left, const Value& right) {
    const auto* r = std::get_if<ComposedLayout>(&right);
    if (!r) fail(Code::E1803, "the right side of 'o' must be a layout");
    if (const auto* l = std::get_if<ComposedLayout>(&left)) return composition(*l, *r);
    if (const auto* t = std::get_if<IntTuple>(&left)) {
      if (!r->is_plain()) fail(Code::E1803, "an offset must be followed by a plain layout");
      return ComposedLayout(std::nullopt, Offset{*t}, r->layout());
    }
    const auto* f = std::get_if<Front>(&left);
    if (!f) fail(Code::E1803, "the left side of 'o' must be a layout, a swizzle, an offset or a pointer");
    const bool swizzle_only = f->swizzle && std::holds_alternative<NoOrigin>(f->origin);
    if (!swizzle_only) {
      if (!r->is_plain()) fail(Code::E1803, "a pointer or coordinate must be followed by a plain layout");
      return ComposedLayout(f->swizzle, f->origin, r->layout());
    }
    if (r->swizzle()) fail(Code::E1803, "two swizzles in a row");
    if (!std::holds_alternative<NoOrigin>(r->origin()) && !std::holds_alternative<Offset>(r->origin()) &&
        !std::holds_alternative<SmemFlag>(r->origin())) {
      fail(Code::E1803, "a swizzle cannot stand before a pointer here", "write Sw<…>_smem_ptr[…](…) o layout");
    }
    return ComposedLayout(f->swizzle, r->origin(), r->layout());
  }

  /// primary, primary:primary, and applications (…) of layouts.
  Value term() {
    skip_space();
    const size_t start = at_;
    Value v = primary();
    if (accept(':')) {
      Value stride = primary();
      const auto* s = std::get_if<IntTuple>(&v);
      const auto* d = std::get_if<IntTuple>(&stride);
      if (!s || !d) raise(Code::E1803, start, "shape and stride must be integers or tuples of integers");
      v = located(start, [&] { return ComposedLayout(Layout(*s, *d)); });
    }
    while (std::holds_alternative<ComposedLayout>(v) && peek() == '(') {
      count_call();
      IntTuple coord = arguments_as_coordinate();
      v = located(start, [&] { return apply(std::get<ComposedLayout>(v), coord); });
    }
    return v;
  }

  IntTuple arguments_as_coordinate() {
    skip_space();
    const size_t start = at_;
    std::vector<IntTuple> out;
    for (Value& v : arguments()) {
      const auto* t = std::get_if<IntTuple>(&v);
      if (!t) raise(Code::E1803, start, "a coordinate is made of integers, '_' and tuples of them");
      out.push_back(*t);
    }
    if (out.empty()) raise(Code::E1803, start, "an empty coordinate");
    return out.size() == 1 ? out[0] : IntTuple(std::move(out));
  }

  static Value apply(const ComposedLayout& l, const IntTuple& coord) {
    if (has_underscore(coord)) return slice(coord, l);
    if (std::holds_alternative<Pointer>(l.origin())) return Front{l.swizzle(), slice(coord, l).origin()};
    return l(coord);
  }

  std::vector<Value> arguments() {
    Nested nested(*this);
    expect('(');
    std::vector<Value> out;
    if (accept(')')) return out;
    do {
      if (peek() == ')') break;  // a trailing comma
      if (out.size() >= kMaxLeaves) raise(Code::E1808, at_, fmt::format("more than {} elements", kMaxLeaves));
      out.push_back(chain());
    } while (accept(','));
    expect(')');
    return out;
  }

  Value primary() {
    skip_space();
    const char c = peek();
    if (c == '(') return tuple_of(at_, arguments());
    if (is_digit(c) || c == '-') return IntTuple(integer());
    if (c == '_' && (is_digit(raw(1)) || raw(1) == '-')) return IntTuple(integer());
    if (!is_alpha(c))
      syntax(at_end() ? "the expression ends here" : fmt::format("unexpected '{}'", shown(c)));
    const size_t start = at_;
    const std::string_view name = identifier();
    if (name == "_" || name == "X" || name == "None") return IntTuple::underscore();
    if ((name == "Sw" || name == "S" || name == "Swizzle") && raw() == '<') return swizzle();
    if (name == "ArithTuple") return Front{std::nullopt, coordinate_origin()};
    if (name == "UMMA" || name == "GMMA") {
      if (!accept_text("::DescriptorIterator")) syntax("expected '::DescriptorIterator'");
      return Front{std::nullopt, DescriptorOrigin{name == "GMMA"}};
    }
    if (raw() == '[') return Front{std::nullopt, pointer(start, name)};
    return call_or_name(start, name);
  }

  Value tuple_of(size_t start, std::vector<Value> values) {
    if (values.size() == 1) {
      // A value that cannot be an element of a tuple may be in parentheses.
      const auto* l = std::get_if<ComposedLayout>(&values[0]);
      if ((l && !l->is_plain()) || std::holds_alternative<Front>(values[0])) return std::move(values[0]);
    }
    std::vector<IntTuple> ints;
    std::vector<Tiler> tilers;
    for (const Value& v : values) {
      if (const auto* t = std::get_if<IntTuple>(&v)) {
        ints.push_back(*t);
        tilers.emplace_back(*t);
      } else if (const auto* n = std::get_if<Tiler>(&v)) {
        tilers.push_back(*n);
      } else if (const auto* l = std::get_if<ComposedLayout>(&v); l && l->is_plain()) {
        tilers.emplace_back(l->layout());
      } else {
        raise(Code::E1803, start, "a tuple holds integers, '_', plain layouts and tuples of them");
      }
    }
    if (ints.size() == values.size()) return located(start, [&] { return IntTuple(std::move(ints)); });
    return Tiler(std::move(tilers));
  }

  std::vector<int64_t> angle_numbers() {
    expect('<');
    std::vector<int64_t> out;
    if (accept('>')) return out;
    do {
      skip_space();
      if (raw() == '_') ++at_;
      out.push_back(signed_number());
      if (out.size() > 64) raise(Code::E1808, at_, "too many numbers in <>");
    } while (accept(','));
    expect('>');
    return out;
  }

  Value swizzle() {
    const size_t start = at_;
    const std::vector<int64_t> n = angle_numbers();
    if (n.size() != 3) raise(Code::E1803, start, "a swizzle has three numbers <B,M,S>");
    for (int64_t v : n) {
      if (v < -100 || v > 100) raise(Code::E1811, start, "a number of the swizzle is out of range");
    }
    const Swizzle s = located(start, [&] {
      return Swizzle(static_cast<int>(n[0]), static_cast<int>(n[1]), static_cast<int>(n[2]));
    });
    if (raw() == '_' && is_alpha(raw(1))) {
      ++at_;
      const size_t at = at_;
      const Origin o = pointer(at, identifier());
      if (!std::holds_alternative<Pointer>(o)) raise(Code::E1801, at, "expected a pointer with an address");
      return Front{s, o};
    }
    return Front{s, NoOrigin{}};
  }

  Origin coordinate_origin() {
    const size_t start = at_;
    IntTuple t = arguments_as_coordinate();
    if (has_underscore(t)) raise(Code::E1803, start, "a coordinate origin holds no '_'");
    // A rank-1 coordinate keeps its parentheses.
    return CoordOrigin{t.is_tuple() ? t : IntTuple::of({t})};
  }

  /// name[BITSb](address), name being e.g. gmem_ptr, subptr, tmem_.
  Origin pointer(size_t start, std::string_view name) {
    Pointer p;
    std::string_view rest = name;
    const auto strip = [&](std::string_view prefix, Pointer::Space space) {
      if (rest.substr(0, prefix.size()) != prefix) return;
      rest.remove_prefix(prefix.size());
      p.space = space;
    };
    strip("gmem_", Pointer::Space::gmem);
    strip("smem_", Pointer::Space::smem);
    strip("rmem_", Pointer::Space::rmem);
    strip("tmem_", Pointer::Space::tmem);
    const bool tmem = p.space == Pointer::Space::tmem;
    p.sub_byte = rest == "subptr";
    if (tmem ? !rest.empty() : rest != "ptr" && rest != "subptr") {
      raise(Code::E1802, start, fmt::format("unknown pointer '{}'", name),
            "ptr, gmem_ptr, smem_ptr, subptr, tmem_, …");
    }
    expect('[');
    skip_space();
    const int64_t bits = signed_number();
    if (bits <= 0 || bits > (1 << 24)) raise(Code::E1803, start, "the element width is out of range");
    p.bits = static_cast<uint32_t>(bits);
    if (raw() != 'b') syntax("expected 'b' after the element width");
    ++at_;
    expect(']');
    expect('(');
    skip_space();
    if (accept_text("unset")) {
      expect(')');
      SmemFlag flag{p.bits, 0};
      if (raw() == '+' || raw() == '-') {
        if (raw() == '+') ++at_;
        flag.offset = signed_number();
      }
      return flag;
    }
    p.address = static_cast<uint64_t>(digits());
    if (raw() == '.') {
      ++at_;
      const uint64_t low = tmem ? hex_word() : static_cast<uint64_t>(digits());
      if (tmem) {
        p.address = (p.address & 0xFFFF) << 16 | (low & 0xFFFF);
      } else {
        p.bit_index = static_cast<uint32_t>(low & 7);
      }
    }
    expect(')');
    return p;
  }

  uint64_t hex_word() {
    uint64_t v = 0;
    const auto [end, err] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v, 16);
    if (err != std::errc()) syntax("expected four hexadecimal digits");
    at_ = static_cast<size_t>(end - text_.data());
    return v;
  }

  void count_call() {
    if (++calls_ > kMaxCalls) raise(Code::E1808, at_, fmt::format("more than {} operations", kMaxCalls));
  }

  Value call_or_name(size_t start, std::string_view name) {
    if (const auto it = names_.find(std::string(name)); it != names_.end()) return it->second;
    const char next = peek();
    if (next != '(' && next != '<') return Word{std::string(name)};
    const Function* f = find_function(name);
    if (!f) raise(Code::E1802, start, fmt::format("unknown function '{}'", name), hint_for(name));
    Call call{f->name, {}, {}};
    if (next == '<') call.fixed = angle_numbers();
    call.args = arguments();
    if (call.args.size() < f->min_args || call.args.size() > f->max_args) {
      raise(Code::E1803, start,
            fmt::format("{} takes {} arguments, found {}", name,
                        f->min_args == f->max_args ? fmt::format("{}", f->min_args)
                                                   : fmt::format("{} to {}", f->min_args, f->max_args),
                        call.args.size()),
            f->usage);
    }
    count_call();
    return located(start, [&] { return f->eval(call); });
  }

  static std::string hint_for(std::string_view name);

  std::string_view text_;
  Marks marks_;
  size_t at_ = 0;
  int nesting_ = 0;
  int calls_ = 0;
  std::map<std::string, Value, std::less<>> names_;
};

std::string Parser::hint_for(std::string_view name) {
  if (name.size() > 64) return {};
  std::vector<std::string_view> names;
  for (const auto table : {algebra_functions(), tuple_functions(), hardware_functions()}) {
    for (const Function& f : table) names.emplace_back(f.name);
  }
  return did_you_mean(name, names);
}

}  // namespace

std::string to_string(const Value& v, Marks marks) {
  struct Print {
    Marks marks;
    std::string operator()(const IntTuple& t) const { return to_string(t, marks); }
    std::string operator()(const Tiler& t) const { return to_string(t, marks); }
    std::string operator()(const ComposedLayout& l) const { return to_string(l, marks); }
    std::string operator()(const Front& f) const {
      if (f.swizzle && std::holds_alternative<NoOrigin>(f.origin)) return to_string(*f.swizzle, marks);
      const std::string s = to_string(ComposedLayout(f.swizzle, f.origin, Layout()), marks);
      return s.substr(0, s.rfind(" o "));
    }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(const Word& w) const { return w.text; }
  };
  return std::visit(Print{marks}, v);
}

const ComposedLayout& Evaluation::layout() const {
  if (const auto* l = std::get_if<ComposedLayout>(&value)) return *l;
  fail(Code::E1803, fmt::format("the expression is not a layout but {}", to_string(value, marks)));
}

Evaluation evaluate(std::string_view text, Reading reading) {
  if (text.size() > kMaxText) fail(Code::E1808, fmt::format("an expression longer than {} bytes", kMaxText));
  const bool cute = reading == Reading::cute || (reading == Reading::automatic && has_static_mark(text));
  const Marks marks = cute ? Marks::cute : Marks::plain;
  Value v = Parser(text, marks).run();
  if (const auto* w = std::get_if<Word>(&v)) fail(Code::E1802, fmt::format("unknown name '{}'", w->text));
  return {std::move(v), marks};
}

Layout parse_layout(std::string_view text, Reading reading) {
  const Evaluation e = evaluate(text, reading);
  if (!e.layout().is_plain()) fail(Code::E1803, "expected a layout without swizzle or pointer");
  return e.layout().layout();
}

IntTuple parse_int_tuple(std::string_view text, Reading reading) {
  const Evaluation e = evaluate(text, reading);
  if (const auto* t = std::get_if<IntTuple>(&e.value)) return *t;
  fail(Code::E1803, "expected an integer or a tuple of integers");
}

std::string expression_help() {
  std::string out;
  for (const auto table : {algebra_functions(), tuple_functions(), hardware_functions()}) {
    for (const Function& f : table) out += fmt::format("{}\n", f.usage);
  }
  return out;
}

const Function* find_function(std::string_view name) {
  for (const auto table : {algebra_functions(), tuple_functions(), hardware_functions()}) {
    for (const Function& f : table) {
      if (name == f.name) return &f;
    }
  }
  return nullptr;
}

}  // namespace drywell::layout
