#include "tools/common/build_description.h"

#include <fmt/format.h>

#include "generated/revision.h"

namespace drywell::tools {
namespace {

// clang's __VERSION__ names its packager, too: "Debian Clang 16.0.6 (15~deb12u1)".
std::string compiler() {
#ifdef __clang__
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}", __VERSION__);
#endif
}

}  // namespace

std::string build_description() { return fmt::format("{}, {}, {}", kRevision, DRYWELL_BUILD_TYPE, compiler()); }

}  // namespace drywell::tools
