#include "drywell/isa/layout/umma.h"

#include <fmt/format.h>

namespace drywell::layout {
namespace {

Layout layout_of(std::initializer_list<IntTuple> shape, std::initializer_list<IntTuple> stride) {
  return Layout(IntTuple::of(shape), IntTuple::of(stride));
}

/// Atoms are defined in bits and upcast to elements, as CUTLASS does.
ComposedLayout from_bits(const Swizzle& s, const Layout& bit_layout, uint32_t bits) {
  return upcast(ComposedLayout(s, SmemFlag{1, 0}, bit_layout), bits);
}

int64_t atom_size(const ComposedLayout& atom, size_t mode) { return size(atom.shape()[mode]).value; }

}  // namespace

ComposedLayout smem_atom(Major major, int swizzle_bytes, uint32_t bits) {
  int swizzle_bits = 0;
  switch (swizzle_bytes) {
    case 0: break;
    case 32: swizzle_bits = 1; break;
    case 64: swizzle_bits = 2; break;
    case 128: swizzle_bits = 3; break;
    default: fail(Code::E1803, fmt::format("no swizzle over {} bytes", swizzle_bytes), "0, 32, 64 or 128");
  }
  const int64_t width = swizzle_bytes == 0 ? 128 : 8 * swizzle_bytes;
  const Layout bit_layout =
      major == Major::mn ? layout_of({width, 8}, {1, width}) : layout_of({8, width}, {width, 1});
  return from_bits(Swizzle(swizzle_bits, 4, 3), bit_layout, bits);
}

ComposedLayout smem_atom_mn_128b_32b(uint32_t bits) {
  return from_bits(Swizzle(2, 5, 2), layout_of({1024, 4}, {1, 1024}), bits);
}

ComposedLayout sm100_smem_selector(Major major, uint32_t bits, int64_t mn, int64_t k) {
  if (mn <= 0 || k <= 0 || mn % 8 != 0 || k % 8 != 0) {
    fail(Code::E1805, fmt::format("a tile of {} x {} is not a multiple of 8 in both dimensions", mn, k));
  }
  if (major == Major::mn && bits == 32) {
    const ComposedLayout atom = smem_atom_mn_128b_32b(bits);
    if (mn % atom_size(atom, 0) == 0) return atom;
    fail(Code::E1805,
         fmt::format("MN-major 32-bit operands need a multiple of {} in MN, not {}", atom_size(atom, 0), mn));
  }
  for (int bytes : {128, 64, 32, 0}) {
    const ComposedLayout atom = smem_atom(major, bytes, bits);
    const bool fits = major == Major::mn ? mn % atom_size(atom, 0) == 0 : k % atom_size(atom, 1) == 0;
    if (fits) return atom;
  }
  fail(Code::E1805, fmt::format("no swizzle atom of {}-bit elements divides a tile of {} x {}", bits, mn, k));
}

ComposedLayout tile_to_mma_shape(const ComposedLayout& atom, const IntTuple& mma_shape,
                                 const IntTuple* order) {
  if (mma_shape.rank() < 3 || mma_shape[0].rank() != 2) {
    fail(Code::E1804, "an MMA shape has the form ((MMA_MN,MMA_K),MMAs_MN,MMAs_K,…)");
  }
  const IntTuple tile = zip(mma_shape[0], take(mma_shape, 1, 3));
  IntTuple mn_shape = tile;
  for (size_t i = 3; i < mma_shape.rank(); ++i) mn_shape = append(mn_shape, mma_shape[i]);
  const Layout tiled = tile_to_shape(atom.layout(), mn_shape, order);
  return atom.with(tiled_divide(tiled, product_each(mma_shape[0])));
}

// --- partitions
// --------------------------------------------------------------------------------------------------

namespace {

struct AtomView {
  int64_t rows, columns;  // of the instruction, both CTAs
  Layout thread_value;    // (CTA, values) -> column-major position
};

AtomView atom_view(const UmmaAtom& mma, Operand op) {
  if (mma.m <= 0 || mma.n <= 0 || mma.k <= 0 || (mma.n_sm != 1 && mma.n_sm != 2)) {
    fail(Code::E1803, "an MMA needs positive sizes and one or two CTAs");
  }
  const int64_t rows = op == Operand::b ? mma.n : mma.m;
  const int64_t columns = op == Operand::c ? mma.n : mma.k;
  if (rows % mma.n_sm != 0) fail(Code::E1805, fmt::format("{} rows do not split over two CTAs", rows));
  const int64_t own = rows / mma.n_sm;
  const IntTuple value_stride = IntTuple::of({1, rows});
  return {rows, columns,
          layout_of({mma.n_sm, IntTuple::of({own, columns})}, {mma.n_sm == 1 ? 0 : own, value_stride})};
}

}  // namespace

ComposedLayout mma_partition(const UmmaAtom& mma, Operand op, const ComposedLayout& tensor, int64_t v) {
  if (tensor.rank() < 2) fail(Code::E1804, "an MMA partition needs a tensor of rank 2 or more");
  if (v < 0 || v >= mma.n_sm) fail(Code::E1810, fmt::format("CTA {} of {} does not exist", v, mma.n_sm));
  const AtomView view = atom_view(mma, op);
  const IntTuple all = IntTuple::underscore();
  const Tiler tile(IntTuple::of({view.rows, view.columns}));
  const Layout divided = zipped_divide(logical_divide(tensor.layout(), tile), tile);
  const Layout by_value = composition(divided, Tiler({Tiler(view.thread_value), Tiler(all)}));
  const Layout threads =
      zipped_divide(by_value, Tiler({Tiler(all), Tiler({Tiler(Layout(Int(1))), Tiler(Layout(Int(1)))})}));
  const size_t rest = threads.shape()[1][1].rank();
  const IntTuple coord =
      IntTuple::of({IntTuple::of({v, IntTuple::of({0, 0})}), IntTuple::of({all, repeat(rest, all)})});
  return slice(coord, tensor.with(threads));
}

IntTuple partition_shape(const UmmaAtom& mma, Operand op, const IntTuple& tile) {
  return mma_partition(mma, op, Layout(tile), 0).shape();
}

ComposedLayout descriptor_tensor(const ComposedLayout& smem_operand, uint32_t bits) {
  const Layout units = recast_layout(smem_operand.layout(), bits, 128);
  return {std::nullopt, DescriptorOrigin{}, replace(units, 0, Layout())};
}

TmaPartition tma_partition(const ComposedLayout& smem, const ComposedLayout& gmem, int64_t elements) {
  const IntTuple tile = size(smem.shape()[0]);
  if (size(gmem.shape()[0]).value != tile.leaf().value) {
    fail(Code::E1804, fmt::format("the SMEM tile has {} elements, the GMEM tile {}", tile.leaf().value,
                                  size(gmem.shape()[0]).value));
  }
  if (elements <= 0) fail(Code::E1803, "a TMA copy needs a positive number of elements");
  const std::array<Layout, 1> inverse{right_inverse(smem.layout().mode(0))};
  const Layout order = tile_to_shape(make_layout(inverse), IntTuple::of({tile}));
  const Layout split = logical_divide(order, Tiler(Layout(Int(elements))));
  const auto apply = [&](const ComposedLayout& t) {
    std::vector<Tiler> by_mode{Tiler(split)};
    while (by_mode.size() < t.rank()) by_mode.emplace_back(IntTuple::underscore());
    const Layout l = composition(t.layout(), Tiler(std::move(by_mode)));
    return t.with(coalesce(l, IntTuple::of({IntTuple::of({1, 1})})));
  };
  return {apply(gmem), apply(smem)};
}

// --- TMEM
// --------------------------------------------------------------------------------------------------------

namespace {

// TMEM is first laid out with lane stride 1 and column stride 128, then restrided to its addresses.
constexpr int64_t kLanes = 128;
constexpr int64_t kVirtualColumns = 16384;
constexpr int64_t kLaneStride = 65536;  // PTX ISA 9.7.16.1: the lane is in bits 31..16

Layout restride(uint32_t bits, uint32_t storage_bits) {
  if (bits == 0 || bits > 32 || 32 % bits != 0 || storage_bits > 32 || storage_bits < bits ||
      storage_bits % bits != 0) {
    fail(Code::E1803, fmt::format("TMEM values of {} bits in {}", bits, storage_bits));
  }
  return layout_of({kLanes, kVirtualColumns},
                   {kLaneStride * (32 / int64_t{bits}), int64_t{storage_bits / bits}});
}

ComposedLayout in_tmem(const Layout& atom, const IntTuple& shape, uint32_t bits, uint32_t storage_bits,
                       int64_t tile_stride) {
  const IntTuple rest = take(shape, 1, shape.rank());
  const Layout tiles(rest, compact_col_major(rest, tile_stride));
  const Layout logical = tiled_product(atom, tiles);
  Pointer base;
  base.space = Pointer::Space::tmem;
  base.bits = bits;
  return {std::nullopt, base, composition(restride(bits, storage_bits), logical)};
}

/// Data path of an accumulator atom in virtual addresses.
Layout accumulator_atom(int64_t m, int64_t n, int n_sm, TmemAlloc alloc) {
  if (m == kLanes) return layout_of({m, n}, {1, kLanes});
  if (n_sm == 1 && m == 64) {
    return layout_of({IntTuple::of({16, 4}), n}, {IntTuple::of({1, 32}), kLanes});
  }
  if (n_sm == 2 && m == 64 && alloc == TmemAlloc::duplicated) return layout_of({kLanes, n}, {1, kLanes});
  const int64_t parts = kLanes / m;  // 2x2 and 1x4: the columns are split over groups of lanes
  if (n % parts != 0) fail(Code::E1805, fmt::format("N = {} does not split into {} parts", n, parts));
  return layout_of({m, IntTuple::of({n / parts, parts})}, {1, IntTuple::of({kLanes, m})});
}

}  // namespace

ComposedLayout tmem_fragment(const IntTuple& shape, uint32_t bits, uint32_t storage_bits, int n_sm,
                             TmemAlloc alloc) {
  if (shape.rank() < 1 || !shape.is_tuple() || shape[0].rank() != 2) {
    fail(Code::E1804, "a TMEM shape has the form ((MMA_M,MMA_N),MMAs_M,MMAs_N,…)");
  }
  const int64_t m = size(shape[0][0]).value, n = size(shape[0][1]).value;
  const bool legal = n_sm == 1 ? (m == 64 || m == 128) && alloc != TmemAlloc::duplicated
                               : n_sm == 2 && (m == 32 || m == 64 || m == 128) &&
                                     alloc != TmemAlloc::non_interleaved &&
                                     (alloc == TmemAlloc::interleaved || m == 64);
  if (!legal || n <= 0) {
    fail(Code::E1803, fmt::format("no TMEM fragment for M = {}, N = {} per CTA with {} CTA(s)", m, n, n_sm),
         "M is 64 or 128 with one CTA; 32, 64 or 128 per CTA with two");
  }
  const bool skip_half = n_sm == 1 && m == 64 && alloc == TmemAlloc::non_interleaved;
  return in_tmem(accumulator_atom(m, n, n_sm, alloc), shape, bits, storage_bits, skip_half ? 2 : 1);
}

ComposedLayout tmem_sf_fragment(const IntTuple& shape, bool split_n) {
  constexpr int64_t kQuarter = 32, kCopies = 4, kWordStride = 4 * kLanes;
  if (!shape.is_tuple() || shape.rank() < 3 || shape[0].rank() != 2 || shape[0][1].rank() != 2) {
    fail(Code::E1804, "a scale-factor shape has the form ((MMA_MN,(vector,factors)),MMAs_MN,MMAs_K,…)");
  }
  const int64_t mn = size(shape[0][0]).value;
  const Int vec = size(shape[0][1][0]), factors = size(shape[0][1][1]);
  const int64_t groups = split_n ? 2 : 1;
  if (mn % (kQuarter * groups) != 0) {
    fail(Code::E1805, fmt::format("{} rows are not a multiple of {}", mn, kQuarter * groups));
  }
  const IntTuple rows = IntTuple::of({kQuarter, mn / kQuarter / groups});
  const IntTuple row_stride = IntTuple::of({1, kWordStride});
  const IntTuple k = IntTuple::of({vec, factors}), k_stride = IntTuple::of({0, kLanes});
  const Layout atom =
      split_n ? layout_of({IntTuple::of({rows, 2, 2}), k}, {IntTuple::of({row_stride, 64, 32}), k_stride})
              : layout_of({IntTuple::of({rows, kCopies}), k}, {IntTuple::of({row_stride, 32}), k_stride});
  return in_tmem(atom, shape, 8, 8, 1);
}

int64_t tmem_columns(const ComposedLayout& tmem) {
  const auto* p = std::get_if<Pointer>(&tmem.origin());
  if (!p || p->space != Pointer::Space::tmem)
    fail(Code::E1804, "not a TMEM tensor", "write tmem_[32b](0x0000.0000) o layout");
  const Int last = cosize(recast_layout(tmem.layout(), p->bits, 32));
  return last.value & 0xFFFF;
}

}  // namespace drywell::layout
