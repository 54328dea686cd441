#include "drywell/isa/layout/layout.h"

#include <fmt/format.h>

namespace drywell::layout {
namespace {

/// Shapes are non-negative integers without basis; strides anything but `_`.
void check_leaves(const IntTuple& shape, const IntTuple& stride) {
  if (shape.is_tuple() != stride.is_tuple() || shape.rank() != stride.rank()) {
    fail(Code::E1804,
         fmt::format("shape of rank {} and stride of rank {} have different profiles", shape.rank(),
                     stride.rank()),
         "shape and stride must be nested alike");
  }
  if (shape.is_tuple()) {
    for (size_t i = 0; i < shape.rank(); ++i) check_leaves(shape[i], stride[i]);
    return;
  }
  if (shape.is_underscore() || stride.is_underscore()) fail(Code::E1804, "'_' is not a shape or stride");
  if (shape.leaf().has_basis()) fail(Code::E1804, "a shape cannot be a scaled basis element");
  if (shape.leaf().value < 0) fail(Code::E1804, fmt::format("negative shape {}", shape.leaf().value));
}

/// Flat modes of a layout being built from its last mode to its first.
struct Reversed {
  std::vector<Int> shape, stride;
  bool is_one() const { return shape.size() == 1 && shape[0].is_constant(1); }

  Layout finish() const {
    if (is_one()) return Layout();
    if (shape.size() == 1) return Layout(shape[0], stride[0]);
    return Layout(IntTuple(std::vector<IntTuple>(shape.rbegin(), shape.rend())),
                  IntTuple(std::vector<IntTuple>(stride.rbegin(), stride.rend())));
  }

  /// CuTe bw_coalesce: skip static 1s; merge a mode with the mode to its right when both are contiguous.
  void push_front(const Int& s, const Int& d) {
    if (s.is_constant(1)) return;
    if (is_one()) {
      shape[0] = s;
      stride[0] = d;
    } else if (shape.back().is_static && known_equal(s * d, stride.back())) {
      shape.back() = s * shape.back();
      stride.back() = d;
    } else {
      shape.push_back(s);
      stride.push_back(d);
    }
  }
};

Layout coalesce_flat(const Layout& l, bool keep_last_mode) {
  const IntTuple s = flatten_to_tuple(l.shape());
  const IntTuple d = flatten_to_tuple(l.stride());
  if (s.rank() == 0) return Layout();
  const size_t last = s.rank() - 1;
  const bool one = s[last].leaf().is_constant(1);
  Reversed out{{one && keep_last_mode ? Int(2) : s[last].leaf()}, {d[last].leaf()}};
  for (size_t i = last; i-- > 0;) out.push_front(s[i].leaf(), d[i].leaf());
  return out.finish();
}

template <class F>
Layout transform_modes(const Layout& l, const IntTuple& guide, F&& f) {
  if (guide.rank() > l.rank()) {
    fail(Code::E1804,
         fmt::format("a profile of rank {} does not fit a layout of rank {}", guide.rank(), l.rank()));
  }
  std::vector<Layout> out;
  for (size_t i = 0; i < l.rank(); ++i) out.push_back(i < guide.rank() ? f(l.mode(i), guide[i]) : l.mode(i));
  return make_layout(out);
}

Int abs_leaf(const Int& d) { return abs(d); }

IntTuple last_coordinate(const IntTuple& shape, const IntTuple& stride) {
  if (!shape.is_tuple()) return (shape.leaf() - Int(1)) * abs_leaf(stride.leaf());
  IntTuple sum = 0;
  for (size_t i = 0; i < shape.rank(); ++i) sum = arith_add(sum, last_coordinate(shape[i], stride[i]));
  return sum;
}

IntTuple plus_one(const IntTuple& t) {
  if (!t.is_tuple()) return t.leaf() + Int(1);
  std::vector<IntTuple> out;
  for (const IntTuple& m : t.modes()) out.push_back(plus_one(m));
  return IntTuple(std::move(out));
}

}  // namespace

Layout::Layout(IntTuple shape, IntTuple stride) : shape_(std::move(shape)), stride_(std::move(stride)) {
  check_leaves(shape_, stride_);
}

Layout::Layout(IntTuple shape) : shape_(std::move(shape)), stride_(compact_col_major(shape_)) {
  check_leaves(shape_, stride_);
}

Tiler::Tiler(const IntTuple& shape) : node_(shape) {
  if (!shape.is_tuple()) return;
  std::vector<Tiler> modes;
  for (const IntTuple& m : shape.modes()) modes.emplace_back(m);
  node_ = std::move(modes);
}

bool Tiler::is_underscore() const { return !is_layout() && !is_tuple() && leaf().is_underscore(); }

Layout make_layout_right(const IntTuple& shape) { return Layout(shape, compact_row_major(shape)); }

Layout make_layout(std::span<const Layout> modes) {
  std::vector<IntTuple> s, d;
  for (const Layout& m : modes) {
    s.push_back(m.shape());
    d.push_back(m.stride());
  }
  return Layout(IntTuple(std::move(s)), IntTuple(std::move(d)));
}

Layout make_ordered_layout(const IntTuple& shape, const IntTuple& order) {
  return Layout(shape, compact_order(shape, order));
}

Layout make_layout_like(const Layout& l) {
  return Layout(l.shape(), compact_order(filter_zeros(l.stride(), l.shape()), l.stride()));
}

Layout make_fragment_like(const Layout& l) {
  if (l.rank() <= 1 || !is_static(l.shape())) return Layout(l.shape());
  const Layout front = l.mode(0);
  const Layout vec(front.shape(), compact_col_major(filter_zeros(front.stride(), front.shape())));
  const Layout rest = take(l, 1, l.rank());
  return tiled_product(vec, make_ordered_layout(rest.shape(), rest.stride()));
}

Layout make_identity_layout(const IntTuple& shape) { return Layout(shape, make_basis_like(shape)); }

IntTuple coshape(const Layout& l) {
  return plus_one(as_arithmetic_tuple(last_coordinate(l.shape(), l.stride())));
}

Int cosize(const Layout& l) { return size(coshape(l)); }

Layout take(const Layout& l, size_t b, size_t e) {
  return Layout(take(l.shape(), b, e), take(l.stride(), b, e));
}

Layout select(const Layout& l, std::span<const size_t> modes) {
  return Layout(select(l.shape(), modes), select(l.stride(), modes));
}

Layout group_modes(const Layout& l, size_t b, size_t e) {
  return Layout(group(l.shape(), b, e), group(l.stride(), b, e));
}

Layout flatten(const Layout& l) { return Layout(flatten(l.shape()), flatten(l.stride())); }

Layout append(const Layout& l, const Layout& x) {
  return Layout(append(l.shape(), x.shape()), append(l.stride(), x.stride()));
}

Layout append(const Layout& l, const Layout& x, size_t n) {
  return Layout(append(l.shape(), x.shape(), n), append(l.stride(), x.stride(), n));
}

Layout prepend(const Layout& l, const Layout& x) {
  return Layout(prepend(l.shape(), x.shape()), prepend(l.stride(), x.stride()));
}

Layout prepend(const Layout& l, const Layout& x, size_t n) {
  return Layout(prepend(l.shape(), x.shape(), n), prepend(l.stride(), x.stride(), n));
}

Layout replace(const Layout& l, size_t mode, const Layout& x) {
  if (mode >= l.rank()) fail(Code::E1810, fmt::format("mode {} does not exist, the rank is {}", mode, l.rank()));
  if (!l.shape().is_tuple()) return x;
  std::vector<Layout> out;
  for (size_t i = 0; i < l.rank(); ++i) out.push_back(i == mode ? x : l.mode(i));
  return make_layout(out);
}

Layout zip(const Layout& l) { return Layout(zip(l.shape()), zip(l.stride())); }

Layout zip(const Layout& a, const Layout& b) {
  return Layout(zip(a.shape(), b.shape()), zip(a.stride(), b.stride()));
}

Layout slice(const IntTuple& coord, const Layout& l) {
  return Layout(slice(coord, l.shape()), slice(coord, l.stride()));
}

Layout dice(const IntTuple& coord, const Layout& l) {
  return Layout(dice(coord, l.shape()), dice(coord, l.stride()));
}

Layout coalesce(const Layout& l) { return coalesce_flat(l, false); }

Layout coalesce(const Layout& l, const IntTuple& profile) {
  if (!profile.is_tuple()) return coalesce(l);
  return transform_modes(l, profile, [](const Layout& m, const IntTuple& p) { return coalesce(m, p); });
}

Layout filter_zeros(const Layout& l) { return Layout(filter_zeros(l.stride(), l.shape()), l.stride()); }

Layout filter_zeros(const Layout& l, const IntTuple& profile) {
  return Layout(filter_zeros(profile, l.shape()), l.stride());
}

Layout filter(const Layout& l) { return coalesce(filter_zeros(l)); }

Layout filter(const Layout& l, const IntTuple& profile) {
  if (!profile.is_tuple()) return filter(l);
  return transform_modes(l, profile, [](const Layout& m, const IntTuple& p) { return filter(m, p); });
}

// --- composition
// -------------------------------------------------------------------------------------------------

namespace {

/// A tuple of zeros in the profile of the codomain that `stride` maps into.
IntTuple coprofile(const IntTuple& stride) {
  if (!stride.is_tuple()) return repeat_like(as_arithmetic_tuple(stride), 0);
  IntTuple sum = 0;
  for (const IntTuple& m : stride.modes()) {
    const IntTuple p = coprofile(m);
    if (p.is_tuple()) sum = arith_add(sum, p);
  }
  return sum;
}

/// Coalesces at the leaves of the profile; the result is the same function outside the domain too.
Layout coalesce_x(const Layout& l, const IntTuple& profile) {
  if (!profile.is_tuple()) return coalesce_flat(l, true);
  return transform_modes(l, profile, [](const Layout& m, const IntTuple& p) { return coalesce_x(m, p); });
}

const IntTuple& basis_get(const Int& e, const IntTuple& t) {
  const IntTuple* p = &t;
  for (int i = 0; i < e.basis_depth; ++i) p = &p->at(e.basis[i]);
  return *p;
}

/// The part of a composition still to be matched against the modes of the left side.
struct Rest {
  Int shape, stride;
};

void check_stride_divides(const Int& extent, const Rest& rest) {
  const bool fits = rest.stride.value % extent.value == 0 || rest.stride.value < extent.value;
  // CuTe checks static values always. It does not check dynamic values, which would give a wrong function.
  const bool matters = (extent.is_static && rest.stride.is_static) || rest.shape.value != 1;
  if (!fits && matters) {
    fail(Code::E1805,
         fmt::format(
             "composition: stride divisibility condition: stride {} neither divides by nor is smaller than "
             "mode {} of the left layout",
             rest.stride.value, extent.value));
  }
}

Layout compose_integer(const IntTuple& ls, const IntTuple& ld, Rest rest) {
  std::vector<IntTuple> shape, stride;
  const size_t last = ls.rank() - 1;
  for (size_t i = 0; i < last; ++i) {
    const Int extent = ls[i].leaf();
    if (extent.value == 0) fail(Code::E1805, "composition: the left layout has a mode of size 0");
    check_stride_divides(extent, rest);
    if (rest.stride.value == 0) fail(Code::E1805, "composition: the stride of the right layout became 0");
    const Int next_shape = ceil_div(extent, abs(rest.stride));
    const Int next_stride = ceil_div(abs(rest.stride), extent) * signum(rest.stride);
    if (!next_shape.is_constant(1) && !rest.shape.is_constant(1)) {
      const Int part = min(next_shape, rest.shape);
      if (part.value == 0) fail(Code::E1805, "composition: the right layout has a mode of size 0");
      if (rest.shape.value % part.value != 0) {
        fail(Code::E1805,
             fmt::format("composition: shape divisibility condition: {} elements do not divide by the {} "
                         "reachable in a mode of the left layout",
                         rest.shape.value, part.value));
      }
      shape.push_back(part);
      stride.push_back(rest.stride * ld[i].leaf());
      rest.shape = rest.shape / part;
    }
    rest.stride = next_stride;
  }
  const Int tail = rest.stride * ld[last].leaf();
  if (shape.empty()) return Layout(rest.shape, tail);
  if (!rest.shape.is_constant(1)) {
    shape.push_back(rest.shape);
    stride.push_back(tail);
  }
  return Layout(unwrap(IntTuple(std::move(shape))), unwrap(IntTuple(std::move(stride))));
}

Layout compose(const IntTuple& ls, const IntTuple& ld, const IntTuple& rs, const IntTuple& rd) {
  if (rs.is_tuple()) {
    std::vector<Layout> modes;
    for (size_t i = 0; i < rs.rank(); ++i) modes.push_back(compose(ls, ld, rs[i], rd[i]));
    return make_layout(modes);
  }
  const Int stride = rd.leaf();
  if (stride.has_basis()) {
    return compose(basis_get(stride, ls), basis_get(stride, ld), rs, Int(stride.value, stride.is_static));
  }
  if (stride.is_constant(0)) return Layout(rs, rd);
  if (!ls.is_tuple()) return Layout(rs, stride * ld.leaf());
  if (stride.value == 0) return Layout(rs, rd);
  const IntTuple s = flatten(ls), d = flatten(ld);
  if (s.rank() == 0) fail(Code::E1804, "composition with an empty layout");
  return compose_integer(s, d, {rs.leaf(), stride});
}

}  // namespace

Layout composition(const Layout& lhs, const Layout& rhs) {
  const Layout flat = coalesce_x(lhs, coprofile(rhs.stride()));
  return compose(flat.shape(), flat.stride(), rhs.shape(), rhs.stride());
}

Layout composition(const Layout& lhs, const Tiler& rhs) {
  if (rhs.is_layout()) return composition(lhs, rhs.layout());
  if (rhs.is_tuple()) {
    if (rhs.modes().size() > lhs.rank()) {
      fail(Code::E1804, fmt::format("composition: {} tiler modes for a layout of rank {}", rhs.modes().size(),
                                    lhs.rank()));
    }
    std::vector<Layout> modes;
    for (size_t i = 0; i < rhs.modes().size(); ++i) modes.push_back(composition(lhs.mode(i), rhs.modes()[i]));
    return make_layout(modes);
  }
  if (rhs.is_underscore()) return lhs;
  const Layout flat = coalesce_x(lhs, 0);
  return compose(flat.shape(), flat.stride(), rhs.leaf(), Int(1));
}

}  // namespace drywell::layout
