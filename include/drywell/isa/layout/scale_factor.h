// Layouts of scale factors: block-scaled MMA (128x4 tiles of one-byte factors) and software
// blockwise/groupwise scaling. Semantics follow NVIDIA/cutlass
// include/cutlass/detail/{sm100_blockscaled_layout,blockwise_scale_layout}.hpp and the layouts printed by
// CuTe DSL's dense_blockscaled_gemm_persistent example ("Scale Tensor construction in CuTeDSL", section
// "The examples"; "CUTLASS tutorial: hardware-supported block scaling with Blackwell GPUs", section
// "Scale factor layouts").
#pragma once

#include "drywell/isa/layout/umma.h"

namespace drywell::layout {

// --- block-scaled MMA
// -----------------------------------------------------------------------------------------------

/// Rows of one scale-factor tile, factors per row in it, and its bytes.
inline constexpr int64_t kSfTileRows = 128, kSfTileFactors = 4, kSfTileBytes = 512;  // of one tile

/// The tile: 128 rows x 4 factors of `vector` elements each; MN-major exchanges the two modes.
Layout sf_atom(int64_t vector, Major major = Major::k);
/// The GMEM layout with run-time extents 0 (Sm1xxBlockScaledConfig::deduce_layoutSFA and SFB).
Layout deduce_layout_sf(int64_t vector);
/// Factors of an operand of shape (MN,K[,L]) in GMEM. Run-time (dynamic) extents are rounded up to whole
/// tiles.
Layout tile_atom_to_shape_sf(const IntTuple& mn_k_l, int64_t vector);
/// The same for a problem (M,N,K[,L]): of A and of B.
Layout tile_atom_to_shape_sfa(const IntTuple& mnkl, int64_t vector);
/// The same of B.
Layout tile_atom_to_shape_sfb(const IntTuple& mnkl, int64_t vector);

/// A block-scaled MMA tile: instruction and CTA-group tile (M,N,K), factor vector length, SMEM stages.
struct BlockScaledTile {
  UmmaAtom mma;                       // K is 32 for mxf8f6f4, 64 for mxf4 and mxf4nvf4
  int64_t m = 128, n = 128, k = 128;  // of the tile, both CTAs of a pair counted
  int64_t vector = 32;                // elements per factor: 16 or 32
  int64_t stages = 1;                 // of the pipeline
};
/// Presets by name mxf8, mxf4, nvf4, with K = 4 instructions; E1802 for another name.
BlockScaledTile block_scaled_tile(std::string_view kind, int64_t m, int64_t n, int n_sm = 1,
                                  int64_t stages = 1);
/// SMEM layout per stage as CUTLASS C++ deduces it (deduce_smem_layoutSFA/SFB). With several tiles in both N and K it
/// runs along N first.
Layout deduce_smem_layout_sfa(const BlockScaledTile& t);
/// The same of B.
Layout deduce_smem_layout_sfb(const BlockScaledTile& t);
/// SMEM layout with stages as CuTe DSL makes it: (((tile_M, rest_M),(vector, rest_K)), MMA_M, MMA_K, STAGE). With
/// several tiles in both N and K it runs along K first.
Layout make_smem_layout_sfa(const BlockScaledTile& t);
/// The same of B.
Layout make_smem_layout_sfb(const BlockScaledTile& t);
/// TMEM tensors of one stage's factors, (((atom, copies),(vector, factors)), MMAs, MMA_K).
ComposedLayout make_tmem_layout_sfa(const BlockScaledTile& t);
/// The same of B.
ComposedLayout make_tmem_layout_sfb(const BlockScaledTile& t);

/// Bytes of the blocked (tiled, padded) form of rows x factors.
int64_t blocked_bytes(int64_t rows, int64_t factors);
/// Offset in bytes of the factor (row, factor) in the blocked form: tiles row-major over the matrix, sf_atom inside.
int64_t blocked_offset(int64_t row, int64_t factor, int64_t factors);
/// Converts row-major rows x factors to blocked form; padding gets `pad`. E1804 if the size does not fit.
std::vector<uint8_t> to_blocked(std::span<const uint8_t> row_major, int64_t rows, int64_t factors,
                                uint8_t pad = 0);
/// Converts blocked form to row-major, without the padding. E1804 if the size does not fit.
std::vector<uint8_t> from_blocked(std::span<const uint8_t> blocked, int64_t rows, int64_t factors);

// --- blockwise and groupwise scaling
// --------------------------------------------------------------------------------

/// Sm90/Sm100/Sm120BlockwiseScaleConfig<M,N,K,majorSFA,majorSFB>: one factor per vector_m x vector_k block of
/// A and vector_n x vector_k block of B.
struct BlockwiseScale {
  int64_t vector_m = 128, vector_n = 128, vector_k = 128;  // rows of A, columns of B and elements along K of a block
  Major major_a = Major::mn, major_b = Major::mn;          // which index of the factors runs along memory
};
/// One factor per tile (sm90/sm100_trivial_blockwise_scale_config).
BlockwiseScale trivial_blockwise_scale(const IntTuple& tile_mnk);
/// The layout with run-time extents 0 (deduce_layoutSFA/SFB).
Layout deduce_layout_sfa(const BlockwiseScale& c);
/// The same of B.
Layout deduce_layout_sfb(const BlockwiseScale& c);
/// GMEM layout for a problem (M,N,K[,L]).
Layout tile_atom_to_shape_sfa(const BlockwiseScale& c, const IntTuple& mnkl);
/// The same of B.
Layout tile_atom_to_shape_sfb(const BlockwiseScale& c, const IntTuple& mnkl);
/// SMEM layout of a CTA tile (M,N,K), and with pipeline stages.
Layout smem_atom_layout_sfa(const BlockwiseScale& c, const IntTuple& tile_mnk);
/// The same of B.
Layout smem_atom_layout_sfb(const BlockwiseScale& c, const IntTuple& tile_mnk);
/// `atom` with the stages as its last mode.
Layout smem_layout_staged(const Layout& atom, int64_t stages);

}  // namespace drywell::layout
