// Selection of one word of a list on a command line.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drywell/core/whole_number.h"
#include "tools/common/command.h"

namespace drywell::tools {

/// Returns the value named `word`; throws UsageError with all names otherwise. `what`: "swizzle"; `command`: the
/// command whose --help the error names.
template <class E, size_t N>
E choose(std::string_view word, const std::pair<std::string_view, E> (&names)[N], std::string_view what, std::string_view command) {
  std::string known;
  for (const auto& [name, value] : names) {
    if (name == word) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
  }
  throw UsageError(fmt::format("no {} '{}': one of {}", what, word, known), command);
}

/// Parses numbers between 'x' or ',' ("128x64", "0x10,3"); throws UsageError unless there are `least` to `most` of
/// them.
inline std::vector<int64_t> numbers(std::string_view text, size_t least, size_t most, std::string_view what, std::string_view command) {
  std::vector<int64_t> out;
  const char separator = text.find(',') != std::string_view::npos ? ',' : 'x';
  std::string_view rest = text;
  bool ok = !text.empty();
  while (ok && !rest.empty()) {
    const bool negative = rest.front() == '-', hex = rest.substr(negative ? 1 : 0).starts_with("0x") && separator == ',';
    rest.remove_prefix((negative ? 1 : 0) + (hex ? 2 : 0));
    const std::optional<int64_t> v = rest.starts_with('-') ? std::nullopt : leading_number<int64_t>(rest, hex ? 16 : 10);
    ok = v.has_value();
    out.push_back(negative ? -v.value_or(0) : v.value_or(0));
    if (!rest.empty()) ok = ok && rest.front() == separator && rest.size() > 1;
    if (!rest.empty()) rest.remove_prefix(1);
  }
  if (!ok || out.size() < least || out.size() > most) throw UsageError(fmt::format("'{}' is not {}", text, what), command);
  return out;
}

/// Parses a number of up to 64 bits, decimal or 0x….
inline uint64_t word64(std::string_view text, std::string_view command) {
  const std::optional<uint64_t> v = whole_number_or_hex<uint64_t>(text);
  if (!v.has_value()) throw UsageError(fmt::format("'{}' is not a number", text), command);
  return *v;
}

}  // namespace drywell::tools
