// Complement, inverses, divides, products and recasts.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "drywell/isa/layout/layout.h"

namespace drywell::layout {
namespace {

std::vector<Int> leaves(const IntTuple& t) {
  std::vector<Int> out;
  const IntTuple flat = flatten_to_tuple(t);
  for (const IntTuple& m : flat.modes()) out.push_back(m.leaf());
  return out;
}

IntTuple to_tuple(const std::vector<Int>& v) { return IntTuple(std::vector<IntTuple>(v.begin(), v.end())); }

/// Positions of the smallest strides first; equal strides in the order CuTe's exchange sort leaves them.
std::vector<size_t> sorted_by_stride(const std::vector<Int>& stride, std::vector<size_t> seq) {
  for (size_t i = 0; i < seq.size(); ++i) {
    for (size_t j = i + 1; j < seq.size(); ++j) {
      if (stride[seq[j]].value < stride[seq[i]].value) std::swap(seq[i], seq[j]);
    }
  }
  return seq;
}

std::vector<Int> prefix_products(const std::vector<Int>& shape) {
  std::vector<Int> out{Int(1)};
  for (const Int& s : shape) out.push_back(s * out.back());
  return out;
}

void require_integer_strides(const std::vector<Int>& stride, const char* op) {
  for (const Int& d : stride) {
    if (d.has_basis()) fail(Code::E1804, fmt::format("{} needs integer strides, not scaled basis elements", op));
  }
}

/// Modes of the complement above the layout, up to `cotarget`.
Layout complement_of_filtered(const Layout& l, const IntTuple& cotarget) {
  if (is_constant(l.stride(), 0)) return Layout(coalesce_shape(cotarget));
  std::vector<Int> shape = leaves(l.shape()), stride = leaves(l.stride());
  require_integer_strides(stride, "complement");
  if (shape.size() > 1 && !is_static(l.stride())) {
    fail(Code::E1809, "complement of a layout with several modes needs static strides",
         "mark the strides static (_8), or give numbers without marks throughout");
  }
  std::vector<Int> result_shape, result_stride{Int(1)};
  Int new_stride = 1;
  while (!shape.empty()) {
    size_t at = 0;
    for (size_t i = 1; i < stride.size(); ++i) {
      if (stride[i].value < stride[at].value) at = i;
    }
    const Int new_shape = stride[at] / result_stride.back();
    if (new_shape.value <= 0) {
      fail(Code::E1806, fmt::format("complement: the layout is not injective (stride {} after {} used indices)",
                                    stride[at].value, result_stride.back().value));
    }
    new_stride = stride[at] * shape[at];
    result_shape.push_back(new_shape);
    shape.erase(shape.begin() + static_cast<long>(at));
    stride.erase(stride.begin() + static_cast<long>(at));
    if (!shape.empty()) result_stride.push_back(new_stride);
  }
  const IntTuple rest = coalesce_shape(ceil_div(cotarget, IntTuple(new_stride)));
  return coalesce(Layout(IntTuple::of({to_tuple(result_shape), rest}),
                         IntTuple::of({to_tuple(result_stride), compact_col_major(rest, new_stride)})));
}

}  // namespace

Layout complement(const Layout& l, const IntTuple& cotarget) {
  return complement_of_filtered(filter(l), cotarget);
}

Layout complement(const Layout& l) {
  const Layout f = filter(l);
  return complement_of_filtered(f, cosize(f));
}

Layout right_inverse(const Layout& l) {
  const Layout flat = coalesce(l);
  const std::vector<Int> shape = leaves(flat.shape()), stride = leaves(flat.stride());
  require_integer_strides(stride, "right_inverse");
  const std::vector<Int> before = prefix_products(shape);
  std::vector<size_t> seq;
  for (size_t i = 0; i < stride.size(); ++i) {
    if (stride[i].is_static) seq.push_back(i);
  }
  std::vector<Int> out_shape{Int(1)}, out_stride{Int(0)};
  Int next = 1;
  for (size_t i : sorted_by_stride(stride, seq)) {
    if (!known_equal(stride[i], next)) continue;
    out_shape.push_back(shape[i]);
    out_stride.push_back(before[i]);
    next = shape[i] * stride[i];
  }
  return coalesce(Layout(to_tuple(out_shape), to_tuple(out_stride)));
}

Layout left_inverse(const Layout& l) {
  const Layout flat = coalesce(l);
  const std::vector<Int> shape = leaves(flat.shape()), stride = leaves(flat.stride());
  require_integer_strides(stride, "left_inverse");
  if (!is_static(flat.stride())) {
    fail(Code::E1809, "left_inverse needs static strides",
         "mark the strides static (_8), or give numbers without marks throughout");
  }
  const std::vector<Int> before = prefix_products(shape);
  std::vector<size_t> seq(shape.size());
  std::iota(seq.begin(), seq.end(), size_t{0});
  seq = sorted_by_stride(stride, seq);
  std::vector<Int> out_shape, out_stride{Int(0)};
  Int reached = 1;
  for (size_t i : seq) {
    if (stride[i].is_constant(0)) continue;
    if (stride[i].value % reached.value != 0) {
      fail(Code::E1805,
           fmt::format("left_inverse: stride {} does not divide by {}", stride[i].value, reached.value));
    }
    out_shape.push_back(stride[i] / reached);
    out_stride.push_back(before[i]);
    reached = reached * out_shape.back();
    if (reached.value == 0) fail(Code::E1805, "left_inverse: a stride is smaller than the indices before it");
  }
  out_shape.push_back(shape[seq.back()]);
  return coalesce(Layout(to_tuple(out_shape), to_tuple(out_stride)));
}

namespace {

/// Returns the extent of the leading static stride-1 mode of coalesce(a after b's inverse); 0 if there is
/// none.
Int common_prefix(const Layout& a, const Layout& inverse_b) {
  const Layout common = coalesce(composition(a, inverse_b));
  const Int shape = flatten(common.shape())[0].leaf();
  const Int stride = flatten(common.stride())[0].leaf();
  return shape.is_static && stride.is_constant(1) ? shape : Int(0);
}

}  // namespace

Layout max_common_layout(const Layout& a, const Layout& b) {
  const Layout inverse_b = right_inverse(b);
  const Int n = common_prefix(a, inverse_b);
  return n.value == 0 ? Layout() : composition(inverse_b, Layout(n, 1));
}

Int max_common_vector(const Layout& a, const Layout& b) {
  const Int n = common_prefix(a, right_inverse(b));
  return n.value == 0 ? Int(1) : n;
}

Layout nullspace(const Layout& l) {
  const IntTuple shape = flatten_to_tuple(l.shape()), stride = flatten_to_tuple(l.stride());
  const IntTuple where = compact_col_major(shape);
  std::vector<IntTuple> s, d;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (!is_constant(stride[i], 0)) continue;
    s.push_back(shape[i]);
    d.push_back(where[i]);
  }
  if (s.empty()) return Layout();
  return Layout(unwrap(IntTuple(std::move(s))), unwrap(IntTuple(std::move(d))));
}

// --- divide and product
// ------------------------------------------------------------------------------------------

namespace {

Layout divide_by_layout(const Layout& l, const Layout& tiler) {
  const std::array<Layout, 2> both{tiler, complement(tiler, coalesce(l).shape())};
  return composition(l, make_layout(both));
}

Layout product_by_layout(const Layout& block, const Layout& tiler) {
  const std::array<Layout, 2> both{block, composition(complement(block, size(block) * cosize(tiler)), tiler)};
  return make_layout(both);
}

template <class ByLayout>
Layout by_mode(const Layout& l, const Tiler& tiler, const char* op, ByLayout by_layout) {
  if (tiler.is_layout()) return by_layout(l, tiler.layout());
  if (tiler.is_underscore()) return l;
  if (!tiler.is_tuple()) return by_layout(l, Layout(tiler.leaf()));
  if (tiler.modes().size() > l.rank()) {
    fail(Code::E1804,
         fmt::format("{}: {} tiler modes for a layout of rank {}", op, tiler.modes().size(), l.rank()));
  }
  std::vector<Layout> out;
  for (size_t i = 0; i < l.rank(); ++i) {
    out.push_back(i < tiler.modes().size() ? by_mode(l.mode(i), tiler.modes()[i], op, by_layout) : l.mode(i));
  }
  return make_layout(out);
}

/// Gathers the tile modes and the rest modes into a rank-2 tuple, following the tuples of the tiler.
IntTuple zip2_by(const IntTuple& t, const Tiler& guide) {
  if (!guide.is_tuple()) {
    if (t.rank() != 2) fail(Code::E1804, fmt::format("expected a (tile,rest) mode, found rank {}", t.rank()));
    return t;
  }
  std::vector<IntTuple> tile, rest;
  for (size_t i = 0; i < t.rank(); ++i) {
    if (i < guide.modes().size()) {
      const IntTuple split = zip2_by(t[i], guide.modes()[i]);
      tile.push_back(split[0]);
      rest.push_back(split[1]);
    } else {
      rest.push_back(t[i]);
    }
  }
  return IntTuple::of({IntTuple(std::move(tile)), IntTuple(std::move(rest))});
}

Layout tile_unzip(const Layout& l, const Tiler& tiler) {
  return Layout(zip2_by(l.shape(), tiler), zip2_by(l.stride(), tiler));
}

IntTuple marks(size_t n) { return repeat(n, IntTuple::underscore()); }

Layout unpack_rest(const Layout& zipped) {
  return slice(IntTuple::of({IntTuple::underscore(), marks(zipped.shape()[1].rank())}), zipped);
}

Layout unpack_both(const Layout& zipped) {
  return slice(IntTuple::of({marks(zipped.shape()[0].rank()), marks(zipped.shape()[1].rank())}), zipped);
}

}  // namespace

Layout logical_divide(const Layout& l, const Tiler& tiler) {
  return by_mode(l, tiler, "logical_divide", divide_by_layout);
}
Layout zipped_divide(const Layout& l, const Tiler& tiler) {
  return tile_unzip(logical_divide(l, tiler), tiler);
}
Layout tiled_divide(const Layout& l, const Tiler& tiler) { return unpack_rest(zipped_divide(l, tiler)); }
Layout flat_divide(const Layout& l, const Tiler& tiler) { return unpack_both(zipped_divide(l, tiler)); }

Layout logical_product(const Layout& block, const Tiler& tiler) {
  return by_mode(block, tiler, "logical_product", product_by_layout);
}
Layout zipped_product(const Layout& block, const Tiler& tiler) {
  return tile_unzip(logical_product(block, tiler), tiler);
}
Layout tiled_product(const Layout& block, const Tiler& tiler) {
  return unpack_rest(zipped_product(block, tiler));
}
Layout flat_product(const Layout& block, const Tiler& tiler) {
  return unpack_both(zipped_product(block, tiler));
}

Layout blocked_product(const Layout& block, const Layout& tiler) {
  const size_t rank = std::max(block.rank(), tiler.rank());
  const Layout both = product_by_layout(append(block, {}, rank), append(tiler, {}, rank));
  return zip(both.mode(0), both.mode(1));
}

Layout raked_product(const Layout& block, const Layout& tiler) {
  const size_t rank = std::max(block.rank(), tiler.rank());
  const Layout both = product_by_layout(append(block, {}, rank), append(tiler, {}, rank));
  return zip(both.mode(1), both.mode(0));
}

Layout tile_to_shape(const Layout& block, const IntTuple& target, const IntTuple* order) {
  if (block.rank() > target.rank()) {
    fail(Code::E1804, fmt::format("tile_to_shape: a block of rank {} does not fit a target of rank {}",
                                  block.rank(), target.rank()));
  }
  const Layout padded = append(block, {}, target.rank());
  const IntTuple block_shape = product_each(padded.shape());
  const IntTuple target_shape = product_each(target);
  if (is_static(target_shape) && !evenly_divides(target_shape, block_shape)) {
    fail(Code::E1805, "tile_to_shape: the block shape does not divide the target shape",
         "a run-time (unmarked) target in an expression with _N marks is rounded up instead");
  }
  const IntTuple product_shape = ceil_div(target_shape, block_shape);
  return blocked_product(padded, order ? make_ordered_layout(product_shape, *order) : Layout(product_shape));
}

// --- recast
// ------------------------------------------------------------------------------------------------------

namespace {

Layout upcast_leaf(const Int& s, const Int& d, int64_t n) {
  if (d.has_basis()) fail(Code::E1804, "upcast needs integer strides");
  if (d.is_constant(0)) return Layout(s, d);
  if (!d.is_static) {
    if (d.value % n != 0)
      fail(Code::E1805, fmt::format("upcast<{}>: stride {} does not divide by {}", n, d.value, n));
    return Layout(s, d / Int(n));
  }
  if (d.value == 0 || (d.value % n != 0 && n % d.value != 0)) {
    fail(Code::E1805, fmt::format("upcast<{}>: neither of stride {} and {} divides the other", n, d.value, n));
  }
  return Layout(ceil_div(s, ceil_div(Int(n), abs(d))), signum(d) * ceil_div(abs(d), Int(n)));
}

Layout downcast_leaf(const Int& s, const Int& d, int64_t n) {
  if (d.is_constant(1) || d.is_constant(-1)) return Layout(s * Int(n), d);
  return Layout(s, d * Int(n));
}

template <class F>
Layout at_leaves(const IntTuple& s, const IntTuple& d, F&& f) {
  if (!s.is_tuple()) return f(s.leaf(), d.leaf());
  std::vector<Layout> out;
  for (size_t i = 0; i < s.rank(); ++i) out.push_back(at_leaves(s[i], d[i], f));
  return make_layout(out);
}

void require_positive(int64_t n, const char* op) {
  if (n <= 0) fail(Code::E1803, fmt::format("{} by {} is not defined", op, n));
}

}  // namespace

Layout upcast(const Layout& l, int64_t n) {
  require_positive(n, "upcast");
  return at_leaves(l.shape(), l.stride(), [&](const Int& s, const Int& d) { return upcast_leaf(s, d, n); });
}

Layout downcast(const Layout& l, int64_t n) {
  require_positive(n, "downcast");
  const std::vector<Int> strides = leaves(l.stride());
  if (std::none_of(strides.begin(), strides.end(), [](const Int& d) { return d.is_constant(1); })) {
    fail(Code::E1805, "downcast needs a mode of static stride 1 (adjacent elements)");
  }
  return at_leaves(l.shape(), l.stride(), [&](const Int& s, const Int& d) { return downcast_leaf(s, d, n); });
}

Layout recast_layout(const Layout& l, int64_t old_bits, int64_t new_bits) {
  require_positive(old_bits, "recast from bits");
  require_positive(new_bits, "recast to bits");
  const int64_t g = std::gcd(old_bits, new_bits);
  const int64_t up = new_bits / g, down = old_bits / g;
  if (up == 1 && down == 1) return l;
  if (up == 1) return downcast(l, down);
  if (down == 1) return upcast(l, up);
  return downcast(upcast(l, up), down);
}

// --- tiles
// -------------------------------------------------------------------------------------------------------

Tiler dice(const IntTuple& coord, const Tiler& tiler) {
  if (!tiler.is_tuple() || !coord.is_tuple()) return tiler;
  if (coord.rank() != tiler.modes().size()) {
    fail(Code::E1804, fmt::format("a projection of rank {} does not fit a tiler of rank {}", coord.rank(),
                                  tiler.modes().size()));
  }
  std::vector<Tiler> out;
  for (size_t i = 0; i < coord.rank(); ++i) {
    if (!coord[i].is_underscore()) out.push_back(tiler.modes()[i]);
  }
  return Tiler(std::move(out));
}

LocalTile local_tile(const Layout& l, const Tiler& tiler, const IntTuple& coord, const IntTuple* projection) {
  if (projection) return local_tile(l, dice(*projection, tiler), dice(*projection, coord), nullptr);
  const Layout zipped = zipped_divide(l, tiler);
  const IntTuple tile_marks = marks(zipped.shape()[0].rank());
  const IntTuple rest = coord.is_tuple() ? append(coord, IntTuple::underscore(),
                                                  std::max(coord.rank(), zipped.shape()[1].rank()))
                                         : coord;
  const IntTuple full = IntTuple::of({tile_marks, rest});
  return {slice(full, zipped), zipped(full)};
}

}  // namespace drywell::layout
