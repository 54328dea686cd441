// Floating-point environment of the exact kernels and the window kernels: the rounding, and the flags that report a rounded operation.
// Kernels are called through function pointers, so that the compiler cannot move arithmetic out of the scope. Private to
// sim/numeric.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace drywell::numeric {

/// The exact kernels round toward zero, the window kernels down.
enum class KernelRounding : uint8_t {
  toward_zero,
  down
};

/// Takes effect with reset(); the destructor restores the caller's environment.
class ExactRounding {
 public:
#if defined(__x86_64__)
  ExactRounding() : saved_(_mm_getcsr()) {}
  ~ExactRounding() { _mm_setcsr(saved_); }
  /// Sets the rounding and clears the flags.
  void reset(KernelRounding r = KernelRounding::toward_zero) { _mm_setcsr((saved_ & ~(kFlags | kTowardZero)) | (r == KernelRounding::down ? kDown : kTowardZero)); }
  /// True if an operation rounded, overflowed or was invalid since the last reset.
  bool inexact() const { return (_mm_getcsr() & kFlags & ~kDenormalOperand) != 0; }
  /// Restores the caller's rounding until the next reset.
  void restore() { _mm_setcsr(saved_); }

 private:
  static constexpr unsigned kFlags = 0x3F, kDenormalOperand = 0x02, kTowardZero = 0x6000, kDown = 0x2000;
  unsigned saved_;
#else
  ExactRounding() { std::fegetenv(&saved_); }
  ~ExactRounding() { std::fesetenv(&saved_); }
  void reset(KernelRounding r = KernelRounding::toward_zero) {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::fesetround(r == KernelRounding::down ? FE_DOWNWARD : FE_TOWARDZERO);
  }
  bool inexact() const { return std::fetestexcept(FE_ALL_EXCEPT) != 0; }
  void restore() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
 public:
  ExactRounding(const ExactRounding&) = delete;
  ExactRounding& operator=(const ExactRounding&) = delete;
};

}  // namespace drywell::numeric
