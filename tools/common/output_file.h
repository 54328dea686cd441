// Output files of commands that take long.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace drywell::tools {

/// Before the work: throws InputError E4008 for the first of `paths` (empty: not asked for) that cannot be written.
void expect_writable(std::initializer_list<std::string> paths);

struct OutputOption {
  const char* option;
  const std::string& path;  // empty: not asked for; "-": standard output
};
/// Throws UsageError if two options of `command` name one file, by whatever names.
void expect_different(std::initializer_list<OutputOption> outputs, std::string_view command);

}  // namespace drywell::tools
