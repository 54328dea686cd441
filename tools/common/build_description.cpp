#include "tools/common/build_description.h"

#include <fmt/format.h>

#include "generated/revision.h"

namespace drywell::tools {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = "clang";
#else
constexpr const char* kCompiler = "g++";
#endif

}  // namespace

std::string build_description() { return fmt::format("{}, {}, {} {}", kRevision, DRYWELL_BUILD_TYPE, kCompiler, __VERSION__); }

}  // namespace drywell::tools
