// Compiled for the oldest x86-64 (tools/CMakeLists.txt): no code here may need the instruction sets that it tests for, so there are no strings or streams.
#include "tools/common/processor.h"

#include <unistd.h>

#include <cstring>

#include "drywell/core/error.h"
#include "drywell/core/processor.h"

namespace drywell::tools {
namespace {

void say(const char* text) { [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, std::strlen(text)); }

// 101: the first number that is not the compiler's own; initialisers without a number come later.
[[gnu::constructor(101)]] void check_processor() { require_processor(); }

}  // namespace

void require_processor() {
  const char* missing = missing_instructions();
  if (missing == nullptr) return;
  say("drywell: this processor has no ");
  say(missing);
  say(kNeededProcessor);
  say("\n");
  ::_exit(static_cast<int>(ExitCode::unavailable));
}

}  // namespace drywell::tools
