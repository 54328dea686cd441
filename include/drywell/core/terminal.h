// Text for terminals: colours, and numbers with separators and units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace drywell {

/// Colours and styles of a terminal's text.
enum class Colour : uint8_t {
  red,
  green,
  yellow,
  cyan,
  bold,
  dim
};

/// Returns `text` in a colour if `on`, else unchanged.
std::string paint(std::string_view text, Colour colour, bool on);

/// True if the descriptor is a terminal that shows colours (TERM) and the user did not set NO_COLOR (no-color.org).
bool wants_colour(int fd);

/// Returns `text` with every control character written as \x1b, \xc2\x9b and so on, except line feeds, tabs and well-formed colour
/// sequences: names, paths and what a kernel prints come from outside, and could otherwise control the terminal.
std::string without_controls(std::string_view text);

/// Prints to stdout, without_controls if that is a terminal; a closed pipe ends the program quietly.
void print(std::string_view text);
/// Prints to stderr, without_controls if that is a terminal.
void print_error(std::string_view text);

/// Returns for example "1,234,567"
std::string with_commas(uint64_t n);
/// Returns for example "1.23 MB", decimal units
std::string with_unit(double value, std::string_view unit);

}  // namespace drywell
