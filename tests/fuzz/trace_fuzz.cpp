// libFuzzer harness of trace text: its header, the comparison with itself, the export and the picture.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "drywell/core/error.h"
#include "drywell/sim/trace.h"
#include "drywell/sim/trace_export.h"

namespace {

template <class F>
void attempt(F f) {
  try {
    f();
  } catch (const drywell::InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace drywell::sim;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    if (!diff_traces(text, text).equal()) std::abort();
  });
  attempt([&] { trace_to_perfetto(text, "fuzz"); });
  attempt([&] { trace_to_csv(text, "fuzz"); });
  attempt([&] { trace_timeline(text, "fuzz", {}); });
  return 0;
}
