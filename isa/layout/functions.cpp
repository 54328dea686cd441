// Argument access, and the functions on layouts.
#include "isa/layout/functions.h"

#include <fmt/format.h>

namespace drywell::layout {

namespace {

[[noreturn]] void wrong(const Call& c, size_t i, const char* wanted) {
  fail(Code::E1803, fmt::format("argument {} of {} must be {}", i + 1, c.name, wanted));
}

template <class T>
const T& get_argument(const Call& c, size_t i, const char* wanted) {
  if (i >= c.args.size()) wrong(c, i, wanted);
  const auto* v = std::get_if<T>(&c.args[i]);
  if (!v) wrong(c, i, wanted);
  return *v;
}

}  // namespace

const IntTuple& Call::tuple(size_t i) const {
  return get_argument<IntTuple>(*this, i, "an integer or a tuple of integers");
}

IntTuple Call::static_tuple(size_t i) const { return with_static(tuple(i), true); }

Int Call::integer(size_t i) const {
  const IntTuple& t = tuple(i);
  if (!t.is_leaf() || t.leaf().has_basis()) wrong(*this, i, "an integer");
  return t.leaf();
}

const ComposedLayout& Call::layout(size_t i) const {
  return get_argument<ComposedLayout>(*this, i, "a layout");
}

const Layout& Call::plain(size_t i) const {
  const ComposedLayout& l = layout(i);
  if (!l.is_plain()) wrong(*this, i, "a layout without swizzle or pointer");
  return l.layout();
}

Tiler Call::tiler(size_t i) const {
  if (i < args.size()) {
    if (const auto* t = std::get_if<Tiler>(&args[i])) return *t;
    if (const auto* t = std::get_if<IntTuple>(&args[i])) return Tiler(*t);
    if (const auto* l = std::get_if<ComposedLayout>(&args[i]); l && l->is_plain()) return Tiler(l->layout());
  }
  wrong(*this, i, "a tiler: a layout, an integer, '_' or a tuple of these");
}

const std::string& Call::word(size_t i) const { return get_argument<Word>(*this, i, "a word").text; }

size_t Call::mode(size_t i) const {
  if (fixed.at(i) < 0 || fixed[i] > static_cast<int64_t>(kMaxLeaves)) {
    fail(Code::E1810, fmt::format("{}: mode {} does not exist", name, fixed[i]));
  }
  return static_cast<size_t>(fixed[i]);
}

void Call::require_fixed(size_t lo, size_t hi) const {
  if (fixed.size() < lo || fixed.size() > hi) {
    fail(Code::E1803,
         fmt::format("{}<…> takes {} numbers in <>, found {}", name,
                     lo == hi ? fmt::format("{}", lo) : fmt::format("{} to {}", lo, hi), fixed.size()));
  }
}

namespace {

/// Applies `f` to the layout and keeps the swizzle and origin in front of it.
template <class F>
Value on_layout(const Call& c, F&& f) {
  return c.layout(0).with(f(c.layout(0).layout()));
}

const IntTuple& nested_mode(const Call& c, const IntTuple& t) {
  const IntTuple* p = &t;
  for (size_t i = 0; i < c.fixed.size(); ++i) p = &p->at(c.mode(i));
  return *p;
}

Layout nested_mode(const Call& c, const Layout& l) {
  return Layout(nested_mode(c, l.shape()), nested_mode(c, l.stride()));
}

Value make_layout_call(const Call& c) {
  if (c.is_layout(0)) {
    std::vector<Layout> modes;
    for (size_t i = 0; i < c.count(); ++i) modes.push_back(c.plain(i));
    return ComposedLayout(make_layout(modes));
  }
  if (c.count() == 1) return ComposedLayout(Layout(c.tuple(0)));
  if (c.count() > 2)
    fail(Code::E1803, "make_layout takes (shape), (shape, stride), (shape, order word) or layouts");
  if (!c.is_word(1)) return ComposedLayout(Layout(c.tuple(0), c.tuple(1)));
  const std::string& order = c.word(1);
  if (order == "LayoutLeft" || order == "GenColMajor") return ComposedLayout(Layout(c.tuple(0)));
  if (order == "LayoutRight" || order == "GenRowMajor") return ComposedLayout(make_layout_right(c.tuple(0)));
  fail(Code::E1802, fmt::format("unknown order '{}'", order), "LayoutLeft or LayoutRight");
}

template <Layout (*Op)(const Layout&, const Tiler&)>
Value tiled(const Call& c) {
  return on_layout(c, [&](const Layout& l) { return Op(l, c.tiler(1)); });
}

template <Layout (*Plain)(const Layout&), Layout (*Profiled)(const Layout&, const IntTuple&)>
Value with_profile(const Call& c) {
  return on_layout(c, [&](const Layout& l) { return c.count() == 1 ? Plain(l) : Profiled(l, c.tuple(1)); });
}

template <Layout (*Op)(const Layout&, const Layout&)>
Value layout_pair(const Call& c) {
  return on_layout(c, [&](const Layout& l) { return Op(l, c.plain(1)); });
}

Value composition_call(const Call& c) {
  if (const auto* f = std::get_if<Front>(&c.args[0]); f && f->swizzle) {
    if (const auto* g = std::get_if<Front>(&c.args[1]); g && g->swizzle) {
      return Front{composition(*f->swizzle, *g->swizzle), NoOrigin{}};
    }
    if (!c.layout(1).is_plain()) fail(Code::E1803, "composition of a swizzle needs a plain layout");
    if (f->swizzle->is_identity()) return c.layout(1);
    return ComposedLayout(*f->swizzle, Offset{}, c.layout(1).layout());
  }
  if (const auto* g = std::get_if<Front>(&c.args[1]); g && g->swizzle)
    return composition(c.plain(0), *g->swizzle);
  if (c.is_layout(1) && !c.layout(1).is_plain()) return composition(c.layout(0), c.layout(1));
  return on_layout(c, [&](const Layout& l) { return composition(l, c.tiler(1)); });
}

IntTuple cotarget(const Call& c) { return c.is_layout(1) ? c.layout(1).shape() : c.tuple(1); }

Value complement_call(const Call& c) {
  const Layout& l = c.layout(0).layout();
  return ComposedLayout(c.count() == 1 ? complement(l) : complement(l, cotarget(c)));
}

Value tile_to_shape_call(const Call& c) {
  return on_layout(c, [&](const Layout& l) {
    if (c.count() == 2) return tile_to_shape(l, c.tuple(1));
    const IntTuple order = c.static_tuple(2);
    return tile_to_shape(l, c.tuple(1), &order);
  });
}

Value local_tile_call(const Call& c) {
  if (c.count() == 3) return local_tile(c.layout(0), c.tiler(1), c.tuple(2));
  return local_tile(c.layout(0), c.tiler(1), c.tuple(2), &c.tuple(3));
}

/// slice and dice take the coordinate and the layout or tuple in either order.
template <class OnTuple, class OnLayout>
Value cut(const Call& c, OnTuple on_tuple, OnLayout on_layout_value) {
  if (c.is_layout(0)) return on_layout_value(c.tuple(1), c.layout(0));
  if (c.is_layout(1)) return on_layout_value(c.tuple(0), c.layout(1));
  return on_tuple(c.tuple(0), c.tuple(1));
}

template <Layout (*Fill)(const Layout&, const Layout&, size_t), Layout (*One)(const Layout&, const Layout&),
          IntTuple (*FillTuple)(const IntTuple&, const IntTuple&, size_t),
          IntTuple (*OneTuple)(const IntTuple&, const IntTuple&)>
Value extend(const Call& c) {
  c.require_fixed(0, 1);
  const bool fill = !c.fixed.empty();
  if (c.is_tuple(0)) {
    const IntTuple x = c.count() > 1 ? c.tuple(1) : IntTuple(1);
    return fill ? FillTuple(c.tuple(0), x, c.mode(0)) : OneTuple(c.tuple(0), x);
  }
  const Layout x = c.count() > 1 ? c.plain(1) : Layout();
  return on_layout(c, [&](const Layout& l) { return fill ? Fill(l, x, c.mode(0)) : One(l, x); });
}

Value group_call(const Call& c) {
  c.require_fixed(2, 2);
  if (c.is_tuple(0)) return group(c.tuple(0), c.mode(0), c.mode(1));
  return on_layout(c, [&](const Layout& l) { return group_modes(l, c.mode(0), c.mode(1)); });
}

Value take_call(const Call& c) {
  c.require_fixed(2, 2);
  if (c.is_tuple(0)) return take(c.tuple(0), c.mode(0), c.mode(1));
  return on_layout(c, [&](const Layout& l) { return take(l, c.mode(0), c.mode(1)); });
}

Value select_call(const Call& c) {
  c.require_fixed(1, 64);
  std::vector<size_t> modes;
  for (size_t i = 0; i < c.fixed.size(); ++i) modes.push_back(c.mode(i));
  if (c.is_tuple(0)) return select(c.tuple(0), modes);
  return on_layout(c, [&](const Layout& l) { return select(l, modes); });
}

Value get_call(const Call& c) {
  if (c.is_tuple(0)) return nested_mode(c, c.tuple(0));
  return on_layout(c, [&](const Layout& l) { return nested_mode(c, l); });
}

template <ComposedLayout (*OnComposed)(const ComposedLayout&, int64_t),
          Swizzle (*OnSwizzle)(const Swizzle&, int64_t)>
Value cast_call(const Call& c) {
  c.require_fixed(1, 1);
  if (const auto* f = std::get_if<Front>(&c.args[0]);
      f && f->swizzle && std::holds_alternative<NoOrigin>(f->origin)) {
    return Front{OnSwizzle(*f->swizzle, c.fixed[0]), NoOrigin{}};
  }
  return OnComposed(c.layout(0), c.fixed[0]);
}

Value recast_call(const Call& c) {
  c.require_fixed(1, 2);
  if (c.fixed.size() == 2) return recast_layout(c.layout(0), c.fixed[0], c.fixed[1]);
  const auto bits = c.layout(0).element_bits();
  if (!bits) fail(Code::E1803, "recast needs the old width too", "recast<old_bits,new_bits>(layout)");
  return recast_layout(c.layout(0), *bits, c.fixed[0]);
}

constexpr Function kFunctions[] = {
    {"make_layout", "make_layout(shape) | (shape, stride) | (shape, LayoutRight) | (layout, …)", 1, 64,
     make_layout_call},
    {"make_ordered_layout", "make_ordered_layout(shape, order)", 2, 2,
     [](const Call& c) -> Value { return ComposedLayout(make_ordered_layout(c.tuple(0), c.tuple(1))); }},
    {"make_layout_like", "make_layout_like(layout)", 1, 1,
     [](const Call& c) -> Value { return ComposedLayout(make_layout_like(c.layout(0).layout())); }},
    {"make_fragment_like", "make_fragment_like(layout)", 1, 1,
     [](const Call& c) -> Value { return ComposedLayout(make_fragment_like(c.layout(0).layout())); }},
    {"make_identity_layout", "make_identity_layout(shape)", 1, 1,
     [](const Call& c) -> Value { return ComposedLayout(make_identity_layout(c.tuple(0))); }},
    {"make_identity_tensor", "make_identity_tensor(shape)", 1, 1,
     [](const Call& c) -> Value {
       return ComposedLayout(std::nullopt, CoordOrigin{wrap(repeat_like(c.tuple(0), 0))},
                             make_identity_layout(c.tuple(0)));
     }},
    {"get", "get<i,…>(layout|tuple)", 1, 1, get_call},
    {"layout", "layout<i,…>(layout)", 1, 1, get_call},
    {"take", "take<begin,end>(layout|tuple)", 1, 1, take_call},
    {"select", "select<i,…>(layout|tuple)", 1, 1, select_call},
    {"group_modes", "group_modes<begin,end>(layout|tuple)", 1, 1, group_call},
    {"group", "group<begin,end>(layout|tuple)", 1, 1, group_call},
    {"append", "append(x, mode) | append<rank>(x[, mode])", 1, 2, extend<append, append, append, append>},
    {"prepend", "prepend(x, mode) | prepend<rank>(x[, mode])", 1, 2,
     extend<prepend, prepend, prepend, prepend>},
    {"replace", "replace<i>(layout, mode)", 2, 2,
     [](const Call& c) -> Value {
       c.require_fixed(1, 1);
       return on_layout(c, [&](const Layout& l) { return replace(l, c.mode(0), c.plain(1)); });
     }},
    {"zip", "zip(layout) | zip(layout, layout)", 1, 2,
     [](const Call& c) -> Value {
       return on_layout(c, [&](const Layout& l) { return c.count() == 1 ? zip(l) : zip(l, c.plain(1)); });
     }},
    {"slice", "slice(coord, layout|tuple)", 2, 2,
     [](const Call& c) -> Value {
       return cut(
           c, [](const IntTuple& a, const IntTuple& b) -> Value { return slice(a, b); },
           [](const IntTuple& a, const ComposedLayout& l) -> Value { return slice(a, l); });
     }},
    {"dice", "dice(coord, layout|tuple)", 2, 2,
     [](const Call& c) -> Value {
       return cut(
           c, [](const IntTuple& a, const IntTuple& b) -> Value { return dice(a, b); },
           [](const IntTuple& a, const ComposedLayout& l) -> Value { return l.with(dice(a, l.layout())); });
     }},
    {"coalesce", "coalesce(layout[, profile])", 1, 2, with_profile<coalesce, coalesce>},
    {"filter", "filter(layout[, profile])", 1, 2, with_profile<filter, filter>},
    {"filter_zeros", "filter_zeros(layout[, profile])", 1, 2, with_profile<filter_zeros, filter_zeros>},
    {"composition", "composition(layout|swizzle, layout|tiler|swizzle)", 2, 2, composition_call},
    {"complement", "complement(layout[, cotarget])", 1, 2, complement_call},
    {"right_inverse", "right_inverse(layout)", 1, 1,
     [](const Call& c) -> Value { return right_inverse(c.layout(0)); }},
    {"left_inverse", "left_inverse(layout)", 1, 1,
     [](const Call& c) -> Value { return left_inverse(c.layout(0)); }},
    {"max_common_layout", "max_common_layout(layout, layout)", 2, 2,
     [](const Call& c) -> Value { return ComposedLayout(max_common_layout(c.plain(0), c.plain(1))); }},
    {"max_common_vector", "max_common_vector(layout, layout)", 2, 2,
     [](const Call& c) -> Value { return IntTuple(max_common_vector(c.layout(0), c.layout(1))); }},
    {"nullspace", "nullspace(layout)", 1, 1,
     [](const Call& c) -> Value { return ComposedLayout(nullspace(c.plain(0))); }},
    {"logical_divide", "logical_divide(layout, tiler)", 2, 2, tiled<logical_divide>},
    {"zipped_divide", "zipped_divide(layout, tiler)", 2, 2, tiled<zipped_divide>},
    {"tiled_divide", "tiled_divide(layout, tiler)", 2, 2, tiled<tiled_divide>},
    {"flat_divide", "flat_divide(layout, tiler)", 2, 2, tiled<flat_divide>},
    {"logical_product", "logical_product(block, tiler)", 2, 2, tiled<logical_product>},
    {"zipped_product", "zipped_product(block, tiler)", 2, 2, tiled<zipped_product>},
    {"tiled_product", "tiled_product(block, tiler)", 2, 2, tiled<tiled_product>},
    {"flat_product", "flat_product(block, tiler)", 2, 2, tiled<flat_product>},
    {"blocked_product", "blocked_product(block, tiler)", 2, 2, layout_pair<blocked_product>},
    {"raked_product", "raked_product(block, tiler)", 2, 2, layout_pair<raked_product>},
    {"tile_to_shape", "tile_to_shape(block, shape[, order])", 2, 3, tile_to_shape_call},
    {"local_tile", "local_tile(layout|tensor, tiler, coord[, projection])", 3, 4, local_tile_call},
    {"upcast", "upcast<n>(layout|swizzle)", 1, 1, cast_call<upcast, upcast>},
    {"downcast", "downcast<n>(layout|swizzle)", 1, 1, cast_call<downcast, downcast>},
    {"recast", "recast<new_bits>(tensor) | recast<old_bits,new_bits>(layout)", 1, 1, recast_call},
    {"recast_layout", "recast_layout<old_bits,new_bits>(layout)", 1, 1, recast_call},
    {"as_position_independent", "as_position_independent(Sw o smem_ptr[Nb](unset) o layout)", 1, 1,
     [](const Call& c) -> Value { return as_position_independent(c.layout(0)); }},
};

}  // namespace

std::span<const Function> algebra_functions() { return kFunctions; }

}  // namespace drywell::layout
