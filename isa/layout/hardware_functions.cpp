// The functions of the expression language for UMMA operands and scale factors.
#include <fmt/format.h>

#include "drywell/isa/layout/scale_factor.h"
#include "isa/layout/functions.h"

namespace drywell::layout {
namespace {

Major major_of(const Call& c, size_t i) {
  const std::string& w = c.word(i);
  if (w == "K") return Major::k;
  if (w == "MN") return Major::mn;
  fail(Code::E1802, fmt::format("unknown major '{}'", w), "K or MN");
}

uint32_t bits_of(const Call& c, size_t i) {
  const int64_t bits = c.number(i);
  if (bits < 1 || bits > 128) fail(Code::E1803, fmt::format("elements of {} bits", bits));
  return static_cast<uint32_t>(bits);
}

int small_number(const Call& c, size_t i) {
  const int64_t v = c.number(i);
  if (v < 0 || v > 4096)
    fail(Code::E1803, fmt::format("argument {} of {} is out of range: {}", i + 1, c.name, v));
  return static_cast<int>(v);
}

/// <M,N,K[,CTAs]> of a call.
UmmaAtom atom_of(const Call& c) {
  c.require_fixed(3, 4);
  const int64_t ctas = c.fixed.size() == 4 ? c.fixed[3] : 1;
  return {c.fixed[0], c.fixed[1], c.fixed[2], ctas == 2 ? 2 : ctas == 1 ? 1
                                                                        : 0};
}

Value tile_to_mma_shape_call(const Call& c) {
  if (c.count() == 2) return tile_to_mma_shape(c.layout(0), c.tuple(1));
  const IntTuple order = c.static_tuple(2);
  return tile_to_mma_shape(c.layout(0), c.tuple(1), &order);
}

template <Operand Op>
Value partition_call(const Call& c) {
  return mma_partition(atom_of(c), Op, c.layout(0), c.count() > 1 ? c.number(1) : 0);
}

template <Operand Op>
Value partition_shape_call(const Call& c) {
  return partition_shape(atom_of(c), Op, c.tuple(0));
}

Value descriptors_call(const Call& c) {
  const auto bits = c.layout(0).element_bits();
  if (!bits && c.fixed.empty())
    fail(Code::E1803, "the element width is needed", "make_fragment_desc<16>(layout)");
  return descriptor_tensor(c.layout(0), bits ? *bits : static_cast<uint32_t>(c.fixed[0]));
}

template <bool Gmem>
Value tma_partition_call(const Call& c) {
  const TmaPartition p = tma_partition(c.layout(0), c.layout(1), c.number(2));
  return Gmem ? p.gmem : p.smem;
}

Value tmem_fragment_call(const Call& c) {
  const uint32_t bits = bits_of(c, 1);
  const int ctas = c.count() > 2 ? small_number(c, 2) : 1;
  const std::string alloc = c.count() > 3 ? c.word(3) : "Interleaved";
  const TmemAlloc mode = alloc == "Interleaved"      ? TmemAlloc::interleaved
                         : alloc == "NonInterleaved" ? TmemAlloc::non_interleaved
                         : alloc == "Duplicated"
                             ? TmemAlloc::duplicated
                             : (fail(Code::E1802, fmt::format("unknown allocation '{}'", alloc),
                                     "Interleaved, NonInterleaved or Duplicated"),
                                TmemAlloc::interleaved);
  return tmem_fragment(with_static(c.tuple(0), true), bits, 32, ctas, mode);
}

/// (kind, (tile M, tile N)[, stages[, CTAs]])
BlockScaledTile block_tile(const Call& c) {
  const IntTuple& mn = c.tuple(1);
  if (mn.rank() != 2) fail(Code::E1803, "a tile is (M,N)");
  return block_scaled_tile(c.word(0), mn[0].leaf().value, mn[1].leaf().value,
                           c.count() > 3 ? small_number(c, 3) : 1, c.count() > 2 ? small_number(c, 2) : 1);
}

/// <M,N,K> and optional words for the majors of SFA and SFB, starting at argument `first`.
BlockwiseScale blockwise_of(const Call& c, size_t first) {
  c.require_fixed(3, 3);
  BlockwiseScale s{c.fixed[0], c.fixed[1], c.fixed[2]};
  if (c.count() > first) s.major_a = major_of(c, first);
  if (c.count() > first + 1) s.major_b = major_of(c, first + 1);
  return s;
}

/// With one number in <>: the block-scaled tile; with three: blockwise scaling.
template <Layout (*Block)(const IntTuple&, int64_t), Layout (*Wise)(const BlockwiseScale&, const IntTuple&)>
Value tile_atom_call(const Call& c) {
  if (c.fixed.size() == 1) return ComposedLayout(Block(c.tuple(0), c.fixed[0]));
  return ComposedLayout(Wise(blockwise_of(c, 1), c.tuple(0)));
}

template <Layout (*F)(const BlockwiseScale&, const IntTuple&)>
Value smem_atom_call(const Call& c) {
  return ComposedLayout(F(blockwise_of(c, 1), c.tuple(0)));
}

template <Layout (*F)(const BlockwiseScale&)>
Value deduce_call(const Call& c) {
  if (c.fixed.size() == 1) return ComposedLayout(deduce_layout_sf(c.fixed[0]));
  return ComposedLayout(F(blockwise_of(c, 0)));
}

template <Layout (*F)(const BlockScaledTile&)>
Value block_smem_call(const Call& c) {
  return ComposedLayout(F(block_tile(c)));
}

template <ComposedLayout (*F)(const BlockScaledTile&)>
Value block_tmem_call(const Call& c) {
  return F(block_tile(c));
}

constexpr Function kHardwareFunctions[] = {
    {"smem_atom", "smem_atom(K|MN, swizzle bytes, element bits)", 3, 3,
     [](const Call& c) -> Value { return smem_atom(major_of(c, 0), small_number(c, 1), bits_of(c, 2)); }},
    {"sm100_smem_selector", "sm100_smem_selector(K|MN, element bits, MN, K)", 4, 4,
     [](const Call& c) -> Value {
       return sm100_smem_selector(major_of(c, 0), bits_of(c, 1), c.number(2), c.number(3));
     }},
    {"tile_to_mma_shape", "tile_to_mma_shape(atom, ((MMA_MN,MMA_K),MMAs,MMAs_K,…)[, order])", 2, 3,
     tile_to_mma_shape_call},
    {"partition_A", "partition_A<M,N,K[,CTAs]>(tensor[, CTA])", 1, 2, partition_call<Operand::a>},
    {"partition_B", "partition_B<M,N,K[,CTAs]>(tensor[, CTA])", 1, 2, partition_call<Operand::b>},
    {"partition_C", "partition_C<M,N,K[,CTAs]>(tensor[, CTA])", 1, 2, partition_call<Operand::c>},
    {"partition_shape_A", "partition_shape_A<M,N,K[,CTAs]>((M,K))", 1, 1, partition_shape_call<Operand::a>},
    {"partition_shape_B", "partition_shape_B<M,N,K[,CTAs]>((N,K))", 1, 1, partition_shape_call<Operand::b>},
    {"partition_shape_C", "partition_shape_C<M,N,K[,CTAs]>((M,N))", 1, 1, partition_shape_call<Operand::c>},
    {"make_fragment_desc", "make_fragment_desc[<bits>](partitioned SMEM operand)", 1, 1, descriptors_call},
    {"tma_partition_S", "tma_partition_S(smem, gmem, elements per copy)", 3, 3, tma_partition_call<false>},
    {"tma_partition_G", "tma_partition_G(smem, gmem, elements per copy)", 3, 3, tma_partition_call<true>},
    {"tmem_fragment",
     "tmem_fragment(((M,N),MMAs_M,…), bits[, CTAs[, Interleaved|NonInterleaved|Duplicated]])", 2, 4,
     tmem_fragment_call},
    {"tmem_sf_fragment", "tmem_sf_fragment(((MN,(vector,factors)),MMAs,MMAs_K)[, Split])", 1, 2,
     [](const Call& c) -> Value {
       if (c.count() > 1 && c.word(1) != "Split")
         fail(Code::E1802, fmt::format("unknown data path '{}'", c.word(1)), "Split");
       return tmem_sf_fragment(c.static_tuple(0), c.count() > 1);
     }},
    {"tmem_columns", "tmem_columns(tmem tensor)", 1, 1,
     [](const Call& c) -> Value { return IntTuple(tmem_columns(c.layout(0))); }},
    {"sf_atom", "sf_atom<vector>([K|MN])", 0, 1,
     [](const Call& c) -> Value {
       c.require_fixed(1, 1);
       return ComposedLayout(sf_atom(c.fixed[0], c.count() > 0 ? major_of(c, 0) : Major::k));
     }},
    {"tile_atom_to_shape_SF", "tile_atom_to_shape_SF<vector>((MN,K,L))", 1, 1,
     [](const Call& c) -> Value {
       c.require_fixed(1, 1);
       return ComposedLayout(tile_atom_to_shape_sf(c.tuple(0), c.fixed[0]));
     }},
    {"tile_atom_to_shape_SFA",
     "tile_atom_to_shape_SFA<vector>((M,N,K[,L])) | <vM,vN,vK>((M,N,K[,L])[, K|MN, K|MN])", 1, 3,
     tile_atom_call<tile_atom_to_shape_sfa, tile_atom_to_shape_sfa>},
    {"tile_atom_to_shape_SFB",
     "tile_atom_to_shape_SFB<vector>((M,N,K[,L])) | <vM,vN,vK>((M,N,K[,L])[, K|MN, K|MN])", 1, 3,
     tile_atom_call<tile_atom_to_shape_sfb, tile_atom_to_shape_sfb>},
    {"deduce_layoutSFA", "deduce_layoutSFA<vector>() | <vM,vN,vK>([K|MN, K|MN])", 0, 2,
     deduce_call<deduce_layout_sfa>},
    {"deduce_layoutSFB", "deduce_layoutSFB<vector>() | <vM,vN,vK>([K|MN, K|MN])", 0, 2,
     deduce_call<deduce_layout_sfb>},
    {"smem_atom_layoutSFA", "smem_atom_layoutSFA<vM,vN,vK>((tile M,N,K)[, K|MN, K|MN])", 1, 3,
     smem_atom_call<smem_atom_layout_sfa>},
    {"smem_atom_layoutSFB", "smem_atom_layoutSFB<vM,vN,vK>((tile M,N,K)[, K|MN, K|MN])", 1, 3,
     smem_atom_call<smem_atom_layout_sfb>},
    {"smem_layout_staged", "smem_layout_staged(scale-factor SMEM atom, stages)", 2, 2,
     [](const Call& c) -> Value { return ComposedLayout(smem_layout_staged(c.plain(0), c.number(1))); }},
    {"deduce_smem_layoutSFA", "deduce_smem_layoutSFA(mxf8|mxf4|nvf4, (tile M,N)[, stages[, CTAs]])", 2, 4,
     block_smem_call<deduce_smem_layout_sfa>},
    {"deduce_smem_layoutSFB", "deduce_smem_layoutSFB(mxf8|mxf4|nvf4, (tile M,N)[, stages[, CTAs]])", 2, 4,
     block_smem_call<deduce_smem_layout_sfb>},
    {"make_smem_layout_sfa", "make_smem_layout_sfa(mxf8|mxf4|nvf4, (tile M,N)[, stages[, CTAs]])", 2, 4,
     block_smem_call<make_smem_layout_sfa>},
    {"make_smem_layout_sfb", "make_smem_layout_sfb(mxf8|mxf4|nvf4, (tile M,N)[, stages[, CTAs]])", 2, 4,
     block_smem_call<make_smem_layout_sfb>},
    {"make_tmem_layout_sfa", "make_tmem_layout_sfa(mxf8|mxf4|nvf4, (tile M,N)[, stages[, CTAs]])", 2, 4,
     block_tmem_call<make_tmem_layout_sfa>},
    {"make_tmem_layout_sfb", "make_tmem_layout_sfb(mxf8|mxf4|nvf4, (tile M,N)[, stages[, CTAs]])", 2, 4,
     block_tmem_call<make_tmem_layout_sfb>},
};

}  // namespace

std::span<const Function> hardware_functions() { return kHardwareFunctions; }

}  // namespace drywell::layout
