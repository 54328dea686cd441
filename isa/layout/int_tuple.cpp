#include "drywell/isa/layout/int_tuple.h"

#include <fmt/format.h>

#include <algorithm>

namespace drywell::layout {
namespace {

size_t count_within(const IntTuple& t, size_t budget, int levels) {
  if (levels > kMaxDepth) fail(Code::E1808, fmt::format("nested deeper than {} levels", kMaxDepth));
  if (!t.is_tuple()) return 1;
  size_t n = 0;
  for (const IntTuple& m : t.modes()) {
    n += count_within(m, budget, levels + 1);
    if (n > budget) fail(Code::E1808, fmt::format("more than {} leaves", kMaxLeaves));
  }
  return n;
}

/// Applies f to pairs of modes of two tuples of equal rank.
template <class F>
IntTuple transform(const IntTuple& a, const IntTuple& b, F&& f) {
  if (a.rank() != b.rank()) fail(Code::E1804, fmt::format("ranks {} and {} do not match", a.rank(), b.rank()));
  std::vector<IntTuple> out;
  out.reserve(a.rank());
  for (size_t i = 0; i < a.rank(); ++i) out.push_back(f(a[i], b[i]));
  return IntTuple(std::move(out));
}

template <class F>
IntTuple transform(const IntTuple& a, F&& f) {
  std::vector<IntTuple> out;
  out.reserve(a.rank());
  for (const IntTuple& m : a.modes()) out.push_back(f(m));
  return IntTuple(std::move(out));
}

void collect_leaves(const IntTuple& t, std::vector<IntTuple>& out) {
  if (!t.is_tuple()) {
    out.push_back(t);
    return;
  }
  for (const IntTuple& m : t.modes()) collect_leaves(m, out);
}

/// Divides the integer `b` across the modes of the tuple `a`, with `div` for one mode.
template <class Div>
IntTuple fold_div(const IntTuple& a, const IntTuple& b, Div&& div) {
  std::vector<IntTuple> out;
  IntTuple rest = b;
  for (const IntTuple& m : a.modes()) {
    out.push_back(div(m, rest));
    rest = div(rest, m);
  }
  return IntTuple(std::move(out));
}

}  // namespace

IntTuple::IntTuple(std::vector<IntTuple> modes) : kind_(Kind::tuple), modes_(std::move(modes)) {
  count_within(*this, kMaxLeaves, 0);
}

IntTuple IntTuple::underscore() {
  IntTuple t;
  t.kind_ = Kind::underscore;
  return t;
}

const Int& IntTuple::leaf() const {
  if (!is_leaf())
    fail(Code::E1804, is_tuple() ? "expected an integer, found a tuple" : "expected an integer, found '_'");
  return leaf_;
}

std::span<const IntTuple> IntTuple::modes() const {
  if (is_tuple()) return modes_;
  return {this, 1};
}

const IntTuple& IntTuple::at(size_t i) const {
  if (i >= rank()) fail(Code::E1810, fmt::format("mode {} does not exist, the rank is {}", i, rank()));
  return is_tuple() ? modes_[i] : *this;
}

const IntTuple& IntTuple::back() const {
  if (rank() == 0) fail(Code::E1810, "an empty tuple has no last mode");
  return at(rank() - 1);
}

bool IntTuple::operator==(const IntTuple& o) const {
  return kind_ == o.kind_ && leaf_ == o.leaf_ && modes_ == o.modes_;
}

bool is_constant(const IntTuple& t, int64_t v) { return t.is_leaf() && t.leaf().is_constant(v); }

bool has_underscore(const IntTuple& t) {
  if (!t.is_tuple()) return t.is_underscore();
  return std::any_of(t.modes().begin(), t.modes().end(), [](const IntTuple& m) { return has_underscore(m); });
}

bool is_static(const IntTuple& t) {
  if (t.is_leaf()) return t.leaf().is_static;
  return !t.is_tuple() ||
         std::all_of(t.modes().begin(), t.modes().end(), [](const IntTuple& m) { return is_static(m); });
}

size_t leaf_count(const IntTuple& t) {
  if (!t.is_tuple()) return 1;
  size_t n = 0;
  for (const IntTuple& m : t.modes()) n += leaf_count(m);
  return n;
}

int depth(const IntTuple& t) {
  if (!t.is_tuple()) return 0;
  int d = 0;
  for (const IntTuple& m : t.modes()) d = std::max(d, depth(m));
  return d + 1;
}

bool congruent(const IntTuple& a, const IntTuple& b) {
  if (a.is_tuple() != b.is_tuple()) return false;
  if (!a.is_tuple()) return true;
  return std::equal(a.modes().begin(), a.modes().end(), b.modes().begin(), b.modes().end(), congruent);
}

bool compatible(const IntTuple& a, const IntTuple& b) {
  if (a.is_tuple() && b.is_tuple()) {
    return std::equal(a.modes().begin(), a.modes().end(), b.modes().begin(), b.modes().end(), compatible);
  }
  return !a.is_tuple() && a.leaf().value == size(b).value;
}

bool same_values(const IntTuple& a, const IntTuple& b) {
  if (a.is_tuple() && b.is_tuple()) {
    return std::equal(a.modes().begin(), a.modes().end(), b.modes().begin(), b.modes().end(), same_values);
  }
  if (a.is_leaf() && b.is_leaf()) return a.leaf().value == b.leaf().value && a.leaf().same_basis(b.leaf());
  return a.is_underscore() && b.is_underscore();
}

IntTuple with_static(const IntTuple& t, bool fixed) {
  if (t.is_tuple()) return transform(t, [&](const IntTuple& m) { return with_static(m, fixed); });
  if (t.is_underscore()) return t;
  Int v = t.leaf();
  v.is_static = fixed;
  return v;
}

Int product(const IntTuple& t) {
  if (!t.is_tuple()) return t.leaf();
  Int p = 1;
  for (const IntTuple& m : t.modes()) p = p * product(m);
  return p;
}

IntTuple product_each(const IntTuple& t) {
  return transform(wrap(t), [](const IntTuple& m) { return IntTuple(product(m)); });
}

IntTuple product_like(const IntTuple& t, const IntTuple& guide) {
  if (!guide.is_tuple()) return product(t);
  return transform(t, guide, [](const IntTuple& m, const IntTuple& g) { return product_like(m, g); });
}

IntTuple repeat_like(const IntTuple& t, const IntTuple& x) {
  if (!t.is_tuple()) return x;
  return transform(t, [&](const IntTuple& m) { return repeat_like(m, x); });
}

IntTuple repeat(size_t n, const IntTuple& x) {
  if (n == 1) return x;
  return IntTuple(std::vector<IntTuple>(n, x));
}

IntTuple wrap(const IntTuple& t) { return t.is_tuple() ? t : IntTuple::of({t}); }

IntTuple unwrap(IntTuple t) {
  while (t.is_tuple() && t.rank() == 1) t = IntTuple(t[0]);
  return t;
}

IntTuple flatten_to_tuple(const IntTuple& t) {
  std::vector<IntTuple> out;
  collect_leaves(t, out);
  return IntTuple(std::move(out));
}

IntTuple flatten(const IntTuple& t) { return t.is_tuple() ? flatten_to_tuple(t) : t; }

namespace {

IntTuple take_profile(std::span<const IntTuple> flat, size_t& next, const IntTuple& profile) {
  if (!profile.is_tuple()) return flat[next++];
  return transform(profile, [&](const IntTuple& p) { return take_profile(flat, next, p); });
}

}  // namespace

IntTuple unflatten(const IntTuple& flat, const IntTuple& profile) {
  if (flat.rank() != leaf_count(profile)) {
    fail(Code::E1804,
         fmt::format("{} modes do not fit a profile of {} leaves", flat.rank(), leaf_count(profile)));
  }
  size_t next = 0;
  return take_profile(flat.modes(), next, profile);
}

IntTuple append(const IntTuple& t, const IntTuple& x) {
  std::vector<IntTuple> modes(t.modes().begin(), t.modes().end());
  modes.push_back(x);
  return IntTuple(std::move(modes));
}

IntTuple append(const IntTuple& t, const IntTuple& x, size_t n) {
  if (t.rank() > n) fail(Code::E1804, fmt::format("rank {} is already larger than {}", t.rank(), n));
  if (t.rank() == n) return t;
  if (n > kMaxLeaves) fail(Code::E1808, fmt::format("more than {} leaves", kMaxLeaves));
  std::vector<IntTuple> modes(t.modes().begin(), t.modes().end());
  modes.resize(n, x);
  return IntTuple(std::move(modes));
}

IntTuple prepend(const IntTuple& t, const IntTuple& x) {
  std::vector<IntTuple> modes{x};
  modes.insert(modes.end(), t.modes().begin(), t.modes().end());
  return IntTuple(std::move(modes));
}

IntTuple prepend(const IntTuple& t, const IntTuple& x, size_t n) {
  if (t.rank() > n) fail(Code::E1804, fmt::format("rank {} is already larger than {}", t.rank(), n));
  if (t.rank() == n) return t;
  if (n > kMaxLeaves) fail(Code::E1808, fmt::format("more than {} leaves", kMaxLeaves));
  std::vector<IntTuple> modes(n - t.rank(), x);
  modes.insert(modes.end(), t.modes().begin(), t.modes().end());
  return IntTuple(std::move(modes));
}

IntTuple take(const IntTuple& t, size_t b, size_t e) {
  if (b > e || e > t.rank())
    fail(Code::E1810, fmt::format("modes [{},{}) do not exist, the rank is {}", b, e, t.rank()));
  return IntTuple(std::vector<IntTuple>(t.modes().begin() + b, t.modes().begin() + e));
}

IntTuple select(const IntTuple& t, std::span<const size_t> modes) {
  std::vector<IntTuple> out;
  for (size_t i : modes) out.push_back(t.at(i));
  return IntTuple(std::move(out));
}

IntTuple group(const IntTuple& t, size_t b, size_t e) {
  IntTuple inner = take(t, b, e);
  std::vector<IntTuple> out(t.modes().begin(), t.modes().begin() + b);
  out.push_back(std::move(inner));
  out.insert(out.end(), t.modes().begin() + e, t.modes().end());
  return IntTuple(std::move(out));
}

namespace {

/// Appends to `out` the parts of `t` paired with `_` when keep_sliced, else the other parts.
void keep(const IntTuple& coord, const IntTuple& t, bool keep_sliced, std::vector<IntTuple>& out) {
  if (!coord.is_tuple()) {
    if (coord.is_underscore() == keep_sliced) out.push_back(t);
    return;
  }
  if (!t.is_tuple() || coord.rank() != t.rank()) {
    fail(Code::E1804,
         fmt::format("a coordinate of rank {} does not fit a mode of rank {}", coord.rank(), t.rank()));
  }
  for (size_t i = 0; i < coord.rank(); ++i) keep(coord[i], t[i], keep_sliced, out);
}

IntTuple keep_entry(const IntTuple& coord, const IntTuple& t, bool keep_sliced) {
  if (!coord.is_tuple() && coord.is_underscore() == keep_sliced) return t;
  std::vector<IntTuple> out;
  keep(coord, t, keep_sliced, out);
  return IntTuple(std::move(out));
}

}  // namespace

IntTuple slice(const IntTuple& coord, const IntTuple& t) { return keep_entry(coord, t, true); }
IntTuple dice(const IntTuple& coord, const IntTuple& t) { return keep_entry(coord, t, false); }

IntTuple zip(const IntTuple& t) {
  if (!t.is_tuple() || t.rank() == 0) fail(Code::E1804, "zip needs a tuple of tuples");
  std::vector<IntTuple> out;
  for (size_t i = 0; i < t[0].rank(); ++i) {
    std::vector<IntTuple> column;
    for (const IntTuple& m : t.modes()) {
      if (!m.is_tuple() || m.rank() != t[0].rank()) fail(Code::E1804, "zip needs tuples of equal rank");
      column.push_back(m[i]);
    }
    out.push_back(IntTuple(std::move(column)));
  }
  return IntTuple(std::move(out));
}

IntTuple zip(const IntTuple& a, const IntTuple& b) {
  if (!a.is_tuple() && !b.is_tuple()) return IntTuple::of({IntTuple::of({a, b})});
  return zip(IntTuple::of({a, b}));
}

IntTuple ceil_div(const IntTuple& a, const IntTuple& b) {
  if (a.is_tuple() && b.is_tuple()) {
    return transform(a, append(b, 1, std::max(a.rank(), b.rank())),
                     [](const IntTuple& x, const IntTuple& y) { return ceil_div(x, y); });
  }
  if (a.is_tuple())
    return fold_div(a, b, [](const IntTuple& x, const IntTuple& y) { return ceil_div(x, y); });
  return ceil_div(a.leaf(), product(b));
}

IntTuple shape_div(const IntTuple& a, const IntTuple& b) {
  if (a.is_tuple() && b.is_tuple()) {
    return transform(a, b, [](const IntTuple& x, const IntTuple& y) { return shape_div(x, y); });
  }
  if (a.is_tuple())
    return fold_div(a, b, [](const IntTuple& x, const IntTuple& y) { return shape_div(x, y); });
  const Int x = a.leaf();
  const Int y = product(b);
  if (x.value != 0 && y.value != 0 && x.value % y.value != 0 && y.value % x.value != 0) {
    fail(Code::E1805, fmt::format("shape_div: neither of {} and {} divides the other", x.value, y.value));
  }
  return ceil_div(x, y);
}

IntTuple round_up(const IntTuple& a, const IntTuple& b) {
  if (a.is_tuple() && b.is_tuple()) {
    return transform(a, append(b, 1, std::max(a.rank(), b.rank())),
                     [](const IntTuple& x, const IntTuple& y) { return round_up(x, y); });
  }
  return ceil_div(a.leaf(), b.leaf()) * b.leaf();
}

bool evenly_divides(const IntTuple& a, const IntTuple& b) {
  if (b.is_tuple()) {
    if (b.rank() > a.rank()) return false;
    for (size_t i = 0; i < b.rank(); ++i) {
      if (!evenly_divides(a[i], b[i])) return false;
    }
    return true;
  }
  return size(a).value == (size(b) * size(ceil_div(a, b))).value;
}

IntTuple filter_zeros(const IntTuple& a, const IntTuple& b) {
  if (a.is_tuple())
    return transform(a, b, [](const IntTuple& x, const IntTuple& y) { return filter_zeros(x, y); });
  return is_constant(a, 0) ? repeat_like(b, 1) : b;
}

IntTuple coalesce_shape(const IntTuple& shape) {
  const IntTuple flat = flatten(shape);
  if (!flat.is_tuple()) return flat;
  std::vector<IntTuple> out;
  for (const IntTuple& m : flat.modes()) {
    if (!out.empty() && is_static(out.back()) == is_static(m)) {
      out.back() = out.back().leaf() * m.leaf();
    } else {
      out.push_back(m);
    }
  }
  return out.size() == 1 ? out.front() : IntTuple(std::move(out));
}

}  // namespace drywell::layout
