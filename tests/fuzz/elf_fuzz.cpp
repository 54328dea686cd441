// libFuzzer harness of the reader of executables.
#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/elf_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (const auto program = drywell::tools::parse_elf(std::as_bytes(std::span(data, size))))
    (void)program->needs("libcudart.so");
  return 0;
}
