// Numbers in text that comes from outside: files, options, environment variables, words that a person types. Unlike std::stod, strtol,
// sscanf and streams, it throws nothing, reads no locale, wraps nothing, and takes no text of which a part is no number. The functions
// depend on their arguments only and may be called at the same time.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace drywell {

/// The number that all of `text` is, or nothing: not for an empty text, blanks, a '+', and what T does not hold. Integers of `base`;
/// floating-point numbers decimal, with an exponent or without, inf and nan among them.
template <class T>
std::optional<T> whole_number(std::string_view text, int base = 10) {
  T value{};
  const char* const last = text.data() + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<T>)
    read = std::from_chars(text.data(), last, value);
  else
    read = std::from_chars(text.data(), last, value, base);
  return read.ec == std::errc() && read.ptr == last ? std::optional<T>(value) : std::nullopt;
}

/// As above; "0x" begins a hexadecimal number. No sign goes before it.
template <class T>
std::optional<T> whole_number_or_hex(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (!hex) return whole_number<T>(text);
  if (text.substr(2).starts_with('-')) return std::nullopt;
  return whole_number<T>(text.substr(2), 16);
}

/// Takes the number that `text` begins with away from it; nothing, and `text` as it was, if it begins with none or T does not hold it.
template <class T>
std::optional<T> leading_number(std::string_view& text, int base = 10) {
  T value{};
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<T>)
    read = std::from_chars(text.data(), text.data() + text.size(), value);
  else
    read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return value;
}

}  // namespace drywell
