// NVFP4 arithmetic in the DSL (docs/facts/numerics.md §4): global scales, block scales, codes, random words. All kernels
// that quantize use it.
#pragma once

#include <array>
#include <span>

#include "drywell/isa/builder.h"

namespace drywell::kernels::nvfp4 {

/// Compile-time options of a kernel that quantizes.
struct Arithmetic {
  bool stochastic = false;
  bool te_scale_order = false;          // bmax * (S_enc / 6) instead of (bmax / 6) * S_enc
  bool bf16_round_trip = false;         // of the values, as the first step
  bool approximate_reciprocal = false;  // rcp.approx.ftz instead of the IEEE division
  bool propagates_nan = false;          // fused-rht's maxima propagate NaN, those of the other kernels ignore it
};

/// Registers that stay constant over a launch.
struct GlobalScales {
  isa::Reg encode;  // S_enc, or S_enc / 6 in TransformerEngine's current order
  isa::Reg decode;  // S_dec = 1 / S_enc
};
/// Global scales from the tensor's amax (ComputeGlobalEncodeScaleFP4 of
/// "NVFP4 training in TransformerEngine", section "Global Encode / Decode Scales").
GlobalScales global_scales(isa::KernelBuilder& k, const Arithmetic& a, isa::Reg amax_address);

struct PhiloxSeed {
  isa::Reg seed_low, seed_high, offset_low, offset_high;
};
/// Loads the [seed, offset] pair from memory; a null pointer means zeros.
PhiloxSeed load_seed(isa::KernelBuilder& k, isa::Reg rng_address);

/// Philox4x32-10 with the steps of curanddx.hpp: four random words per call.
class PhiloxStream {
 public:
  PhiloxStream(isa::KernelBuilder& k, const PhiloxSeed& seed, isa::Reg subsequence);
  /// `more`: another call follows.
  std::array<isa::Reg, 4> next(bool more = true);

 private:
  isa::KernelBuilder& k_;
  isa::Reg key_low_, key_high_;
  std::array<isa::Reg, 4> counter_;
};

inline constexpr size_t kBlockSize = 16;
using BlockValues = std::span<const isa::Reg, kBlockSize>;

/// Converts two bf16 values of a word to f32: exact.
std::array<isa::Reg, 2> widen_bf16(isa::KernelBuilder& k, isa::Reg packed);
isa::Reg block_amax(isa::KernelBuilder& k, const Arithmetic& a, BlockValues values);

struct BlockScale {
  isa::Reg code;        // b16, the ue4m3 byte in the low half
  isa::Reg multiplier;  // of the block's elements: 1 / (stored scale * S_dec), at most FLT_MAX
};
BlockScale block_scale(isa::KernelBuilder& k, const Arithmetic& a, isa::Reg amax, const GlobalScales& s);

/// Rounds to sixteen codes in two words, element 0 in the lowest nibble. `random`: null for nearest even.
std::array<isa::Reg, 2> encode_block(isa::KernelBuilder& k, BlockValues values, isa::Reg multiplier, const std::array<isa::Reg, 4>* random);

struct QuantizedTile {
  isa::RegArray codes;  // eight 32-bit words, element 0 in the lowest nibble of word 0
  isa::Reg scales;      // four ue4m3 bytes, block 0 lowest
};
/// Quantizes 64 accumulators of a thread: four blocks.
QuantizedTile quantize_tile(isa::KernelBuilder& k, const Arithmetic& a, const isa::RegArray& acc, const GlobalScales& s, const PhiloxSeed& seed,
                            isa::Reg sequence);

}  // namespace drywell::kernels::nvfp4
