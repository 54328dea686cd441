#include "drywell/core/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Length of the colour sequence (ESC [ numbers m) at the start of `text`; 0 if there is none.
size_t colour_length(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  size_t n = 2;
  while (n < text.size() && (is_digit(text[n]) || text[n] == ';')) ++n;
  return n < text.size() && text[n] == 'm' ? n + 1 : 0;
}

/// Length of the control character at the start of `text`: C0, DEL, or C1 in UTF-8; 0 if there is none.
size_t control_length(std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  if (c == '\n' || c == '\t') return 0;
  if (c < 0x20 || c == 0x7F) return 1;
  const bool c1 = c == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) >= 0x80 &&
                  static_cast<unsigned char>(text[1]) < 0xA0;
  return c1 ? 2 : 0;
}

void print_to(std::FILE* file, std::string_view text) {
  if (::isatty(::fileno(file)) == 0) {
    std::fwrite(text.data(), 1, text.size(), file);
    return;
  }
  const std::string shown = without_controls(text);
  std::fwrite(shown.data(), 1, shown.size(), file);
}

}  // namespace

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t colour = colour_length(text), control = colour == 0 ? control_length(text) : 0;
    const size_t n = std::max<size_t>({colour, control, 1});
    for (const char c : text.substr(0, n)) {
      if (control != 0)
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      else
        out += c;
    }
    text.remove_prefix(n);
  }
  return out;
}

void print(std::string_view text) { print_to(stdout, text); }
void print_error(std::string_view text) { print_to(stderr, text); }

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
