// libFuzzer harness of the .npy reader: any bytes give an array or an InputError; an array writes and reads back as itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "drywell/core/error.h"
#include "drywell/core/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace drywell;
  try {
    const NpyArray a = parse_npy(std::as_bytes(std::span(data, size)), "fuzz.npy");
    const NpyArray again = parse_npy(format_npy(a), "again.npy");
    if (again.dtype != a.dtype || again.shape != a.shape) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
