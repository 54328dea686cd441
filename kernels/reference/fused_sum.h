// Host references: one bf16 tensor-core dot product, D = C + sum of A[k] * B[k], as a single fused sum.
#pragma once

#include <cstdint>
#include <span>

namespace drywell::kernels::reference {

/// Computes kind::f16 with bf16 operands and an f32 accumulator on sm_100 (docs/facts/numerics.md §3.1 and §3.2: F = 25,
/// window floor 2^-133, result truncated to 24 bits). `a` and `b` have equal sizes, normally 16; every step is exact
/// integer work.
float fused_dot_bf16(std::span<const uint16_t> a, std::span<const uint16_t> b, float c);

}  // namespace drywell::kernels::reference
