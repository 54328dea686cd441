#include "drywell/core/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace drywell {

std::string paint(std::string_view text, Colour colour, bool on) {
  static constexpr std::string_view kCodes[] = {"31", "32", "33", "36", "1", "2"};
  if (!on) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<size_t>(colour)], text);
}

bool wants_colour(int fd) {
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(fd) != 0 && (no == nullptr || *no == '\0') && term != nullptr &&
         std::string_view(term) != "dumb";
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string with_commas(uint64_t n) {
  std::string digits = fmt::format("{}", n);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string with_unit(double value, std::string_view unit) {
  static constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t p = 0;
  for (; value >= 1000 && p + 1 < std::size(kPrefixes); ++p) value /= 1000;
  return fmt::format("{:.3g} {}{}", value, kPrefixes[p], unit);
}

}  // namespace drywell
