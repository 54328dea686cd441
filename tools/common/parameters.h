// Kernel parameters on a command line: options that the command itself does not declare.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"

namespace drywell::tools {

using Given = std::vector<std::pair<std::string, std::string>>;

/// Parses "--m=64 --fast --n 128" to pairs. A following word is a value unless the parameter is a flag. Throws
/// UsageError for words that are not options.
Given parse_parameters(const kernels::Kernel& k, const std::vector<std::string>& words,
                       std::string_view command);

/// Throws UsageError if there are words: a file has no parameters.
void expect_no_parameters(const std::vector<std::string>& words, std::string_view command);

/// Returns the kernel's parameters as help text, indented.
std::string describe_parameters(const kernels::Kernel& k);

/// Returns two command lines that run the kernel with its own defaults, on a machine that has its instructions. `subject`: its name as
/// the user wrote it.
std::vector<std::string> kernel_examples(const kernels::Kernel& k, std::string_view subject);

/// Returns "--m=64 --n=128": the parameters that the user set, in canonical form.
std::string print_given(const kernels::Params& p);

}  // namespace drywell::tools
