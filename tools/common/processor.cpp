// Compiled for the oldest x86-64 (tools/CMakeLists.txt): no code here may need the instruction sets that it tests for, so there are no strings or streams.
#include "tools/common/processor.h"

#include <unistd.h>

#include <cstring>

#include "drywell/core/error.h"

namespace drywell::tools {
namespace {

void say(const char* text) { [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, std::strlen(text)); }

/// Returns the name of an instruction set that the processor lacks, or null.
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

// 101: the first number that is not the compiler's own; initialisers without a number come later.
[[gnu::constructor(101)]] void check_processor() { require_processor(); }

}  // namespace

void require_processor() {
  const char* missing = missing_instructions();
  if (missing == nullptr) return;
  say("drywell: this processor has no ");
  say(missing);
  say("; Drywell's programs are compiled for x86-64-v2 (processors since about 2009)\n");
  ::_exit(static_cast<int>(ExitCode::unavailable));
}

}  // namespace drywell::tools
