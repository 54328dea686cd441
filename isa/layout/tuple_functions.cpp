// The functions of the expression language that yield integers and tuples.
#include <fmt/format.h>

#include "isa/layout/functions.h"

namespace drywell::layout {
namespace {

/// The shape of a layout argument, or the tuple itself; with <i,…> that mode of it.
IntTuple shape_of(const Call& c) {
  IntTuple t = c.is_tuple(0) ? c.tuple(0) : c.layout(0).shape();
  for (size_t i = 0; i < c.fixed.size(); ++i) t = IntTuple(t.at(c.mode(i)));
  return t;
}

IntTuple stride_of(const Call& c) {
  IntTuple t = c.layout(0).layout().stride();
  for (size_t i = 0; i < c.fixed.size(); ++i) t = IntTuple(t.at(c.mode(i)));
  return t;
}

Value cosize_call(const Call& c) {
  Layout l = c.layout(0).layout();
  for (size_t i = 0; i < c.fixed.size(); ++i) l = l.mode(c.mode(i));
  return IntTuple(cosize(l));
}

IntTuple either_shape(const Call& c, size_t i) { return c.is_tuple(i) ? c.tuple(i) : c.layout(i).shape(); }

Value flatten_call(const Call& c) {
  if (c.is_tuple(0)) return flatten(c.tuple(0));
  return c.layout(0).with(flatten(c.layout(0).layout()));
}

Value crd2idx_call(const Call& c) {
  if (c.count() == 3) return crd2idx(c.tuple(0), c.tuple(1), c.tuple(2));
  if (c.is_layout(1)) return c.layout(1)(c.tuple(0));
  return crd2idx(c.tuple(0), c.tuple(1));
}

Value idx2crd_call(const Call& c) {
  if (c.count() == 3) return idx2crd(c.tuple(0), c.tuple(1), c.tuple(2));
  if (c.is_layout(1)) return idx2crd(c.tuple(0), c.plain(1).shape(), c.plain(1).stride());
  return idx2crd(c.tuple(0), c.tuple(1));
}

Value with_marks(const Call& c, bool fixed) {
  if (c.is_tuple(0)) return with_static(c.tuple(0), fixed);
  const Layout& l = c.layout(0).layout();
  return c.layout(0).with(Layout(with_static(l.shape(), fixed), with_static(l.stride(), fixed)));
}

template <IntTuple (*Op)(const IntTuple&, const IntTuple&)>
Value tuple_pair(const Call& c) {
  return Op(c.tuple(0), c.tuple(1));
}

constexpr Function kTupleFunctions[] = {
    {"shape", "shape[<i,…>](layout)", 1, 1, [](const Call& c) -> Value { return shape_of(c); }},
    {"stride", "stride[<i,…>](layout)", 1, 1, [](const Call& c) -> Value { return stride_of(c); }},
    {"size", "size[<i,…>](layout|tuple)", 1, 1,
     [](const Call& c) -> Value { return IntTuple(size(shape_of(c))); }},
    {"rank", "rank[<i,…>](layout|tuple)", 1, 1,
     [](const Call& c) -> Value { return IntTuple(static_cast<int64_t>(shape_of(c).rank())); }},
    {"depth", "depth[<i,…>](layout|tuple)", 1, 1,
     [](const Call& c) -> Value { return IntTuple(static_cast<int64_t>(depth(shape_of(c)))); }},
    {"cosize", "cosize[<i,…>](layout)", 1, 1, cosize_call},
    {"coshape", "coshape(layout)", 1, 1,
     [](const Call& c) -> Value { return coshape(c.layout(0).layout()); }},
    {"flatten", "flatten(layout|tuple)", 1, 1, flatten_call},
    {"crd2idx", "crd2idx(coord, layout|shape[, stride])", 2, 3, crd2idx_call},
    {"idx2crd", "idx2crd(index, layout|shape[, stride])", 2, 3, idx2crd_call},
    {"product", "product(tuple)", 1, 1, [](const Call& c) -> Value { return IntTuple(product(c.tuple(0))); }},
    {"product_each", "product_each(tuple)", 1, 1,
     [](const Call& c) -> Value { return product_each(c.tuple(0)); }},
    {"ceil_div", "ceil_div(tuple, tuple)", 2, 2, tuple_pair<ceil_div>},
    {"shape_div", "shape_div(tuple, tuple)", 2, 2, tuple_pair<shape_div>},
    {"round_up", "round_up(tuple, tuple)", 2, 2, tuple_pair<round_up>},
    {"compact_col_major", "compact_col_major(shape)", 1, 1,
     [](const Call& c) -> Value { return compact_col_major(c.tuple(0)); }},
    {"compact_row_major", "compact_row_major(shape)", 1, 1,
     [](const Call& c) -> Value { return compact_row_major(c.tuple(0)); }},
    {"compact_order", "compact_order(shape, order)", 2, 2, tuple_pair<compact_order>},
    {"congruent", "congruent(a, b)", 2, 2,
     [](const Call& c) -> Value { return congruent(either_shape(c, 0), either_shape(c, 1)); }},
    {"compatible", "compatible(a, b)", 2, 2,
     [](const Call& c) -> Value { return compatible(either_shape(c, 0), either_shape(c, 1)); }},
    {"evenly_divides", "evenly_divides(shape, tiler shape)", 2, 2,
     [](const Call& c) -> Value { return evenly_divides(either_shape(c, 0), either_shape(c, 1)); }},
    {"make_static", "make_static(x): every number as _N", 1, 1,
     [](const Call& c) { return with_marks(c, true); }},
    {"make_dynamic", "make_dynamic(x): every number without mark", 1, 1,
     [](const Call& c) { return with_marks(c, false); }},
};

}  // namespace

std::span<const Function> tuple_functions() { return kTupleFunctions; }

}  // namespace drywell::layout
