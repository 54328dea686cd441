// Operands for the benchmarks of matrix instructions, as in a real problem: normally distributed values in the upper part of
// each format's range.
#pragma once

#include <string>
#include <vector>

#include "conformance/programs/tensor_case.h"
#include "drywell/sim/numeric/mma.h"

namespace drywell::bench {

/// One kind of instruction as the benchmarks run it: M = 128, N = 256.
struct UmmaKind {
  const char* name;  // of the benchmark
  const char* kind;  // PTX's
  const char* type;  // of A and B
  const char* d_type = "f32";
  const char* scale_type = "";
  unsigned factors = 0;
};

inline constexpr UmmaKind kUmmaKinds[] = {
    {"nvf4", "mxf4nvf4", "e2m1", "f32", "ue4m3", 4},
    {"mxf4", "mxf4", "e2m1", "f32", "ue8m0", 2},
    {"mxf8_e4m3", "mxf8f6f4", "e4m3", "f32", "ue8m0", 1},
    {"f8_e4m3", "f8f6f4", "e4m3"},
    {"f8_e5m2", "f8f6f4", "e5m2"},
    {"f6_e2m3", "f8f6f4", "e2m3"},
    {"f16", "f16", "f16"},
    {"f16_f16", "f16", "f16", "f16"},
    {"bf16", "f16", "bf16"},
    {"tf32", "tf32", "tf32"},
    {"i8", "i8", "s8", "s32"},
};

kernels::conformance::MmaCase umma_case(const UmmaKind& kind);
/// Matrices of one instruction; `seed` differs between the instructions of a sum.
kernels::conformance::MmaData umma_data(const kernels::conformance::MmaCase& c, uint64_t seed);

}  // namespace drywell::bench
