// libFuzzer harness of layout expressions: any text is a value or an InputError, within the limits of E1808.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drywell/core/error.h"
#include "drywell/isa/layout/expression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace drywell;
  try {
    (void)layout::evaluate({reinterpret_cast<const char*>(data), size});
  } catch (const InputError&) {
  }
  return 0;
}
