#include "drywell/isa/layout/scale_factor.h"

#include <fmt/format.h>

namespace drywell::layout {
namespace {

IntTuple pair(const IntTuple& a, const IntTuple& b) { return IntTuple::of({a, b}); }
IntTuple triple(const IntTuple& a, const IntTuple& b, const IntTuple& c) { return IntTuple::of({a, b, c}); }

void require_vector(int64_t vector) {
  if (vector <= 0) fail(Code::E1803, fmt::format("{} elements per scale factor", vector), "16 or 32");
}

void require_problem(const IntTuple& mnkl) {
  if (mnkl.rank() != 3 && mnkl.rank() != 4) fail(Code::E1804, "a problem shape is (M,N,K) or (M,N,K,L)");
}

int64_t exact_div(int64_t a, int64_t b, const char* what) {
  if (b <= 0 || a <= 0 || a % b != 0)
    fail(Code::E1805, fmt::format("{}: {} is not a multiple of {}", what, a, b));
  return a / b;
}

}  // namespace

Layout sf_atom(int64_t vector, Major major) {
  require_vector(vector);
  const IntTuple rows = pair(32, 4), row_stride = pair(16, 4);
  const IntTuple factors = pair(vector, 4), factor_stride = pair(0, 1);
  return major == Major::k ? Layout(pair(rows, factors), pair(row_stride, factor_stride))
                           : Layout(pair(factors, rows), pair(factor_stride, row_stride));
}

Layout deduce_layout_sf(int64_t vector) {
  const Int open = Int::dynamic(0);
  return blocked_product(sf_atom(vector), Layout(triple(open, open, open), triple(open, 1, open)));
}

Layout tile_atom_to_shape_sf(const IntTuple& mn_k_l, int64_t vector) {
  const IntTuple order = mn_k_l.rank() == 2 ? pair(2, 1) : triple(2, 1, 3);
  return tile_to_shape(sf_atom(vector), mn_k_l, &order);
}

Layout tile_atom_to_shape_sfa(const IntTuple& mnkl, int64_t vector) {
  require_problem(mnkl);
  return tile_atom_to_shape_sf(mnkl.rank() == 3 ? pair(mnkl[0], mnkl[2]) : triple(mnkl[0], mnkl[2], mnkl[3]),
                               vector);
}

Layout tile_atom_to_shape_sfb(const IntTuple& mnkl, int64_t vector) {
  require_problem(mnkl);
  return tile_atom_to_shape_sf(mnkl.rank() == 3 ? pair(mnkl[1], mnkl[2]) : triple(mnkl[1], mnkl[2], mnkl[3]),
                               vector);
}

BlockScaledTile block_scaled_tile(std::string_view kind, int64_t m, int64_t n, int n_sm, int64_t stages) {
  BlockScaledTile t;
  if (kind == "mxf8") {
    t.mma.k = 32;
  } else if (kind == "mxf4" || kind == "nvf4") {
    t.mma.k = 64;
  } else {
    fail(Code::E1802, fmt::format("unknown block-scaled kind '{}'", kind), "mxf8, mxf4 or nvf4");
  }
  t.vector = kind == "nvf4" ? 16 : 32;
  t.mma.m = t.m = m;
  t.mma.n = t.n = n;
  t.mma.n_sm = n_sm;
  t.k = 4 * t.mma.k;
  t.stages = stages;
  return t;
}

namespace {

/// deduce_smem_layoutSFA/SFB for `rows` rows per CTA, a multiple of 128.
Layout deduced(const BlockScaledTile& t, int64_t rows) {
  require_vector(t.vector);
  const int64_t factors = exact_div(t.mma.k, t.vector, "K of the instruction and the scale vector");
  const int64_t tiles = exact_div(rows, kSfTileRows, "rows of the tile");
  const int64_t per_tile = exact_div(kSfTileFactors, factors, "factors per instruction");
  const int64_t k_tiles = exact_div(t.k, t.vector * kSfTileFactors, "K of the tile");
  const IntTuple mma_shape = pair(prepend(IntTuple(tiles), pair(32, 4)), pair(t.vector, factors));
  const IntTuple mma_stride = pair(prepend(IntTuple(kSfTileBytes), pair(16, 4)), pair(0, 1));
  return Layout(triple(mma_shape, 1, pair(per_tile, k_tiles)),
                triple(mma_stride, 0, pair(factors, tiles * kSfTileBytes)));
}

int64_t cta_rows_a(const BlockScaledTile& t) {
  return exact_div(t.m, t.mma.n_sm, "M of the tile and the CTA pair");
}
/// TMA and tcgen05.cp move whole tiles of 128, so N is rounded up (bN 64 and 192).
int64_t cta_rows_b(const BlockScaledTile& t) {
  return round_up(IntTuple(t.n), IntTuple(kSfTileRows)).leaf().value;
}

Layout dsl_smem_layout(const BlockScaledTile& t, int64_t rows, int64_t mma_count) {
  require_vector(t.vector);
  const IntTuple order = pair(2, 1);
  const Layout tile = tile_to_shape(sf_atom(t.vector), pair(rows, t.k), &order);
  const int64_t k_count = exact_div(t.k, t.mma.k, "K of the tile and of the instruction");
  const IntTuple per_mma = shape_div(pair(rows, t.k), pair(mma_count, k_count));
  const Layout by_mma = tiled_divide(tile, per_mma);
  const Layout by_atom = logical_divide(by_mma, Tiler(IntTuple::of({pair(kSfTileRows, t.vector)})));
  return append(by_atom, Layout(Int(t.stages), cosize(filter_zeros(by_atom))));
}

/// Modes of one element get stride 0, as CuTe prints them.
IntTuple zero_unit_modes(const IntTuple& s, const IntTuple& d) {
  if (!s.is_tuple()) return is_constant(s, 1) ? IntTuple(0) : d;
  std::vector<IntTuple> out;
  for (size_t i = 0; i < s.rank(); ++i) out.push_back(zero_unit_modes(s[i], d[i]));
  return IntTuple(std::move(out));
}

/// TMEM fragment ((rows,(vector,factors)), MMAs, MMA_K) for one stage of an SMEM layout.
ComposedLayout tmem_layout(const Layout& staged, int64_t rows, bool split_n) {
  const IntTuple shape = triple(pair(rows, staged.shape()[0][1]), staged.shape()[1], staged.shape()[2]);
  const ComposedLayout l = tmem_sf_fragment(shape, split_n);
  return l.with(Layout(l.shape(), zero_unit_modes(l.shape(), l.layout().stride())));
}

}  // namespace

Layout deduce_smem_layout_sfa(const BlockScaledTile& t) { return deduced(t, cta_rows_a(t)); }
Layout deduce_smem_layout_sfb(const BlockScaledTile& t) { return deduced(t, cta_rows_b(t)); }

Layout make_smem_layout_sfa(const BlockScaledTile& t) {
  return dsl_smem_layout(t, cta_rows_a(t), exact_div(t.m, t.mma.m, "M of the tile and of the instruction"));
}

Layout make_smem_layout_sfb(const BlockScaledTile& t) {
  return dsl_smem_layout(t, cta_rows_b(t), exact_div(t.n, t.mma.n, "N of the tile and of the instruction"));
}

ComposedLayout make_tmem_layout_sfa(const BlockScaledTile& t) {
  return tmem_layout(make_smem_layout_sfa(t), cta_rows_a(t) / exact_div(t.m, t.mma.m, "M"), false);
}

ComposedLayout make_tmem_layout_sfb(const BlockScaledTile& t) {
  const bool split_n = t.mma.n_sm == 2 && t.mma.m == 128;
  return tmem_layout(make_smem_layout_sfb(t), cta_rows_b(t) / exact_div(t.n, t.mma.n, "N"), split_n);
}

// --- blocked bytes
// -----------------------------------------------------------------------------------------------

namespace {

int64_t checked_matrix(int64_t rows, int64_t factors) {
  if (rows < 0 || factors < 0) fail(Code::E1803, fmt::format("a matrix of {} x {} factors", rows, factors));
  return (Int(rows) * Int(factors)).value;
}

}  // namespace

int64_t blocked_bytes(int64_t rows, int64_t factors) {
  checked_matrix(rows, factors);
  return (ceil_div(Int(rows), Int(kSfTileRows)) * ceil_div(Int(factors), Int(kSfTileFactors)) *
          Int(kSfTileBytes))
      .value;
}

int64_t blocked_offset(int64_t row, int64_t factor, int64_t factors) {
  const int64_t tiles = (factors + kSfTileFactors - 1) / kSfTileFactors;
  const int64_t tile = row / kSfTileRows * tiles + factor / kSfTileFactors;
  return tile * kSfTileBytes + row % 32 * 16 + row / 32 % 4 * 4 + factor % 4;
}

std::vector<uint8_t> to_blocked(std::span<const uint8_t> row_major, int64_t rows, int64_t factors,
                                uint8_t pad) {
  if (static_cast<int64_t>(row_major.size()) != checked_matrix(rows, factors)) {
    fail(Code::E1804, fmt::format("{} bytes are not {} x {} factors", row_major.size(), rows, factors));
  }
  std::vector<uint8_t> out(static_cast<size_t>(blocked_bytes(rows, factors)), pad);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t f = 0; f < factors; ++f) {
      out[static_cast<size_t>(blocked_offset(r, f, factors))] =
          row_major[static_cast<size_t>(r * factors + f)];
    }
  }
  return out;
}

std::vector<uint8_t> from_blocked(std::span<const uint8_t> blocked, int64_t rows, int64_t factors) {
  if (static_cast<int64_t>(blocked.size()) != blocked_bytes(rows, factors)) {
    fail(Code::E1804, fmt::format("{} bytes are not the {} of {} x {} blocked factors", blocked.size(),
                                  blocked_bytes(rows, factors), rows, factors));
  }
  std::vector<uint8_t> out(static_cast<size_t>(rows * factors));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t f = 0; f < factors; ++f) {
      out[static_cast<size_t>(r * factors + f)] = blocked[static_cast<size_t>(blocked_offset(r, f, factors))];
    }
  }
  return out;
}

// --- blockwise
// ---------------------------------------------------------------------------------------------------

namespace {

struct Side {
  int64_t vector_mn;
  Major major;
  size_t mode;  // of the problem shape (M,N,K,L)
};

Side side_a(const BlockwiseScale& c) { return {c.vector_m, c.major_a, 0}; }
Side side_b(const BlockwiseScale& c) { return {c.vector_n, c.major_b, 1}; }

/// ((vector_mn, blocks),(vector_k, blocks)) with one factor per block, MN- or K-major.
Layout block_layout(const BlockwiseScale& c, const Side& s, const Int& mn, const Int& k) {
  require_vector(s.vector_mn);
  require_vector(c.vector_k);
  const Int mn_blocks = ceil_div(mn, Int(s.vector_mn)), k_blocks = ceil_div(k, Int(c.vector_k));
  const IntTuple shape = pair(pair(s.vector_mn, mn_blocks), pair(c.vector_k, k_blocks));
  return s.major == Major::mn ? Layout(shape, pair(pair(0, 1), pair(0, mn_blocks)))
                              : Layout(shape, pair(pair(0, k_blocks), pair(0, 1)));
}

Layout deduce(const BlockwiseScale& c, const Side& s) {
  const Int open = Int::dynamic(0);
  const IntTuple mn = pair(s.vector_mn, open), k = pair(c.vector_k, open);
  const IntTuple unit = pair(0, 1), blocks = pair(0, open);
  return Layout(triple(mn, k, open),
                s.major == Major::mn ? triple(unit, blocks, open) : triple(blocks, unit, open));
}

Layout to_shape(const BlockwiseScale& c, const Side& s, const IntTuple& mnkl) {
  require_problem(mnkl);
  const IntTuple full = append(mnkl, Int::dynamic(1), 4);
  const Layout mk = block_layout(c, s, full[s.mode].leaf(), full[2].leaf());
  return append(mk, Layout(full[3], size(filter_zeros(mk))));
}

Layout smem_atom(const BlockwiseScale& c, const Side& s, const IntTuple& tile) {
  if (tile.rank() != 3) fail(Code::E1804, "a CTA tile is (M,N,K)");
  const IntTuple fixed = with_static(tile, true);
  return block_layout(c, s, size(fixed[s.mode]), size(fixed[2]));
}

}  // namespace

BlockwiseScale trivial_blockwise_scale(const IntTuple& tile_mnk) {
  if (tile_mnk.rank() != 3) fail(Code::E1804, "a CTA tile is (M,N,K)");
  return {size(tile_mnk[0]).value, size(tile_mnk[1]).value, size(tile_mnk[2]).value};
}

Layout deduce_layout_sfa(const BlockwiseScale& c) { return deduce(c, side_a(c)); }
Layout deduce_layout_sfb(const BlockwiseScale& c) { return deduce(c, side_b(c)); }
Layout tile_atom_to_shape_sfa(const BlockwiseScale& c, const IntTuple& mnkl) {
  return to_shape(c, side_a(c), mnkl);
}
Layout tile_atom_to_shape_sfb(const BlockwiseScale& c, const IntTuple& mnkl) {
  return to_shape(c, side_b(c), mnkl);
}
Layout smem_atom_layout_sfa(const BlockwiseScale& c, const IntTuple& tile_mnk) {
  return smem_atom(c, side_a(c), tile_mnk);
}
Layout smem_atom_layout_sfb(const BlockwiseScale& c, const IntTuple& tile_mnk) {
  return smem_atom(c, side_b(c), tile_mnk);
}

Layout smem_layout_staged(const Layout& atom, int64_t stages) {
  return append(atom, Layout(Int(stages), size(filter_zeros(atom))));
}

}  // namespace drywell::layout
