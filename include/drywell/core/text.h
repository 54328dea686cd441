// Small text helpers for messages. All functions depend on their arguments only and may be called at the same time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace drywell {

/// Number of insertions, deletions, substitutions and exchanges of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `text`, or "" if none is near enough (a third of its length, at least two edits).
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

/// "did you mean 'x'?" for the nearest candidate, or "".
std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates);

/// "a, b, c"
std::string join(std::span<const std::string_view> parts, std::string_view separator = ", ");

/// Index of the first character beyond ASCII outside strings and comments of a TOML text, or of one that begins a table's
/// name and no key ("[:a]"), or npos. TOML 1.0 allows no such character there, and toml++ 3.3 has undefined behaviour on
/// some (found by fuzzing): call it before the parser.
size_t stray_toml_unicode(std::string_view text);

}  // namespace drywell
