#include "drywell/core/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <string>

#include "drywell/core/sizes.h"

namespace drywell {
namespace {

constexpr size_t kMostCharacters = 500, kMostNesting = 20;
constexpr uint64_t kMostCopies = 1000;  // of a part: the product of the counts in { }

/// Numbers behind a backslash and in braces: libstdc++ counts them in an int, past its end.
void check_numbers(std::string_view text) {
  constexpr size_t kMostDigits = 6;
  size_t digits = 0;
  bool number = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) number = c == '\\' || c == '{' || c == ',';
    digits = digit && number ? digits + 1 : 0;
    if (digits > kMostDigits) throw PatternError(fmt::format("a number of more than {} digits", kMostDigits));
  }
}

// libstdc++ compiles an expression recursively, one level per parenthesis, and copies what { } counts.
void check_bounds(std::string_view text) {
  if (text.size() > kMostCharacters)
    throw PatternError(fmt::format("longer than {} characters", kMostCharacters));
  size_t depth = 0, deepest = 0;
  uint64_t copies = 1, number = 0;
  bool counting = false;
  for (const char c : text) {
    if (c == '(') deepest = std::max(deepest, ++depth);
    if (c == ')' && depth != 0) --depth;
    if (c == '{') counting = true;
    if (counting && c >= '0' && c <= '9')
      number = std::min<uint64_t>(number * 10 + static_cast<uint64_t>(c - '0'), kMostCopies + 1);
    if (counting && (c == ',' || c == '}')) {
      copies = size_product(copies, std::max<uint64_t>(number, 1));
      number = 0;
    }
    if (c == '}') counting = false;
  }
  if (deepest > kMostNesting)
    throw PatternError(fmt::format("nested deeper than {} parentheses", kMostNesting));
  if (copies > kMostCopies)
    throw PatternError(fmt::format("its counts multiply to more than {}", kMostCopies));
}

std::regex compile(std::string_view text) {
  check_bounds(text);
  check_numbers(text);
  try {
    // __polynomial (libstdc++): all alternatives at once instead of one after the other, which takes
    // exponential time on (a*)*b and a stack frame per character. It refuses back-references.
    // A string of its own: libstdc++ looks at the character behind a '(' that is the last one, which is zero in a
    // string and anything behind a view (found by fuzzing).
    return std::regex(std::string(text), std::regex_constants::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error& e) {
    throw PatternError(e.what());
  }
}

}  // namespace

struct Pattern::Compiled {
  std::regex regex;
};

Pattern::Pattern(std::string_view text) : compiled_(std::make_shared<const Compiled>(compile(text))) {}

bool Pattern::finds(std::string_view text) const {
  return std::regex_search(text.begin(), text.end(), compiled_->regex);
}

}  // namespace drywell
