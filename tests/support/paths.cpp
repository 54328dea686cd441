#include "support/paths.h"

namespace drywell::test {

std::string source_path(std::string_view relative) { return DRYWELL_SOURCE_DIR "/" + std::string(relative); }

std::string binary_path() {
#ifdef DRYWELL_BINARY
  return DRYWELL_BINARY;
#else
  return {};
#endif
}

}  // namespace drywell::test
