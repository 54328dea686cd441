#include "sim/exec/wide.h"

namespace drywell::sim {

VectorLevel vector_level() {
#if defined(__x86_64__) && defined(__GNUC__)
  static const VectorLevel kLevel = [] {
    const auto all = [](auto... has) { return (... && (has != 0)); };
    if (!all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"), __builtin_cpu_supports("bmi"), __builtin_cpu_supports("bmi2")))
      return VectorLevel::baseline;
    const bool wide = all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512cd"), __builtin_cpu_supports("avx512bw"),
                          __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512vl"));
    return wide ? VectorLevel::avx512 : VectorLevel::avx2;
  }();
  return kLevel;
#else
  return VectorLevel::baseline;
#endif
}

}  // namespace drywell::sim
