#include "tools/common/output_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "drywell/core/files.h"
#include "tools/common/command.h"

namespace drywell::tools {

void expect_writable(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (!path.empty()) const PendingFile probe(path);
  }
}

void expect_different(std::initializer_list<OutputOption> outputs, std::string_view command) {
  namespace fs = std::filesystem;
  std::map<fs::path, const char*> taken;
  for (const auto& [option, path] : outputs) {
    if (path.empty() || path == "-") continue;
    std::error_code unknown;
    const fs::path file = fs::weakly_canonical(fs::absolute(path), unknown);
    const auto [other, fresh] = taken.try_emplace(unknown ? fs::path(path) : file, option);
    if (!fresh) throw UsageError(fmt::format("{} and {} would write the same file, {}", other->second, option, path), command);
  }
}

}  // namespace drywell::tools
