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

/// Length of a sequence that Drywell itself writes (paint(), pictures) at the start of `text`; 0 if there is none. Others could hide text.
size_t colour_length(std::string_view text) {
  static constexpr std::string_view kPainted[] = {"\033[0m", "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[33m", "\033[36m"};
  for (const std::string_view p : kPainted) {
    if (text.starts_with(p)) return p.size();
  }
  constexpr std::string_view kBackground = "\033[48;5;", kBlackOnIt = "m\033[38;5;16m";
  constexpr size_t kMostDigits = 3;
  if (!text.starts_with(kBackground)) return 0;
  const size_t end = text.find_first_not_of("0123456789", kBackground.size());
  if (end == std::string_view::npos || end > kBackground.size() + kMostDigits || !text.substr(end).starts_with(kBlackOnIt)) return 0;
  return end + kBlackOnIt.size();
}

/// Length of the character at the start of `text` in UTF-8, the length of a lone byte too.
size_t character_length(std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  const size_t n = c < 0xC2 || c > 0xF4 ? 1 : c < 0xE0 ? 2
                                          : c < 0xF0   ? 3
                                                       : 4;
  for (size_t i = 1; i < n; ++i) {
    if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  }
  return n;
}

/// The character changes how a terminal shows those after it: C0, DEL, C1 as a byte or in UTF-8, marks of another direction and ends
/// of lines beyond ASCII.
bool is_control(std::string_view character) {
  static constexpr std::string_view kMarks[] = {"\u061C", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u202B", "\u202C", "\u202D", "\u202E", "\u2066", "\u2067", "\u2068", "\u2069"};
  const auto c = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return c != '\n' && c != '\t' && (c < 0x20 || (c >= 0x7F && c < 0xA0));
  return (c == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0) || std::find(std::begin(kMarks), std::end(kMarks), character) != std::end(kMarks);
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
    const size_t colour = colour_length(text), n = colour != 0 ? colour : character_length(text);
    const bool control = colour == 0 && is_control(text.substr(0, n));
    for (const char c : text.substr(0, n)) {
      if (control)
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
