#include "tools/common/build_description.h"

#include <fmt/format.h>

#include <string_view>

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

/// The header's "4eb1f3+" is a revision with changes that are not committed.
std::string revision() {
  const std::string_view r = kRevision;
  if (r.starts_with("unknown")) return std::string(r);
  return r.ends_with('+') ? fmt::format("revision {} with local changes", r.substr(0, r.size() - 1)) : fmt::format("revision {}", r);
}

}  // namespace

std::string build_description() { return fmt::format("{}, {} build, {}", revision(), DRYWELL_BUILD_TYPE, compiler()); }

}  // namespace drywell::tools
