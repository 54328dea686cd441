#include "tools/common/other_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "drywell/core/error.h"
#include "tools/common/program_folder.h"
#include "tools/common/toolkit.h"

namespace drywell::tools {
namespace {

namespace fs = std::filesystem;

std::string name_of(std::string_view program) { return fmt::format("drywell-{}", program); }

/// Returns the program's file, or nothing.
fs::path find(const std::string& name) {
  const fs::path folder = program_folder();
  for (const fs::path& candidate : {folder / name, folder / "../libexec/drywell" / name}) {
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

/// Returns the program's file. Throws InputError E4311 if there is none.
fs::path find_for(std::string_view program, std::string_view command) {
  fs::path file = find(name_of(program));
  if (!file.empty()) return file;
  throw InputError(Code::E4311, fmt::format("'{}' is a command of the program {}, which is not beside this one", command, name_of(program)),
                   "tools/build.sh builds all programs; an installation has them in libexec/drywell");
}

}  // namespace

bool has_other_program(std::string_view program) { return !find(name_of(program)).empty(); }

std::string output_of_other_program(std::string_view program, const std::vector<std::string>& words) {
  const fs::path file = find_for(program, words.front());
  const ProcessResult r = run_program(file, words);
  if (r.exit_code != 0) throw InputError(Code::E4311, fmt::format("{} {}: exit code {}\n{}", file.string(), fmt::join(words, " "), r.exit_code, r.output));
  return r.output;
}

void start_other_program(std::string_view program, std::string_view command, char** argv) {
  const fs::path file = find_for(program, command);
  ::execv(file.c_str(), argv);
  throw InputError(Code::E4311, fmt::format("{}: cannot be run: {}", file.string(), std::strerror(errno)));
}

}  // namespace drywell::tools
