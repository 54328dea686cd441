// Host-side quantization of a matrix for the tensor core: every element format, and the block scales of the MX formats
// and of NVFP4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "drywell/core/npy.h"
#include "drywell/sim/numeric/format.h"

namespace drywell::kernels {

/// What the elements are divided by.
enum class ScaleRule : uint8_t {
  none,    // each element is rounded without a scale (bf16, f16)
  tensor,  // one f32 factor, the largest magnitude over the format's largest value
  mx,      // OCP MX v1.0, section 6.3: a power of two per block, from the block's largest magnitude
  nvfp4,   // ue4m3 scales under one f32 factor (docs/facts/numerics.md §4)
};

/// How a matrix is quantized.
struct QuantizeRecipe {
  numeric::Format format = numeric::Format::bf16;  // of the elements
  ScaleRule rule = ScaleRule::none;                // what they are divided by
  uint32_t block = 0;                              // elements of one scale along k
};

/// rows x k elements, k contiguous: value = factor * scale * element.
struct QuantizedMatrix {
  numeric::Format format = numeric::Format::bf16;         // of the elements
  uint64_t rows = 0, k = 0;                               // extents, in elements
  std::vector<uint16_t> codes;                            // one element each
  uint32_t block = 0;                                     // 0: no scales
  numeric::Format scale_format = numeric::Format::ue8m0;  // of the scales
  std::vector<uint8_t> scales;                            // rows x k / block
  float factor = 1;                                       // of the whole matrix

  /// False for shape_alone().
  bool has_elements() const { return !codes.empty(); }
};

/// `k` must be a multiple of the recipe's block.
QuantizedMatrix quantize_matrix(std::span<const float> values, uint64_t rows, uint64_t k,
                                const QuantizeRecipe& recipe);

/// Returns a matrix without codes and scales, for runs that compute no values.
QuantizedMatrix shape_alone(uint64_t rows, uint64_t k, const QuantizeRecipe& recipe);

/// Returns random finite codes with very different scales, which no data would give, to test alignment and truncation.
QuantizedMatrix random_codes(uint64_t rows, uint64_t k, const QuantizeRecipe& recipe, uint64_t seed);

/// Returns the elements as float: from float32, float64 (rounded), float16, and NumPy's bfloat16 (dtype '<V2'). Throws
/// InputError E4007 for other types.
std::vector<float> float_values(const NpyArray& array);

}  // namespace drywell::kernels
