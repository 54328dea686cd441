// CUTLASS's names of blockwise and groupwise GEMM kernels, taken apart: cutlass3x_sm100_tensorop_gemm_64x128f32xe4m3_…
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
  std::string epilogue, c, d;                  // types; C may be void
  std::array<uint32_t, 3> tile{}, cluster{};   // m, n, k; a cluster of 0 x 0: the launch says
  uint32_t stages = 0;                         // 0: automatic
  std::string layouts;                         // of A, B, and C with D: n column-major, t row-major
  uint32_t alignment = 0;                      // elements
  uint32_t cta_group = 0;                      // 1sm or 2sm; 0: not said
  std::string rest;                            // what follows
};

/// Throws InputError E2311 with the part that does not fit.
KernelName parse_kernel_name(std::string_view name);
/// What the name says, a line each, in the words of "Blockwise and Groupwise GEMM and Grouped GEMM on Blackwell",
/// section "Kernel Naming Convention".
std::vector<std::string> explain(const KernelName& n);
/// The kernel here that computes the same, as words for `drywell run`; or why there is none, after "none: ".
std::string equivalent(const KernelName& n);

}  // namespace drywell::kernels::blockwise
