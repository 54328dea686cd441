#include "drywell/core/toml_text.h"

#include <algorithm>
#include <string>

#include "drywell/core/text.h"

namespace drywell {
namespace {

constexpr uint32_t kMostParts = 32;

/// Index behind the string that begins at `at`. One in single quotes or double quotes ends with its line, one in three of them does not.
size_t behind_string(std::string_view text, size_t at) {
  constexpr size_t kMostQuotesMore = 2;  // text may end with quotes before the three that close it
  const char quote = text[at];
  const std::string three(3, quote);
  const bool lines = text.substr(at, 3) == three;
  for (size_t i = at + (lines ? 3 : 1); i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (lines && text.substr(i, 3) == three) {
      i += 3;
      for (size_t more = 0; more < kMostQuotesMore && i < text.size() && text[i] == quote; ++more) ++i;
      return i;
    } else if (!lines && (text[i] == quote || text[i] == '\n')) {
      return i + 1;
    }
  }
  return text.size();
}

/// Index of the dot that makes a key too long, or npos. Numbers have one dot, and what stands between them ends a key.
size_t long_key(std::string_view text) {
  uint32_t dots = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = behind_string(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    dots = c == '.' ? dots + 1 : std::string_view("=,[]{}\n").find(c) == std::string_view::npos ? dots
                                                                                                : 0;
    if (dots >= kMostParts) return i;
    ++i;
  }
  return std::string_view::npos;
}

TomlProblem problem(std::string_view text, size_t at, std::string_view why) {
  return {static_cast<uint32_t>(1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n')), why};
}

}  // namespace

std::optional<TomlProblem> unreadable_toml(std::string_view text) {
  if (const size_t at = stray_toml_unicode(text); at != std::string_view::npos)
    return problem(text, at, "TOML has no such character here: beyond ASCII outside strings and comments, or at the beginning of a table's name");
  if (const size_t at = long_key(text); at != std::string_view::npos) return problem(text, at, "a key of more than 32 parts");
  return std::nullopt;
}

}  // namespace drywell
