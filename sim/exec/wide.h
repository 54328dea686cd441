// Lane loops compiled for vectors wider than the baseline's, and the selection among them when a kernel is decoded. A wide version is
// a separate function with all callees of its handler inlined (flatten). A callee that cannot be inlined is called in its baseline
// version, so every inline function of a shared header is compiled only for instructions that all processors can run. No
// version contracts or reorders arithmetic: the results are the same bits (tests/exec/wide_test.cpp).
#pragma once

#include "sim/state/program.h"

namespace drywell::sim {

enum class VectorLevel : uint8_t {
  baseline,
  avx2,
  avx512
};

/// Vector level of the host processor. AVX-512 counts only if it has all the extensions of x86-64-v4.
VectorLevel vector_level();

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
template <ExecFn Fn>
[[gnu::target("avx2,fma,f16c,bmi,bmi2,lzcnt"), gnu::flatten]] Effect avx2_version(Warp& w, const DecodedOp& op, LaneMask mask) {
  return Fn(w, op, mask);
}
template <ExecFn Fn>
[[gnu::target("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,lzcnt,prefer-vector-width=512"), gnu::flatten]] Effect avx512_version(
    Warp& w, const DecodedOp& op, LaneMask mask) {
  return Fn(w, op, mask);
}
/// The version of a handler to bind.
template <ExecFn Fn>
ExecFn widest() {
  switch (vector_level()) {
    case VectorLevel::avx512: return avx512_version<Fn>;
    case VectorLevel::avx2: return avx2_version<Fn>;
    case VectorLevel::baseline: break;
  }
  return Fn;
}
#else
template <ExecFn Fn>
ExecFn widest() {
  return Fn;
}
#endif

}  // namespace drywell::sim
