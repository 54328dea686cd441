// Host reference of the fused random Hadamard transform + NVFP4 quantization kernel (TransformerEngine's
// hadamard_transform_cast_fusion_columnwise). Shares no code with the simulator.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/reference/nvfp4_block.h"

namespace drywell::kernels::reference {

/// The random signs of the transform: bit i set = row i of the Hadamard matrix is negated (docs/facts/numerics.md
/// §4).
inline constexpr uint16_t kRhtSigns = 0xD7E8;

struct RhtNvfp4Options {
  uint64_t m = 0;  // rows of the input; blocks of 16 run along them
  uint64_t n = 0;  // columns of the input, rows of the output
  Rounding rounding = Rounding::nearest_even;
  ScaleOrder scale_order = ScaleOrder::article;
  /// Round the transformed values to bf16 before the block maximum; off in the fast-math build.
  bool bf16_round_trip = true;
  /// rcp.approx.ftz instead of the division 1 / (scale * S_dec), as an H200 computes it.
  bool approximate_reciprocal = false;
  uint16_t signs = kRhtSigns;
  /// Largest magnitude of the transformed, bf16-rounded tensor; the reference computes it if it is absent.
  std::optional<float> amax;
  uint64_t seed = 0, offset = 0;  // Philox state, stochastic rounding only
  uint32_t philox_rounds = 10;
  /// Number of input rows in one tile strip: it sets the order of the random numbers. 0 = rht_k_tile_size(m, n).
  uint64_t k_tile_size = 0;
  unsigned threads = 0;  // 0 = all host cores; no effect on the result
};

struct RhtNvfp4Result {
  std::vector<uint8_t> codes;   // n rows of m/2 bytes, two e2m1 codes each, the even element in the low nibble
  std::vector<uint8_t> scales;  // n rows of m/16 ue4m3 block scales
  float amax = 0;
};

/// The host code's table: twelve shapes by name, else 512 if m or n is below 1024, else 1024. "NVFP4 training in TransformerEngine",
/// section "Host Code", prints the first seven rows and an ellipsis; the source that it quotes (004e5299) has all twelve, as has d0067d0.
uint64_t rht_k_tile_size(uint64_t m, uint64_t n);

/// `input` is m x n bf16, row-major. Takes any n >= 1 and any m that is a multiple of 16; throws InputError E2101 for
/// other sizes, for a wrong input size, for stochastic rounding with m < 64 (no whole 64-row tile to number) and for a
/// k_tile_size that is not a multiple of 64. The original launcher supports fewer shapes: m % 64 == 0 and n % 128 == 0
/// ("no predication", TransformerEngine 004e5299 and d0067d0), hence not 8192 x 11328, although its table has a row for
/// that shape.
RhtNvfp4Result rht_nvfp4(std::span<const uint16_t> input, const RhtNvfp4Options& options);

/// Returns the largest magnitude of the bf16-rounded transform of `input`, NaN ignored (TransformerEngine's amax
/// kernel).
float rht_amax(std::span<const uint16_t> input, const RhtNvfp4Options& options);

/// Transform of one block of 16 values: out[j] = sum over i of x[i] * H[i][j], one fused sum each.
std::array<float, 16> rht_block(std::span<const uint16_t, 16> x, uint16_t signs);
/// As rht_block, by sixteen calls of fused_dot_bf16 with the full 16x16 matrix: the oracle of rht_block.
std::array<float, 16> rht_block_slow(std::span<const uint16_t, 16> x, uint16_t signs);
/// Entry [row][column] of the transform as bf16 bits, row-major: diag(signs) * Hadamard16 * 0.25.
std::array<uint16_t, 256> rht_matrix(uint16_t signs);

/// Returns the values of a result, n x m row-major, as TransformerEngine's dequantize kernel computes them.
std::vector<float> dequantize(const RhtNvfp4Result& result, uint64_t m, uint64_t n);

/// Distance between dequantized values and the transform of the input in float64 without any rounding.
struct QuantizationError {
  double max_abs = 0;         // largest |error|
  double rms = 0;             // root mean square of the error
  double relative_rms = 0;    // rms over the root mean square of the exact values
  double sqnr_db = 0;         // -20 log10(relative_rms)
  double cosine = 0;          // of the angle between the two tensors
  uint64_t not_finite = 0;    // elements not counted, because either side is NaN or infinite
  uint64_t lost_to_zero = 0;  // non-zero values whose code is zero
};
QuantizationError quantization_error(std::span<const uint16_t> input, const RhtNvfp4Result& result,
                                     const RhtNvfp4Options& options);

}  // namespace drywell::kernels::reference
