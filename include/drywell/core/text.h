// Small text helpers for messages. All functions depend on their arguments only and may be called at the same time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace drywell {

/// Number of insertions, deletions, substitutions and exchanges of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

/// What unlikeness() returns for a word that nobody meant.
inline constexpr size_t kUnlike = ~size_t{0};
/// How far `text` is from a name that its writer may have meant: 0 the same, 1 a begin that lacks one letter, 2 another begin of it, an
/// abbreviation or one slip of the finger, then more slips; kUnlike: another word.
size_t unlikeness(std::string_view text, std::string_view candidate);

/// The candidate that `text` was probably meant to be, or "": a slip of the finger (a third of its letters, fewer in short words), an
/// abbreviation ("fmt", "shuffle" for "shfl"), or the begin of a longer name. Numbers are not guessed: 96 is not 192, mxfp8 not mxf4.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

/// "did you mean 'x'?", "did you mean 'x' or 'y'?" for the nearest candidates, at most five, or "".
std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates);

/// "a, b, c"
std::string join(std::span<const std::string_view> parts, std::string_view separator = ", ");

/// Index of the first character beyond ASCII outside strings and comments of a TOML text, or of one that begins a table's
/// name and no key ("[:a]"), or npos. TOML 1.0 allows no such character there, and toml++ 3.3 has undefined behaviour on
/// some (found by fuzzing): call it before the parser.
size_t stray_toml_unicode(std::string_view text);

}  // namespace drywell
