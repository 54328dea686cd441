#include "drywell/core/text.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

namespace drywell {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

namespace {

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The numbers in a word, in order.
std::vector<std::string_view> numbers_in(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = static_cast<size_t>(std::find_if_not(text.begin() + static_cast<ptrdiff_t>(at), text.end(), is_decimal) - text.begin());
    if (end != at) out.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return out;
}

/// 96 is no slip of the finger for 192, nor mxfp8 for mxf4: a candidate has the numbers of the text.
bool has_numbers_of(std::string_view candidate, std::string_view text) {
  const std::vector<std::string_view> has = numbers_in(candidate);
  size_t at = 0;
  for (const std::string_view number : numbers_in(text)) {
    while (at < has.size() && has[at] != number) ++at;
    if (at++ == has.size()) return false;
  }
  return true;
}

/// sm_10a for sm_100a: a letter or digit is missing, stands twice or in its neighbour's place.
bool is_slip(std::string_view text, std::string_view candidate) {
  constexpr size_t kLong = 5;  // u2 is no slip for u32
  return text.size() >= kLong && edit_distance(text, candidate) == 1 && (text.size() != candidate.size() || std::is_permutation(text.begin(), text.end(), candidate.begin()));
}

constexpr size_t kShortest = 3;  // of a beginning, an end or an abbreviation that says something

/// "shfl" of "shuffle", "fmt" of "format": the same first letter, at least half of the others in order, and a consonant or the same letter
/// at the end.
bool abbreviates(std::string_view brief, std::string_view word) {
  if (brief.size() < kShortest || brief.size() >= word.size() || 2 * brief.size() < word.size() || brief.front() != word.front()) return false;
  if (brief.back() != word.back() && std::string_view("aeiou").find(brief.back()) != std::string_view::npos) return false;
  size_t at = 0;
  for (const char c : word) at += at < brief.size() && brief[at] == c ? 1 : 0;
  return at == brief.size();
}

size_t slips_allowed(std::string_view text, std::string_view word) {
  if (text.size() < 3) return word.starts_with(text) ? 1 : 0;
  if (text.size() < 4) return text.front() == word.front() ? 1 : 0;
  return text.size() < 6 ? 1 : std::max<size_t>(2, text.size() / 3);
}

/// Half edits between the text and one word; kUnlike: another word. A letter in a short word makes another one (tma and fma, bm and bn).
size_t unlikeness_of_word(std::string_view text, std::string_view word) {
  if (abbreviates(text, word) || abbreviates(word, text)) return 2;
  if (word.size() >= kShortest && text.size() == word.size() + 1 && text.ends_with(word)) return 3;
  const size_t d = edit_distance(text, word);
  return d > slips_allowed(text, word) || d >= word.size() ? kUnlike : 2 * d + (text.size() < 4 ? 1 : 0);
}

}  // namespace

size_t unlikeness(std::string_view text, std::string_view candidate) {
  constexpr size_t kLongest = 64;  // of a name
  if (text.size() > kLongest || (!has_numbers_of(candidate, text) && !is_slip(text, candidate))) return kUnlike;
  if (text.size() >= kShortest && candidate.starts_with(text)) return std::min<size_t>(candidate.size() - text.size(), 2);
  size_t least = unlikeness_of_word(text, candidate);
  for (size_t end = candidate.find_first_of("-._"); end != std::string_view::npos; end = candidate.find_first_of("-._", end + 1))
    if (const size_t d = unlikeness_of_word(text, candidate.substr(0, end)); d != kUnlike) least = std::min(least, d + 1);
  return least;
}

namespace {

/// The candidates that are equally near, none if none is near enough.
std::vector<std::string_view> nearest_of(std::string_view text, std::span<const std::string_view> candidates) {
  std::vector<std::string_view> best;
  if (text.empty() || std::all_of(text.begin(), text.end(), is_decimal)) return best;
  size_t least = kUnlike;
  for (const std::string_view c : candidates) {
    const size_t d = unlikeness(text, c);
    if (d == kUnlike || d > least || (d == least && std::find(best.begin(), best.end(), c) != best.end())) continue;
    if (d < least) best.clear();
    least = d;
    best.push_back(c);
  }
  return best;
}

}  // namespace

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  const std::vector<std::string_view> best = nearest_of(text, candidates);
  return best.empty() ? std::string_view() : best.front();
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates) {
  constexpr size_t kMost = 5;
  std::vector<std::string_view> best = nearest_of(text, candidates);
  if (best.empty()) return {};
  best.resize(std::min(best.size(), kMost));
  std::string out = "did you mean ";
  for (size_t i = 0; i < best.size(); ++i) out += (i == 0 ? "'" : i + 1 == best.size() ? " or '"
                                                                                       : ", '") +
                                                  std::string(best[i]) + "'";
  return out + "?";
}

std::string join(std::span<const std::string_view> parts, std::string_view separator) {
  std::string out;
  for (const std::string_view p : parts) {
    if (!out.empty()) out += separator;
    out += p;
  }
  return out;
}

namespace {

/// Behind the brackets of a table's name, whose first is at `i`: the index of a character that begins no key,
/// or npos. A name that is left out is the parser's to report.
size_t stray_in_header(std::string_view text, size_t i) {
  const size_t at = text.find_first_not_of(" \t", text.substr(i + 1).starts_with('[') ? i + 2 : i + 1);
  if (at == std::string_view::npos) return at;
  const auto c = static_cast<unsigned char>(text[at]);
  const bool fine =
      std::isalnum(c) != 0 || std::string_view("_-\"']").find(text[at]) != std::string_view::npos;
  return fine ? std::string_view::npos : at;
}

}  // namespace

size_t stray_toml_unicode(std::string_view text) {
  char inside = 0;     // the quote or '#' that was opened
  uint64_t depth = 0;  // of brackets and braces
  bool begins_line = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside == 0 && c == '[' && depth == 0 && begins_line) {
      if (const size_t stray = stray_in_header(text, i); stray != std::string_view::npos) return stray;
    }
    begins_line = c == '\n' || (begins_line && (c == ' ' || c == '\t' || c == '\r'));
    if (inside == 0 && (c == '[' || c == '{')) ++depth;
    if (inside == 0 && (c == ']' || c == '}') && depth != 0) --depth;
    if (inside == 0 && (c == '"' || c == '\'' || c == '#'))
      inside = c;
    else if (inside == '#')
      inside = c == '\n' ? 0 : '#';
    else if (inside == '"' && c == '\\')
      ++i;
    else if (inside != 0 && c == inside)
      inside = 0;
    else if (inside == 0 && static_cast<unsigned char>(c) >= 0x80)
      return i;
  }
  return std::string_view::npos;
}

}  // namespace drywell
