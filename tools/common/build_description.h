// Which build this is.
#pragma once

#include <string>

namespace drywell::tools {

/// Returns revision, build type and compiler: "1a2b3c4d5e6f, Release, g++ 12.2.0"; the revision ends in "+" if files were changed.
std::string build_description();

}  // namespace drywell::tools
