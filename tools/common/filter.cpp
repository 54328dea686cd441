#include "tools/common/filter.h"

#include <fmt/format.h>

#include "tools/common/command.h"

namespace drywell::tools {

Pattern filter_of(const std::string& text, std::string_view command) {
  try {
    return Pattern(text);
  } catch (const PatternError& e) {
    constexpr size_t kShown = 60;
    throw UsageError(fmt::format("--filter '{}{}' is no regular expression: {}", text.substr(0, kShown),
                                 text.size() > kShown ? "…" : "", e.what()),
                     command);
  }
}

}  // namespace drywell::tools
