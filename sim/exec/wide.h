// Lane loops compiled for wider vectors than the baseline has, and the choice among them when a kernel is decoded. A wide
// version is a function of its own that takes in everything its handler calls (flatten); what cannot be taken in is called as
// the baseline compiled it, so no inline function of a shared header exists in a version some processor cannot run. No
// version contracts or reorders arithmetic: the results are the same bits (tests/exec/wide_test.cpp).
#pragma once

#include "sim/state/program.h"

namespace drywell::sim {

enum class VectorLevel : uint8_t { baseline, avx2, avx512 };

/// What this processor has. Without AVX-512 in full, as x86-64-v4 has it, that counts for nothing.
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
