// The epilogue's arithmetic in the DSL: 64 accumulators of a thread to 64 e2m1 codes and 4 ue4m3 block scales.
#pragma once

#include "drywell/isa/builder.h"
#include "kernels/fused_rht/fused_rht.h"

namespace drywell::kernels {

/// Registers that stay constant over a launch.
struct QuantiseScales {
  isa::Reg encode;      // S_enc, or S_enc / 6 in TransformerEngine's present order
  isa::Reg decode;      // S_dec = 1 / S_enc
};
struct PhiloxSeed {
  isa::Reg seed_low, seed_high, offset_low, offset_high;
};
struct QuantisedTile {
  isa::RegArray codes;  // eight 32-bit words, element 0 in the lowest nibble of word 0
  isa::Reg scales;      // four ue4m3 bytes, block 0 lowest
};

/// Global scales from the tensor's amax (ComputeGlobalEncodeScaleFP4 of the article).
QuantiseScales global_scales(isa::KernelBuilder& k, const FusedRhtOptions& o, isa::Reg amax_address);
/// The [seed, offset] pair in memory; the null pointer means zeros.
PhiloxSeed load_seed(isa::KernelBuilder& k, isa::Reg rng_address);
QuantisedTile quantise_tile(isa::KernelBuilder& k, const FusedRhtOptions& o, const isa::RegArray& acc, const QuantiseScales& s,
                            const PhiloxSeed& seed, isa::Reg sequence);

}  // namespace drywell::kernels
