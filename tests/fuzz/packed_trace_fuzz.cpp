// libFuzzer harness of compressed traces: any bytes in a file *.zst are a trace or an InputError.
#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "drywell/core/error.h"
#include "drywell/sim/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string path = "/dev/shm/drywell-fuzz-" + std::to_string(::getpid()) + ".trace.zst";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    (void)drywell::sim::read_trace(path);
  } catch (const drywell::InputError&) {
  }
  std::remove(path.c_str());
  return 0;
}
