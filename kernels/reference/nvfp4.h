// Host reference of TransformerEngine's NVFP4 kernels around the GEMM: amaxes, quantization of one or both orientations,
// the scale factors' layout. Shares no code with the simulator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/reference/nvfp4_block.h"

namespace drywell::kernels::reference {

/// Returns the largest magnitude of bf16 values, NaN ignored.
float bf16_amax(std::span<const uint16_t> values);

/// One orientation of a quantized tensor: rows x k codes, two per byte, and rows x k/16 scales, without padding.
struct Nvfp4Tensor {
  uint64_t rows = 0, k = 0;
  std::vector<uint8_t> codes, scales;
  float amax = 0;
};

struct Nvfp4QuantizeOptions {
  Nvfp4Scaling scaling;
  Rounding rounding = Rounding::nearest_even;
  bool rowwise = true, columnwise = false;
  bool square_blocks = false;  // one scale for 16 x 16 values
  uint64_t seed = 0, offset = 0;
};

struct Nvfp4Pair {
  Nvfp4Tensor row, column;  // rows x columns, and its transpose: columns x rows
};

/// `input` is rows x columns bf16. Blocks must be whole: columns (row-wise), rows (column-wise) multiples of 16; both for
/// square blocks. Throws InputError E2101 otherwise.
Nvfp4Pair quantize_nvfp4(std::span<const uint16_t> input, uint64_t rows, uint64_t columns, const Nvfp4QuantizeOptions& o, float row_amax,
                         float column_amax);

/// to_blockscale_format of "NVFP4 training in TransformerEngine", section "Custom Kernels: FProp": 128 x 4 blocks of the padded scales,
/// each a contiguous 32 x 16, row-major.
std::vector<uint8_t> to_blockscale_format(std::span<const uint8_t> scales, uint64_t rows, uint64_t columns);

/// Returns the values of a tensor as TransformerEngine's dequantize kernel computes them.
std::vector<float> dequantize(const Nvfp4Tensor& t);

}  // namespace drywell::kernels::reference
