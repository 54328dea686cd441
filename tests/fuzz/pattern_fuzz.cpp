// libFuzzer harness of regular expressions and of the debugger's conditions: the first line is the
// expression, the rest is searched.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drywell/core/error.h"
#include "drywell/core/pattern.h"
#include "sim/debug/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace drywell;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t line = std::min(text.find('\n'), text.size());
  try {
    (void)Pattern(text.substr(0, line)).finds(text.substr(line, 1 << 12));
  } catch (const PatternError&) {
  }
  try {
    (void)sim::Expression::parse(text);
  } catch (const InputError&) {
  }
  return 0;
}
