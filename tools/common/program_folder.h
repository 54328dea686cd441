// The folder that this program was started from.
#pragma once

#include <filesystem>

namespace drywell::tools {

/// Returns the folder of the running program's file: that which `link` names or, where it cannot be read (a root without /proc), that
/// which the kernel was told to run.
std::filesystem::path program_folder(const std::filesystem::path& link = "/proc/self/exe");

}  // namespace drywell::tools
