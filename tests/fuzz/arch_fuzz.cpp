// libFuzzer harness of architecture files: any text is an architecture or an InputError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drywell/core/error.h"
#include "drywell/sim/arch_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace drywell;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find(".toml") != std::string_view::npos) return 0;  // would read files
  try {
    (void)sim::describe(sim::parse_arch(text, "fuzz.toml"), false);
  } catch (const InputError&) {
  }
  return 0;
}
