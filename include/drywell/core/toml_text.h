// TOML texts that toml++ 3.3 does not survive.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace drywell {

/// A place of a TOML text that must not come to the parser.
struct TomlProblem {
  uint32_t line = 1;     // from 1
  std::string_view why;  // for a message
};

/// The first such place: a character that TOML 1.0 allows nowhere there (stray_toml_unicode), or a key of more than 32 parts
/// ("a.a.a…"), whose tables the parser leaves by recursion. Call it before the parser.
std::optional<TomlProblem> unreadable_toml(std::string_view text);

}  // namespace drywell
