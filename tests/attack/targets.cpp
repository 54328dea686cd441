#include "targets.h"

#include <algorithm>
#include <string_view>

#include "tests/fuzz/seeds.h"

// Each harness is LLVMFuzzerTestOneInput of its file; here they have names of their own (CMakeLists.txt).
extern "C" {
int drywell_fuzz_parse(const uint8_t*, size_t);
int drywell_fuzz_execute(const uint8_t*, size_t);
int drywell_fuzz_plan(const uint8_t*, size_t);
int drywell_fuzz_npy(const uint8_t*, size_t);
int drywell_fuzz_arch(const uint8_t*, size_t);
int drywell_fuzz_trace(const uint8_t*, size_t);
int drywell_fuzz_packed_trace(const uint8_t*, size_t);
int drywell_fuzz_record(const uint8_t*, size_t);
int drywell_fuzz_fatbin(const uint8_t*, size_t);
int drywell_fuzz_elf(const uint8_t*, size_t);
int drywell_fuzz_dap(const uint8_t*, size_t);
int drywell_fuzz_layout(const uint8_t*, size_t);
int drywell_fuzz_pattern(const uint8_t*, size_t);
int drywell_fuzz_clock_record(const uint8_t*, size_t);
int drywell_fuzz_report(const uint8_t*, size_t);
int drywell_fuzz_runtime_archive(const uint8_t*, size_t);
int drywell_fuzz_tensor_map(const uint8_t*, size_t);
int drywell_fuzz_shell(const uint8_t*, size_t);
}

namespace drywell::attack {
namespace {

struct Row {
  const char* name;
  const char* fuzzer;
  int (*run)(const uint8_t* data, size_t size);
  bool binary = false;
};
constexpr Row kRows[] = {{"ptx", "parse", drywell_fuzz_parse},
                         {"execution", "execute", drywell_fuzz_execute},
                         {"launch files", "plan", drywell_fuzz_plan},
                         {"npy", "npy", drywell_fuzz_npy, true},
                         {"architectures", "arch", drywell_fuzz_arch},
                         {"traces", "trace", drywell_fuzz_trace},
                         {"packed traces", "packed_trace", drywell_fuzz_packed_trace, true},
                         {"records", "record", drywell_fuzz_record},
                         {"clock records", "clock_record", drywell_fuzz_clock_record},
                         {"reports", "report", drywell_fuzz_report},
                         {"fat binaries", "fatbin", drywell_fuzz_fatbin, true},
                         {"executables", "elf", drywell_fuzz_elf, true},
                         {"runtimes", "runtime_archive", drywell_fuzz_runtime_archive, true},
                         {"tensor maps", "tensor_map", drywell_fuzz_tensor_map, true},
                         {"debug adapter", "dap", drywell_fuzz_dap},
                         {"debugger", "shell", drywell_fuzz_shell},
                         {"layouts", "layout", drywell_fuzz_layout},
                         {"patterns", "pattern", drywell_fuzz_pattern}};

}  // namespace

std::vector<Target> all_targets() {
  const std::vector<Seeds> seeds = all_seeds();
  std::vector<Target> all;
  for (const Row& r : kRows) {
    const auto of = std::find_if(seeds.begin(), seeds.end(), [&](const Seeds& s) { return std::string_view(s.fuzzer) == r.fuzzer; });
    all.push_back({r.name, r.run, r.binary, of->inputs});
  }
  return all;
}

}  // namespace drywell::attack
