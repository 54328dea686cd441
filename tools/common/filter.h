// --filter: a regular expression for names.
#pragma once

#include <string>
#include <string_view>

#include "drywell/core/pattern.h"

namespace drywell::tools {

/// Throws UsageError of `command` if `text` is no regular expression, or beyond the bounds of one.
Pattern filter_of(const std::string& text, std::string_view command);

}  // namespace drywell::tools
