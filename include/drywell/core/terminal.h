// Text for terminals: colours, and numbers with separators and units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace drywell {

enum class Colour : uint8_t { red, green, yellow, cyan, bold, dim };

/// Returns `text` in a colour if `on`, else unchanged.
std::string paint(std::string_view text, Colour colour, bool on);

/// True if the descriptor is a terminal that shows colours (TERM) and the user did not set NO_COLOR (no-color.org).
bool wants_colour(int fd);

/// Prints to stdout; a closed pipe ends the program quietly.
void print(std::string_view text);

/// Returns for example "1,234,567"
std::string with_commas(uint64_t n);
/// Returns for example "1.23 MB", decimal units
std::string with_unit(double value, std::string_view unit);

}  // namespace drywell
