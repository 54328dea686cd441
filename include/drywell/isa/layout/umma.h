// The layouts that CUTLASS uses for tcgen05.mma's operands: SMEM atoms and tiles, MMA partitions, TMA partitions, SMEM
// descriptor tensors and TMEM fragments. Semantics follow NVIDIA/cutlass
// include/cute/atom/{mma_traits_sm100,mma_traits_sm100_frag,mma_traits_sm90_gmma,mma_atom,copy_traits_sm90_tma}.hpp and
// include/cutlass/gemm/collective/builders/sm100_common.inl. All functions may be called at the same time.
#pragma once

#include "drywell/isa/layout/composed.h"

namespace drywell::layout {

/// Which dimension of an operand is contiguous.
enum class Major : uint8_t {
  k,
  mn
};

/// SMEM layout atom of an operand with elements of `bits`, swizzled over `swizzle_bytes` (0 = interleaved,
/// 32, 64, 128). MN-major: (swizzle width, 8), K-major: (8, swizzle width).
ComposedLayout smem_atom(Major major, int swizzle_bytes, uint32_t bits);
/// The 128-byte swizzle with 32-byte atomicity of MN-major 32-bit operands.
ComposedLayout smem_atom_mn_128b_32b(uint32_t bits);
/// The widest atom that divides a (mn, k) tile (CUTLASS sm100_smem_selector); E1805 if no atom does.
ComposedLayout sm100_smem_selector(Major major, uint32_t bits, int64_t mn, int64_t k);
/// Tiles an atom to ((MMA_MN,MMA_K),MMAs_MN,MMAs_K,…).
ComposedLayout tile_to_mma_shape(const ComposedLayout& atom, const IntTuple& mma_shape,
                                 const IntTuple* order = nullptr);

/// One tcgen05.mma in CUTLASS's partitions: M, N, K of the instruction (of both CTAs when n_sm is 2).
struct UmmaAtom {
  int64_t m = 128, n = 16, k = 16;  // in elements
  int n_sm = 1;                     // CTAs that execute it: 1 or 2
};
/// The operands of the instruction; c is the accumulator.
enum class Operand : uint8_t {
  a,
  b,
  c
};
/// Tensor (M|N, K|N, rest…) -> (MMA, MMA_M|N, MMA_K|N, rest…) of CTA `v` of the pair.
ComposedLayout mma_partition(const UmmaAtom& mma, Operand op, const ComposedLayout& tensor, int64_t v = 0);
/// Shape of mma_partition's result for a tile shape (M,K), (N,K) or (M,N).
IntTuple partition_shape(const UmmaAtom& mma, Operand op, const IntTuple& tile);
/// A partitioned SMEM operand as a tensor of SMEM descriptors: one per MMA, strides in 16-byte units.
ComposedLayout descriptor_tensor(const ComposedLayout& smem_operand, uint32_t bits);
/// The two sides of a copy, whose first modes agree.
struct TmaPartition {
  ComposedLayout gmem, smem;  // ((TMA, iterations), rest…)
};
/// (TMA tile, rest…) of SMEM and of GMEM side by side -> ((TMA, iterations), rest…), for copies of `elements`
/// at a time.
TmaPartition tma_partition(const ComposedLayout& smem, const ComposedLayout& gmem, int64_t elements);

/// Placement of several atoms in TMEM by CUTLASS (UMMA::TmemAllocMode).
enum class TmemAlloc : uint8_t {
  interleaved,
  non_interleaved,
  duplicated
};
/// TMEM tensor of an accumulator or A operand, shape ((MMA_M,MMA_N),MMAs_M,MMAs_N,…) per CTA: 32-bit cells
/// hold `bits` of value in `storage_bits`. Offsets are TMEM addresses (lane << 16 | column) scaled by 32 /
/// bits.
ComposedLayout tmem_fragment(const IntTuple& shape, uint32_t bits, uint32_t storage_bits, int n_sm,
                             TmemAlloc alloc = TmemAlloc::interleaved);
/// TMEM tensor of scale factors, shape ((MMA_MN,(vector,factors)),MMAs_MN,MMAs_K,…): each 32-lane quarter
/// holds a copy. `split_n`: the 2x2 data path of SFB with cta_group::2 and M=128.
ComposedLayout tmem_sf_fragment(const IntTuple& shape, bool split_n = false);
/// Number of TMEM columns of a tensor (CUTLASS find_tmem_tensor_col_offset).
int64_t tmem_columns(const ComposedLayout& tmem);

}  // namespace drywell::layout
