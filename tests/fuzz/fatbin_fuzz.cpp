// libFuzzer harness of fat binaries, of the images in them and of LZ4 blocks.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cudart/cubin.h"
#include "cudart/fatbin.h"
#include "cudart/lz4.h"
#include "drywell/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace drywell;
  try {
    for (const cudart::FatbinImage& i : cudart::read_fatbin(data, size)) {
      (void)i.target();
      try {
        (void)i.ptx();
      } catch (const InputError&) {  // an image may be damaged, and the next one not
      }
    }
  } catch (const InputError&) {
  }
  (void)cudart::enveloped_ptx(data, size);
  if (size > 3)
    (void)cudart::lz4_block(std::span(data + 3, size - 3), data[0] | data[1] << 8 | data[2] << 16);
  return 0;
}
