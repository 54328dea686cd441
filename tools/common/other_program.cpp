#include "tools/common/other_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "drywell/core/error.h"

namespace drywell::tools {
namespace {

namespace fs = std::filesystem;

/// Returns the program's file, or nothing.
fs::path find(const std::string& name) {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  for (const fs::path& candidate : {folder / name, folder / "../libexec/drywell" / name}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

}  // namespace

void start_other_program(std::string_view program, std::string_view command, char** argv) {
  const std::string name = fmt::format("drywell-{}", program);
  const fs::path file = find(name);
  if (file.empty()) {
    throw InputError(Code::E4311, fmt::format("'{}' is a command of the program {}, which is not beside this one", command, name),
                     "tools/build.sh builds all programs; an installation has them in libexec/drywell");
  }
  ::execv(file.c_str(), argv);
  throw InputError(Code::E4311, fmt::format("{}: cannot be run: {}", file.string(), std::strerror(errno)));
}

}  // namespace drywell::tools
