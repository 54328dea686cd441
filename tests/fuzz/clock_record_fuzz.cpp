// libFuzzer harness of records of `drywell device run --clock` (`drywell device reclock`): any text is a record, which keeps its figures
// when it is renewed once more, or an InputError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "drywell/core/error.h"
#include "tools/clock_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace drywell;
  const tools::ClockAgain clock_again = [](const std::string&) { return std::vector<double>{7778, 8309}; };
  try {
    const tools::RenewedRecord once = tools::renewed_record({reinterpret_cast<const char*>(data), size}, "fuzz", clock_again);
    if (tools::renewed_record(once.text, "once", clock_again).changed != 0) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
