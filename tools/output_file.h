// Output files of commands that take long.
#pragma once

#include <initializer_list>
#include <string>

namespace drywell::tools {

/// Before the work: throws InputError E4008 for the first of `paths` (empty: not asked for) that cannot be written.
void expect_writable(std::initializer_list<std::string> paths);

}  // namespace drywell::tools
