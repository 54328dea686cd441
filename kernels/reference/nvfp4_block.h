// Host reference of NVFP4's scaling and rounding of one block of sixteen values (docs/facts/numerics.md §4).
#pragma once

#include <array>
#include <cstdint>

namespace drywell::kernels::reference {

enum class Rounding : uint8_t {
  nearest_even,
  stochastic
};

/// Order of the f32 operations that compute a block's scale from its largest magnitude `bmax`.
enum class ScaleOrder : uint8_t {
  // (bmax / 6) * S_enc: "NVFP4 training in TransformerEngine", section "Blockwise decode scale factors", and TransformerEngine of
  // 2025 (commit 004e5299)
  article,
  te,  // bmax * (S_enc * (1/6)): TransformerEngine at d0067d0
};

struct Nvfp4Scaling {
  ScaleOrder order = ScaleOrder::article;
  /// rcp.approx.ftz instead of the division 1 / (scale * S_dec), as an H200 computes it.
  bool approximate_reciprocal = false;
  /// Minima and maxima return NaN if an argument is NaN (the fused kernel's); else they ignore it.
  bool propagates_nan = false;
};

using Nvfp4Values = std::array<float, 16>;

/// The scaling of one tensor, with the values that all blocks share computed once.
class Nvfp4Scaler {
 public:
  Nvfp4Scaler(const Nvfp4Scaling& s, float amax);

  /// Returns the largest magnitude of a block in the kernel's order of folding, starting from `largest`.
  float block_amax(const Nvfp4Values& x, float largest = 0) const;
  /// Computes eight bytes of codes and the stored scale of a block whose maximum is `bmax`; `random` for stochastic
  /// rounding.
  void quantize(Nvfp4Values x, float bmax, const std::array<uint32_t, 4>* random, uint8_t* codes, uint8_t& scale) const;

 private:
  float smaller(float a, float b) const;
  float larger(float a, float b) const;
  float reciprocal(float p) const;

  Nvfp4Scaling scaling_;
  float encode_ = 1, decode_ = 1, te_multiplier_ = 1;
};

}  // namespace drywell::kernels::reference
