// libFuzzer harness of JSON reports of runs (`drywell compare`): any text is a report, whose comparisons can be printed, or an InputError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "drywell/core/error.h"
#include "tools/common/report_parts.h"
#include "tools/run_comparison.h"

namespace {

using namespace drywell::tools;

constexpr size_t kMostRows = 12;

void print_all(const RunComparison& c) {
  (void)comparison_text(c, kMostRows);
  (void)comparison_page(c, kMostRows);
  (void)print_json(comparison_json(c));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ReportedRun kOther = parse_report(R"({"launches": [{"kernel": "a", "cycles": 100, "lines": [{"file": "a.cu", "line": 3, "cycles": 7}]}, {"kernel": "b"}]})", "other");
  try {
    const ReportedRun run = parse_report({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (compare_runs(run, run).worse_than(0)) std::abort();
    print_all(compare_runs(run, kOther));
    print_all(compare_runs(kOther, run));
  } catch (const drywell::InputError&) {
  }
  return 0;
}
