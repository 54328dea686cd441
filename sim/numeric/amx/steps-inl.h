// Single instructions of the tile unit, and a pipeline that computes the sums of a block while the previous block is used. Only
// for files that are compiled for processors with the unit (cmake/amx.cmake).
#pragma once

#include <immintrin.h>

#include <utility>

#include "sim/numeric/amx/unit.h"

namespace drywell::numeric {
namespace {

template <int kTile>
inline void load_tile(const uint8_t* tile) {
  const auto& bytes = *reinterpret_cast<const uint8_t(*)[kTileBytes]>(tile);
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(tile), "r"(size_t{64}), "i"(kTile), "m"(bytes));
}
constexpr unsigned kTileFloats = kTileBytes / 4;
template <int kTile>
inline void store_tile(float* sums) {
  auto& floats = *reinterpret_cast<float(*)[kTileFloats]>(sums);
  __asm__ volatile("tilestored %%tmm%c3, (%1,%2,1)"
                   : "=m"(floats)
                   : "r"(sums), "r"(size_t{64}), "i"(kTile));
}
template <int kTile>
inline void zero_tile() {
  __asm__ volatile("tilezero %%tmm%c0" ::"i"(kTile));
}
/// sum += rows * lanes, in bf16.
template <int kSum, int kRows, int kLanes>
inline void multiply_tiles() {
  __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kRows), "i"(kLanes));
}

/// Sets the processor's inexact flag if a value is not an integer. Values too large for the conversion are integers and set
/// another flag.
inline void flag_fractions(__m512 v) {
  __m512i whole;
  __asm__ volatile("vcvttps2dq %1, %0"
                   : "=v"(whole)
                   : "v"(v));
}
/// Reports whether an operation was rounded since the last call of any(); the destructor restores the caller's flags. Other
/// arithmetic in between must suppress exceptions (_MM_FROUND_NO_EXC).
class FractionFlags {
 public:
  FractionFlags() : saved_(get()) { set(saved_ & ~kFlags); }
  ~FractionFlags() { set(saved_); }
  FractionFlags(const FractionFlags&) = delete;
  FractionFlags& operator=(const FractionFlags&) = delete;
  bool any() {
    if ((get() & kInexact) == 0) return false;
    set(saved_ & ~kFlags);
    return true;
  }

 private:
  static constexpr unsigned kFlags = 0x3F, kInexact = 0x20;
  static unsigned get() {
    unsigned v;
    __asm__ volatile("vstmxcsr %0"
                     : "=m"(v));
    return v;
  }
  static void set(unsigned v) { __asm__ volatile("vldmxcsr %0" ::"m"(v)); }
  unsigned saved_;
};

/// Prefetches a tile into the L1 cache.
inline void prefetch_tile(const uint8_t* tile) {
  for (unsigned r = 0; r < kTileRows; ++r) _mm_prefetch(reinterpret_cast<const char*>(tile + 64 * r), _MM_HINT_T0);
}

/// Blocks are 16 rows by some columns of tiles. Calls `use(part)` for kColumnParts parts of every column of a block and, in
/// between, computes the sums of the next block: the tile unit and vector instructions overlap if they are close in the code.
/// `sum.begin(block)` starts a block, `sum.column<i>(between)` multiplies and calls between(0), between(1), …; `sum.store<i>()`
/// stores, and `sum.end()` follows the uses of the previous block.
inline constexpr unsigned kColumnParts = 4;
template <class Sum, class Use, int... kColumns>
inline void pipeline(unsigned blocks, Sum& sum, Use use, std::integer_sequence<int, kColumns...>) {
  const auto step = [&]<int kColumn>(auto between) __attribute__((always_inline)) {
    sum.template column<kColumn>([&](unsigned part) __attribute__((always_inline)) { between(kColumn * kColumnParts + part); });
    sum.template store<kColumn>();
  };
  sum.begin(0);
  (step.template operator()<kColumns>([](unsigned) {}), ...);
  for (unsigned b = 0; b < blocks; ++b) {
    sum.begin(b + 1 < blocks ? b + 1 : b);  // after the last block, its sums are computed again and not used
    (step.template operator()<kColumns>(use), ...);
    sum.end();
  }
}
template <unsigned kColumns, class Sum, class Use>
inline void pipeline(unsigned blocks, Sum& sum, Use use) {
  pipeline(blocks, sum, use, std::make_integer_sequence<int, kColumns>());
}

}  // namespace
}  // namespace drywell::numeric
