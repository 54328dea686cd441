#include "tools/common/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "drywell/core/error.h"

namespace drywell::tools {

TemporaryFolder::TemporaryFolder(const std::filesystem::path& stem) : path_(stem.string() + "XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) throw InputError(Code::E4008, fmt::format("{}: cannot be made: {}", path_, std::strerror(errno)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace drywell::tools
