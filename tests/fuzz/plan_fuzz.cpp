// libFuzzer harness of launch files and of the words in them: any text is a plan or an InputError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drywell/core/error.h"
#include "launch/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace drywell;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("file:") != std::string_view::npos) return 0;  // would read files
  try {
    const kernels::LaunchPlan plan = kernels::parse_launch_file(text, "fuzz.toml");
    for (const kernels::BufferSpec& b : plan.buffers) {
      if (!b.type.empty()) (void)b.bytes();
    }
  } catch (const InputError&) {
  }
  Diagnostics out;
  kernels::LaunchPlan plan;
  kernels::BufferSpec buffer;
  kernels::MapSpec map;
  kernels::ArgSpec arg;
  kernels::ExpectSpec expect;
  Dim3 extent;
  kernels::parse_buffer("b", text, buffer, out);
  kernels::parse_map("m", text, map, out);
  kernels::parse_arg(text, plan, arg, out);
  kernels::parse_expect("e", text, expect, out);
  kernels::parse_dim3(text, extent);
  return 0;
}
