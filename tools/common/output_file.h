// Output files of long commands.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace drywell::tools {

/// Called before the work: throws InputError E4008 for the first of `paths` (empty: not requested) that cannot be
/// written.
void expect_writable(std::initializer_list<std::string> paths);

struct OutputOption {
  const char* option;
  const std::string& path;  // empty: not requested; "-": standard output
};
/// Throws UsageError if two options of `command` name the same file, also by different paths.
void expect_different(std::initializer_list<OutputOption> outputs, std::string_view command);

}  // namespace drywell::tools
