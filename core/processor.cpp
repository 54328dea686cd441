// Compiled for the oldest x86-64 (CMakeLists.txt): no code here may need the instruction sets that it tests for.
#include "drywell/core/processor.h"

namespace drywell {

const char* missing_instructions() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("ssse3")) return "SSSE3";
  if (!__builtin_cpu_supports("sse4.1")) return "SSE4.1";
  if (!__builtin_cpu_supports("sse4.2")) return "SSE4.2";
  if (!__builtin_cpu_supports("popcnt")) return "POPCNT";
#endif
  return nullptr;
}

}  // namespace drywell
