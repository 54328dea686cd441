// CuTe layouts (shape:stride functions from coordinates to indices) and their algebra, at run time.
// Semantics and names follow NVIDIA/cutlass include/cute/layout.hpp; for a static assertion of CuTe this library throws
// InputError: E1804 shape or rank mismatch, E1805 divisibility, E1806 not injective, E1809 a value must be static,
// E1810 no such mode. Const calls and free functions may run at the same time.
#pragma once

#include <memory>
#include <variant>

#include "drywell/isa/layout/int_tuple.h"

namespace drywell::layout {

/// A function from coordinates within `shape` to integers, or to coordinates if the strides are basis elements.
class Layout {
 public:
  /// _1:_0
  Layout() : shape_(1), stride_(0) {}
  /// Throws E1804 unless shape and stride have the same profile.
  Layout(IntTuple shape, IntTuple stride);
  /// Compact, leftmost mode fastest.
  explicit Layout(IntTuple shape);

  /// The coordinates.
  const IntTuple& shape() const { return shape_; }
  /// Of the same nesting as the shape.
  const IntTuple& stride() const { return stride_; }
  /// Number of top-level modes.
  size_t rank() const { return shape_.rank(); }
  /// Mode i as a layout.
  Layout mode(size_t i) const { return Layout(shape_[i], stride_[i]); }
  /// Value at a coordinate (integer, hierarchical or mixed); `_` counts as 0.
  IntTuple operator()(const IntTuple& coord) const { return crd2idx(coord, shape_, stride_); }
  /// The index at a 1-D coordinate; E1804 if the codomain is not the integers.
  int64_t index(int64_t coord) const { return crd2idx(Int(coord), shape_, stride_).leaf().value; }
  bool operator==(const Layout&) const = default;

 private:
  IntTuple shape_, stride_;
};

/// The right operand of a division or composition by modes: a layout, an integer n (short for n:1), `_` (keep the
/// mode), or a tuple of tilers.
class Tiler {
 public:
  /// A layout.
  Tiler(Layout l) : node_(std::move(l)) {}  // NOLINT
  /// A shape: leaves become integers and `_`, tuples become tuples of tilers.
  Tiler(const IntTuple& shape);  // NOLINT

  /// A tiler for each mode.
  explicit Tiler(std::vector<Tiler> modes) : node_(std::move(modes)) {}
  /// True for a layout.
  bool is_layout() const { return std::holds_alternative<Layout>(node_); }
  /// True for a tuple of tilers.
  bool is_tuple() const { return std::holds_alternative<std::vector<Tiler>>(node_); }
  /// True for `_`.
  bool is_underscore() const;
  /// Of a layout only.
  const Layout& layout() const { return std::get<Layout>(node_); }
  /// Of a tuple only.
  const std::vector<Tiler>& modes() const { return std::get<std::vector<Tiler>>(node_); }
  /// An integer or `_`.
  const IntTuple& leaf() const { return std::get<IntTuple>(node_); }

 private:
  std::variant<IntTuple, Layout, std::vector<Tiler>> node_;
};

// Construction
/// Compact, rightmost mode fastest (LayoutRight).
Layout make_layout_right(const IntTuple& shape);
/// Concatenates layouts as the modes of one.
Layout make_layout(std::span<const Layout> modes);
/// Compact, the mode with the smallest order fastest.
Layout make_ordered_layout(const IntTuple& shape, const IntTuple& order);
/// Compact with the shape of `l`, in the order of its strides; modes of stride 0 keep it.
Layout make_layout_like(const Layout& l);
/// Compact in the order of the source's strides, with mode 0 always stride 1 (CuTe make_fragment_like).
Layout make_fragment_like(const Layout& l);
/// From a coordinate to itself.
Layout make_identity_layout(const IntTuple& shape);

// Queries
/// The number of coordinates.
inline Int size(const Layout& l) { return size(l.shape()); }
/// Of its shape.
inline int depth(const Layout& l) { return depth(l.shape()); }
/// One more than the largest index (per component for coordinate codomains).
IntTuple coshape(const Layout& l);
/// One more than the largest index; E1804 if the codomain is not the integers.
Int cosize(const Layout& l);

// Modes
/// Modes [b, e).
Layout take(const Layout& l, size_t b, size_t e);
/// These modes in this order.
Layout select(const Layout& l, std::span<const size_t> modes);
/// Modes [b, e) joined into one.
Layout group_modes(const Layout& l, size_t b, size_t e);
/// Without nesting.
Layout flatten(const Layout& l);
/// One mode more at the end.
Layout append(const Layout& l, const Layout& x = {});
/// At the end, up to rank n.
Layout append(const Layout& l, const Layout& x, size_t n);
/// One mode more at the front.
Layout prepend(const Layout& l, const Layout& x = {});
/// At the front, up to rank n.
Layout prepend(const Layout& l, const Layout& x, size_t n);
/// With another mode number `mode`.
Layout replace(const Layout& l, size_t mode, const Layout& x);
/// ((A,B),(a,b)) to ((A,a),(B,b)).
Layout zip(const Layout& l);
/// Pairs of modes.
Layout zip(const Layout& a, const Layout& b);
/// The modes at `_` of the coordinate.
Layout slice(const IntTuple& coord, const Layout& l);
/// The modes at anything but `_`.
Layout dice(const IntTuple& coord, const Layout& l);

// Simplification
/// The same function of one index with as few modes as the algorithm finds.
Layout coalesce(const Layout& l);
/// Each mode of the profile for itself.
Layout coalesce(const Layout& l, const IntTuple& profile);
/// Modes of static stride 0 have size 1.
Layout filter_zeros(const Layout& l);
/// Each mode of the profile for itself.
Layout filter_zeros(const Layout& l, const IntTuple& profile);
/// filter_zeros, then coalesce.
Layout filter(const Layout& l);
/// Each mode of the profile for itself.
Layout filter(const Layout& l, const IntTuple& profile);

// Algebra
/// lhs after rhs. E1805 if CuTe's stride or shape divisibility condition fails. Like CuTe's, those conditions accept
/// some inexact cases: (6,4):(1,8) o 4:4 is (2,2):(4,8), which is not lhs(rhs(2)) (check_equal of checks.h finds such
/// cases).
Layout composition(const Layout& lhs, const Layout& rhs);
/// By modes; drops the modes of lhs that the tiler does not name.
Layout composition(const Layout& lhs, const Tiler& rhs);
/// Layout of the indices below `cotarget` that `l` does not reach; E1806 if `l` is not injective.
Layout complement(const Layout& l, const IntTuple& cotarget);
/// Below cosize(l).
Layout complement(const Layout& l);
/// Returns r with l(r(i)) == i on the largest static prefix that the algorithm finds.
Layout right_inverse(const Layout& l);
/// Returns r with r(l(i)) == i for injective l.
Layout left_inverse(const Layout& l);
/// The largest layout of consecutive elements that both have in common, as CuTe finds it.
Layout max_common_layout(const Layout& a, const Layout& b);
/// The number of consecutive elements that both have in common.
Int max_common_vector(const Layout& a, const Layout& b);
/// The coordinates that `l` maps to 0: its modes of stride 0.
Layout nullspace(const Layout& l);

/// ((tile), (rest)) in each mode of the tiler.
Layout logical_divide(const Layout& l, const Tiler& tiler);
/// ((tiles), (rests)): two modes.
Layout zipped_divide(const Layout& l, const Tiler& tiler);
/// ((tiles), rest, rest, …).
Layout tiled_divide(const Layout& l, const Tiler& tiler);
/// (tile, tile, …, rest, rest, …).
Layout flat_divide(const Layout& l, const Tiler& tiler);
/// The block, repeated by the tiler, in each mode of the tiler.
Layout logical_product(const Layout& block, const Tiler& tiler);
/// ((blocks), (repetitions)): two modes.
Layout zipped_product(const Layout& block, const Tiler& tiler);
/// ((blocks), repetition, …).
Layout tiled_product(const Layout& block, const Tiler& tiler);
/// (block, …, repetition, …).
Layout flat_product(const Layout& block, const Tiler& tiler);
/// Mode by mode (block, repetition): blocks side by side.
Layout blocked_product(const Layout& block, const Layout& tiler);
/// Mode by mode (repetition, block): blocks interleaved.
Layout raked_product(const Layout& block, const Layout& tiler);
/// Repeats `block` over `target`; `order` as for make_ordered_layout, nullptr = first mode first.
Layout tile_to_shape(const Layout& block, const IntTuple& target, const IntTuple* order = nullptr);

/// Reinterprets elements as n times larger (upcast) or smaller (downcast) ones.
Layout upcast(const Layout& l, int64_t n);
/// To elements n times smaller.
Layout downcast(const Layout& l, int64_t n);
/// Reinterprets elements of old_bits as elements of new_bits.
Layout recast_layout(const Layout& l, int64_t old_bits, int64_t new_bits);

/// A tile of a layout, and where it begins.
struct LocalTile {
  Layout layout;    // of the tile
  IntTuple offset;  // of its first element
};
/// Tiles a layout and slices the rest modes with `coord` (missing trailing entries are `_`); `projection`
/// drops the modes marked `_` from tiler and coord (CuTe local_tile, Step<_1,X,_1>). Returns the tile; its
/// offset is `zipped_divide(l, tiler)(_, coord)`.
LocalTile local_tile(const Layout& l, const Tiler& tiler, const IntTuple& coord,
                     const IntTuple* projection = nullptr);
/// Keeps the modes of a tiler that are not paired with `_`.
Tiler dice(const IntTuple& coord, const Tiler& tiler);

}  // namespace drywell::layout
