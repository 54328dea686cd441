#include "tools/common/program_folder.h"

#include <sys/auxv.h>

namespace drywell::tools {

namespace fs = std::filesystem;

fs::path program_folder(const fs::path& link) {
  std::error_code failed;
  fs::path file = fs::read_symlink(link, failed);
  if (failed) file = fs::weakly_canonical(reinterpret_cast<const char*>(::getauxval(AT_EXECFN)), failed);
  return file.parent_path();
}

}  // namespace drywell::tools
