// The yardstick of fused-rht: the same function as an AVX programmer would write it for this machine. Bit-equal to
// kernels/reference for finite inputs (round to nearest, ScaleOrder::article, bf16 round trip).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace drywell::bench {

struct NativeRht {
  std::vector<uint8_t> codes, scales;
};

/// `input` is m x n bf16, row-major and finite; m a multiple of 128, n of 16. `out` keeps its memory.
void native_rht(std::span<const uint16_t> input, uint64_t m, uint64_t n, float amax, unsigned threads, NativeRht& out);

namespace detail {
/// Arguments of the vector code.
struct Tensor {
  const uint16_t* input;
  uint64_t m, n;
  float encode, decode;
  uint8_t* codes;
  uint8_t* scales;
};
}  // namespace detail

}  // namespace drywell::bench
