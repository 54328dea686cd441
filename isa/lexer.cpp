#include "isa/lexer.h"

#include <array>
#include <bit>
#include <charconv>
#include <limits>

namespace drywell::isa {
namespace {

enum : uint8_t {
  kIdentStart = 1,
  kIdentPart = 2,
  kOpcodePart = 4,
  kDigit = 8,
  kBlank = 16
};

constexpr std::array<uint8_t, 256> make_classes() {
  std::array<uint8_t, 256> c{};
  for (int i = 'a'; i <= 'z'; ++i) c[static_cast<size_t>(i)] = kIdentStart | kIdentPart | kOpcodePart;
  for (int i = 'A'; i <= 'Z'; ++i) c[static_cast<size_t>(i)] = kIdentStart | kIdentPart | kOpcodePart;
  for (int i = '0'; i <= '9'; ++i) c[static_cast<size_t>(i)] = kIdentPart | kOpcodePart | kDigit;
  c['_'] = kIdentStart | kIdentPart | kOpcodePart;
  c['$'] = kIdentStart | kIdentPart;
  c['%'] = kIdentStart;
  for (const char blank : {' ', '\t', '\r', '\f', '\v'}) c[static_cast<size_t>(blank)] = kBlank;
  return c;
}
constexpr auto kClasses = make_classes();

bool is(char c, uint8_t what) { return (kClasses[static_cast<unsigned char>(c)] & what) != 0; }

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Exactly `count` hexadecimal digits, as 0f and 0d require.
bool exact_hex(std::string_view digits, size_t count, uint64_t& bits) {
  if (digits.size() != count) return false;
  bits = 0;
  for (const char c : digits) {
    if (digit_value(c) > 15) return false;
    bits = bits * 16 + static_cast<uint64_t>(digit_value(c));
  }
  return true;
}

Literal exact_float(std::string_view word, ImmKind kind) {
  Literal out;
  out.kind = kind;
  out.ok = exact_hex(word.substr(2), kind == ImmKind::f32 ? 8 : 16, out.bits);
  return out;
}

// 0x…, 0b…, octal 0…, decimal, each with an optional U.
Literal integer(std::string_view word) {
  Literal out;
  if (word.back() == 'U') {
    out.is_unsigned = true;
    word.remove_suffix(1);
  }
  uint64_t base = 10;
  const char second = word.size() > 1 && word[0] == '0' ? word[1] : '\0';
  if (second == 'x' || second == 'X') {
    base = 16;
    out.kind = ImmKind::hex;
    word.remove_prefix(2);
  } else if (second == 'b' || second == 'B') {
    base = 2;
    word.remove_prefix(2);
  } else if (second != '\0') {
    base = 8;
  }
  if (word.empty()) return out;
  for (const char c : word) {
    const auto d = static_cast<uint64_t>(digit_value(c));
    if (d >= base || out.bits > (std::numeric_limits<uint64_t>::max() - d) / base) return out;
    out.bits = out.bits * base + d;
  }
  if (out.bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) out.is_unsigned = true;
  out.ok = true;
  return out;
}

}  // namespace

bool Lexer::skip_comment() {
  if (look(1) == '/') {
    const size_t end = text_.find('\n', at_);
    std::string_view comment = text_.substr(at_, end - at_);
    if (comment.ends_with('\r')) comment.remove_suffix(1);
    if (comment == "// begin inline asm") in_inline_assembly_ = true;
    if (comment == "// end inline asm") in_inline_assembly_ = false;
    at_ = end == std::string_view::npos ? text_.size() : end;
    return true;
  }
  if (look(1) != '*') return false;
  at_ += 2;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == '\n') newline();
    if (c == '*' && look(0) == '/') {
      ++at_;
      return true;
    }
  }
  unterminated_comment_ = true;
  return true;
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is(c, kBlank)) {
      ++at_;
    } else if (c == '\n') {
      ++at_;
      newline();
    } else if (c != '/' || !skip_comment()) {
      return;
    }
  }
}

bool Lexer::take(char c) {
  skip_space();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string_view Lexer::identifier() {
  skip_space();
  const size_t begin = at_;
  if (at_ == text_.size() || !is(text_[at_], kIdentStart)) return {};
  ++at_;
  while (at_ < text_.size() && is(text_[at_], kIdentPart)) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::string_view Lexer::opcode() {
  skip_space();
  const size_t begin = at_;
  if (at_ == text_.size() || !is(text_[at_], kOpcodePart)) return {};
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is(c, kOpcodePart)) {
      ++at_;
    } else if (c == '.' && is(look(1), kOpcodePart)) {
      ++at_;
    } else if (c == ':' && look(1) == ':' && is(look(2), kOpcodePart)) {
      at_ += 2;
    } else {
      break;
    }
  }
  return text_.substr(begin, at_ - begin);
}

std::string_view Lexer::directive() {
  if (peek() != '.' || !is(look(1), kIdentPart)) return {};
  const size_t begin = ++at_;
  while (at_ < text_.size()) {
    if (is(text_[at_], kIdentPart)) {
      ++at_;
    } else if (text_[at_] == ':' && look(1) == ':' && is(look(2), kIdentPart)) {
      at_ += 2;
    } else {
      break;
    }
  }
  return text_.substr(begin, at_ - begin);
}

Literal Lexer::number() {
  skip_space();
  const size_t begin = at_;
  while (at_ < text_.size() && is(text_[at_], kIdentPart)) ++at_;
  const std::string_view word = text_.substr(begin, at_ - begin);
  if (word.empty() ? look(0) != '.' : !is(word[0], kDigit)) return {};
  const char second = word.size() > 1 && word[0] == '0' ? word[1] : '\0';
  if (second == 'f' || second == 'F') return exact_float(word, ImmKind::f32);
  if (second == 'd' || second == 'D') return exact_float(word, ImmKind::f64);
  const bool prefixed = second == 'x' || second == 'X' || second == 'b' || second == 'B';
  if (!prefixed && (look(0) == '.' || word.find_first_of("eE") != std::string_view::npos)) return decimal_float(begin);
  return integer(word);
}

// "1.5", ".5", "5.", "1e-3": at_ is behind the digits in front of the point.
Literal Lexer::decimal_float(size_t begin) {
  size_t end = at_;
  if (look(0) == '.') {
    ++end;
    while (end < text_.size() && is(text_[end], kIdentPart)) ++end;
  }
  const bool exponent = text_[end - 1] == 'e' || text_[end - 1] == 'E';
  if (exponent && end + 1 < text_.size() && (text_[end] == '+' || text_[end] == '-')) {
    ++end;
    while (end < text_.size() && is(text_[end], kDigit)) ++end;
  }
  Literal out;
  double value = 0;
  const auto [stop, error] = std::from_chars(text_.data() + begin, text_.data() + end, value);
  out.ok = error == std::errc() && stop == text_.data() + end;
  out.kind = ImmKind::f64;
  out.bits = std::bit_cast<uint64_t>(value);
  at_ = end;
  return out;
}

std::string_view Lexer::string(bool& ok) {
  ok = take('"');
  const size_t begin = at_;
  while (ok && at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    ++at_;
  }
  const std::string_view inside = text_.substr(begin, at_ - begin);
  ok = ok && at_ < text_.size() && text_[at_] == '"';
  if (ok) ++at_;
  return inside;
}

std::string_view Lexer::offending() {
  skip_space();
  size_t end = at_;
  while (end < text_.size() && end - at_ < 60 &&
         (is(text_[end], kIdentPart | kIdentStart) || text_[end] == '.'))
    ++end;
  if (end == at_ && end < text_.size()) ++end;
  return text_.substr(at_, end - at_);
}

void Lexer::skip_statement(unsigned open) {
  while (!at_end()) {
    const char c = text_[at_];
    if (c == '"') {
      bool closed = false;
      string(closed);
      continue;
    }
    if (c == '{') ++open;
    if (c == '}') {
      if (open == 0) return;
      --open;
    }
    ++at_;
    if (c == ';') return;  // even inside braces: a forgotten brace must not swallow the rest of the text
  }
}

void Lexer::skip_item(unsigned open) {
  while (!at_end()) {
    const char c = text_[at_];
    if (c == '"') {
      bool closed = false;
      string(closed);
      continue;
    }
    ++at_;
    if (c == ';') return;
    if (c == '}' && open-- == 0) return;
    if (c == '{') {
      skip_block();
      if (open != 0) continue;  // inside an initialiser
      take(';');
      return;
    }
  }
}

bool Lexer::skip_block() {
  unsigned open = 1;
  while (!at_end()) {
    const char c = text_[at_];
    if (c == '"') {
      bool closed = false;
      string(closed);
      continue;
    }
    ++at_;
    if (c == '{') ++open;
    if (c == '}' && --open == 0) return true;
  }
  return false;
}

void Lexer::skip_line() {
  const size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end;
}

}  // namespace drywell::isa
