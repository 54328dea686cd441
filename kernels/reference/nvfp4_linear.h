// Host reference of TransformerEngine's NVFP4 linear layer: the quantization of each tensor for FProp, DGrad and WGrad, and
// the three GEMMs. Shares no code with the simulator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/reference/nvfp4.h"

namespace drywell::kernels::reference {

/// The recipe's options and the random state of the gradients' rounding.
struct LinearRecipe {
  bool rht = true;             // column-wise activations and gradients are transformed first
  bool stochastic = true;      // gradients
  bool square_weights = true;  // 16 x 16 blocks
  ScaleOrder order = ScaleOrder::article;
  bool approximate_reciprocal = false;
  uint64_t seed = 0, offset = 0;  // of the row-wise gradient; the column-wise one's offset is larger by kRngElements
  unsigned threads = 0;
};
/// "const size_t rng_elts_per_thread = 1024": the distance of one kernel's random state from the previous kernel's.
inline constexpr uint64_t kRngElements = 1024;

struct Bf16View {
  std::span<const uint16_t> values;
  uint64_t rows = 0, columns = 0;
};

struct ActivationAmax {
  float rowwise = 0, columnwise = 0;
};
ActivationAmax activation_amax(const Bf16View& x, const LinearRecipe& r);
/// Quantizes x or dy: row-wise, and column-wise after the transform; gradients round stochastically.
Nvfp4Pair quantize_activation(const Bf16View& x, const LinearRecipe& r, bool gradient, const ActivationAmax& amax);
Nvfp4Pair quantize_weight(const Bf16View& w, const LinearRecipe& r, float amax);

/// Join shards one below the other, and next to each other along k.
Nvfp4Tensor gather_rows(std::span<const Nvfp4Tensor> shards);
Nvfp4Tensor gather_columns(std::span<const Nvfp4Tensor> shards);

/// Returns a.rows x b.rows bf16: the block-scaled product times ((amax_a * amax_b) * 1/2688^2).
std::vector<uint16_t> nvfp4_gemm(const Nvfp4Tensor& a, const Nvfp4Tensor& b, unsigned threads);

struct LinearResult {
  Nvfp4Pair x, w, dy;
  std::vector<uint16_t> y, dx, dw;  // tokens x out, tokens x in, out x in
};
/// x is tokens x in, w out x in, dy tokens x out.
LinearResult linear_nvfp4(const Bf16View& x, const Bf16View& w, const Bf16View& dy, const LinearRecipe& r);

}  // namespace drywell::kernels::reference
