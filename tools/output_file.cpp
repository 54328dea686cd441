#include "tools/output_file.h"

#include "drywell/core/files.h"

namespace drywell::tools {

void expect_writable(std::initializer_list<std::string> paths) {
  for (const std::string& path : paths) {
    if (!path.empty()) const PendingFile probe(path);
  }
}

}  // namespace drywell::tools
