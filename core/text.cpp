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

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  // 96 is not 192 with a slip of the finger.
  if (std::all_of(text.begin(), text.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; })) return {};
  std::string_view best;
  size_t least = std::max<size_t>(2, text.size() / 3) + 1;
  for (const std::string_view c : candidates) {
    const size_t d = edit_distance(text, c);
    if (d < least && d < c.size()) {
      least = d;
      best = c;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates) {
  const std::string_view best = nearest(text, candidates);
  return best.empty() ? std::string() : "did you mean '" + std::string(best) + "'?";
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
