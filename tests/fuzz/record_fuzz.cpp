// libFuzzer harness of records of a device: results of probes, times of microbenchmarks and launches, surveys, and the
// words that repeat a run. Times of launches print as text that reads back as itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "conformance/microbench/record.h"
#include "conformance/silicon/record.h"
#include "conformance/survey/survey.h"
#include "drywell/core/error.h"
#include "kernels/registry.h"
#include "launch/golden.h"
#include "launch/launch_times.h"

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
  using namespace drywell::kernels;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] { (void)silicon::parse_record(text, "fuzz"); });
  attempt([&] { (void)microbench::parse_record(text, "fuzz"); });
  attempt([&] { (void)survey::parse_survey(text, "fuzz"); });
  attempt([&] {
    const std::string printed = print_launch_record(parse_launch_record(text, "fuzz.csv"));
    try {
      if (print_launch_record(parse_launch_record(printed, "printed.csv")) != printed) std::abort();
    } catch (const drywell::InputError&) {  // times below what is printed
      if (printed.find(",0.0,") == std::string::npos) std::abort();
    }
  });
  attempt([&] { (void)RunSpec::parse(text, all_kernels()); });
  return 0;
}
