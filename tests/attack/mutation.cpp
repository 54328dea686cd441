#include "mutation.h"

#include <algorithm>
#include <cctype>

namespace drywell::attack {
namespace {

constexpr size_t kMostBytes = 1 << 20;

/// Numbers at the edges of what programs count in.
constexpr std::string_view kNumbers[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "31",
                                         "32",
                                         "33",
                                         "255",
                                         "256",
                                         "65535",
                                         "65536",
                                         "1048577",
                                         "2147483647",
                                         "2147483648",
                                         "4294967295",
                                         "4294967296",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551615",
                                         "18446744073709551616",
                                         "0x7fffffffffffffff",
                                         "1e308",
                                         "nan"};

struct Piece {
  size_t at, size;
};

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '$' || c == '.' ||
         c == '@' || c == ':';
}

/// Words, and single characters that belong to none; blanks are left out.
std::vector<Piece> words_of(std::string_view text) {
  std::vector<Piece> all;
  for (size_t i = 0; i < text.size();) {
    size_t n = 1;
    if (in_word(text[i])) {
      while (i + n < text.size() && in_word(text[i + n])) ++n;
    }
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) all.push_back({i, n});
    i += n;
  }
  return all;
}

bool separates(char c) {
  return c == ',' || c == ';' || c == '\n' || c == '[' || c == ']' || c == '{' || c == '}' || c == '(' ||
         c == ')' || c == '=';
}

/// What stands between commas, brackets and the ends of statements.
std::vector<Piece> operands_of(std::string_view text) {
  std::vector<Piece> all;
  for (size_t i = 0; i < text.size();) {
    size_t n = 0;
    while (i + n < text.size() && !separates(text[i + n])) ++n;
    if (n != 0) all.push_back({i, n});
    i += n + 1;
  }
  return all;
}

std::string number(Random& r) {
  return r.once_in(3) ? std::to_string(r.next() >> r.below(64))
                      : std::string(kNumbers[r.below(std::size(kNumbers))]);
}

void change_bytes(std::string& t, Random& r) {
  const size_t at = r.below(t.size() + 1), n = 1 + r.below(r.once_in(4) ? 64 : 4);
  switch (r.below(7)) {
    case 0: t.insert(at, n, static_cast<char>(r.next())); break;
    case 1: t.erase(std::min(at, t.size()), n); break;
    case 2: t.insert(at, t.substr(r.below(t.size() + 1), n)); break;
    case 3: t.resize(at); break;
    case 4: t.insert(at, number(r)); break;
    case 5:
      if (!t.empty()) t[at % t.size()] = static_cast<char>(r.next());
      break;
    default:
      if (!t.empty()) t[at % t.size()] = static_cast<char>(t[at % t.size()] ^ (1 << r.below(8)));
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  return text;
}

/// True for two registers of a kind, two numbers, two words with the same beginning: one for the other is often legal.
bool alike(std::string_view a, std::string_view b) {
  a = trimmed(a);
  b = trimmed(b);
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n] && std::isdigit(static_cast<unsigned char>(a[n])) == 0) ++n;
  const auto ends = [n](std::string_view t) { return n == t.size() || std::isdigit(static_cast<unsigned char>(t[n])) != 0; };
  return n >= 3 || (ends(a) && ends(b));
}

/// A piece that can stand for `a`; any piece if none is found.
Piece like(const std::string& t, const std::vector<Piece>& pieces, const Piece& a, Random& r) {
  constexpr int kAttempts = 40;
  Piece b = pieces[r.below(pieces.size())];
  for (int i = 0; i < kAttempts && !alike(t.substr(a.at, a.size), t.substr(b.at, b.size)); ++i) b = pieces[r.below(pieces.size())];
  return b;
}

/// Replaces, removes, doubles or exchanges one of the pieces.
void change_pieces(std::string& t, const std::vector<Piece>& pieces, Random& r) {
  if (pieces.empty()) return change_bytes(t, r);
  const Piece a = pieces[r.below(pieces.size())];
  const bool gently = !r.once_in(3);
  const Piece b = gently ? like(t, pieces, a, r) : pieces[r.below(pieces.size())];
  const std::string other = t.substr(b.at, b.size);
  switch (gently ? 0 : r.below(5)) {
    case 0: t.replace(a.at, a.size, other); break;
    case 1: t.erase(a.at, a.size); break;
    case 2: t.insert(a.at, other); break;
    case 3: t.replace(a.at, a.size, number(r)); break;
    default: t.insert(a.at + a.size, t.substr(a.at, a.size));
  }
}

/// Moves, doubles or removes whole lines.
void change_lines(std::string& t, Random& r) {
  const auto line_at = [&](size_t at) {
    const size_t first = at == 0 ? 0 : t.rfind('\n', at - 1) + 1,
                 end = std::min(t.find('\n', at), t.size() - 1);
    return Piece{first, end + 1 - first};
  };
  if (t.empty()) return;
  const Piece a = line_at(r.below(t.size())), b = line_at(r.below(t.size()));
  const std::string line = t.substr(a.at, a.size);
  if (r.once_in(2))
    t.insert(b.at, line);
  else
    t.erase(a.at, a.size);
}

}  // namespace

std::string mutated(std::string_view text, Unit unit, Random& random) {
  std::string t(text.substr(0, kMostBytes));
  for (uint64_t changes = 1 + random.below(random.once_in(3) ? 8 : 2); changes != 0; --changes) {
    if (random.once_in(8))
      change_lines(t, random);
    else if (unit == Unit::bytes)
      change_bytes(t, random);
    else
      change_pieces(t, unit == Unit::tokens ? words_of(t) : operands_of(t), random);
  }
  return t;
}

}  // namespace drywell::attack
