// Kernel parameters on a command line: options the command itself does not know.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"

namespace drywell::tools {

using Given = std::vector<std::pair<std::string, std::string>>;

/// "--m=64 --fast --n 128" as pairs. A following word is a value unless the parameter is a flag. Throws
/// UsageError for words that are no option.
Given parse_parameters(const kernels::Kernel& k, const std::vector<std::string>& words,
                       std::string_view command);

/// The kernel's parameters as help text, indented.
std::string describe_parameters(const kernels::Kernel& k);

/// "--m=64 --n=128": those the user set, canonical.
std::string print_given(const kernels::Params& p);

}  // namespace drywell::tools
