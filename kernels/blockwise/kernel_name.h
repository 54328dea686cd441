// Parser for CUTLASS's names of blockwise and groupwise GEMM kernels: cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_…
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drywell::kernels::blockwise {

/// "<scale granularity>x<scale granularity k><accumulator type>x<scaled tensor type>"
struct ScaledTensor {
  uint32_t granularity_mn = 0, granularity_k = 0;
  std::string scale_type, element;
};

struct KernelName {
  std::string family;   // cutlass3x
  uint32_t sm = 0;      // 100
  std::string core;     // tensorop
  std::string problem;  // gemm, gemm_grouped
  ScaledTensor a, b;
  std::string epilogue, c, d;                 // types; C may be void
  std::array<uint32_t, 3> tile{}, cluster{};  // m, n, k; a cluster of 0 x 0: set at launch
  uint32_t stages = 0;                        // 0: automatic
  std::string layouts;                        // of A, B, and C with D: n column-major, t row-major
  uint32_t alignment = 0;                     // elements
  uint32_t cta_group = 0;                     // 1sm or 2sm; 0: not in the name
  std::string rest;                           // the text after these parts
};

/// Throws InputError E2311 with the part that does not fit.
KernelName parse_kernel_name(std::string_view name);
/// Returns the properties in the name, one per line, in CUTLASS's words.
std::vector<std::string> explain(const KernelName& n);
/// Returns the kernel here that computes the same, as words for `drywell run`; or "none: " and the reason why there is
/// none.
std::string equivalent(const KernelName& n);

}  // namespace drywell::kernels::blockwise
