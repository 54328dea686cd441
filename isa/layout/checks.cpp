#include "drywell/isa/layout/checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/isa/layout/print.h"

namespace drywell::layout {
namespace {

constexpr int64_t kMaxVisited = int64_t{1} << 26;
constexpr int64_t kMaxSpread = int64_t{1} << 31;
constexpr int64_t kMaxCoordinates = int64_t{1} << 20;

struct Mode {
  int64_t extent, stride;
};

bool has_coordinates(const IntTuple& stride) {
  if (!stride.is_tuple()) return stride.leaf().has_basis();
  return std::any_of(stride.modes().begin(), stride.modes().end(), has_coordinates);
}

/// The integer that a basis path stands for when a coordinate within `coshape` is read as a number.
Int weight_of(const Int& e, const IntTuple& coshape) {
  Int weight = 1;
  const IntTuple* at = &coshape;
  for (int level = 0; level < e.basis_depth && at->is_tuple(); ++level) {
    for (size_t i = 0; i < e.basis[level]; ++i) weight = weight * product(at->at(i));
    at = &at->at(e.basis[level]);
  }
  return weight * Int(e.value);
}

/// Flat integer modes; coordinate strides become numbers by enumerating the codomain.
std::vector<Mode> flat_modes(const Layout& l) {
  const IntTuple s = flatten_to_tuple(l.shape()), d = flatten_to_tuple(l.stride());
  const bool coords = has_coordinates(l.stride());
  const IntTuple box = coords ? coshape(l) : IntTuple(1);
  std::vector<Mode> out;
  for (size_t i = 0; i < s.rank(); ++i) {
    const Int stride = coords ? weight_of(d[i].leaf(), box) : d[i].leaf();
    out.push_back({s[i].leaf().value, stride.value});
  }
  return out;
}

int64_t element_count(const Layout& l) { return size(l).value; }

int64_t checked_size(const Layout& l) {
  const int64_t n = element_count(l);
  if (n > kMaxVisited) fail(Code::E1808, fmt::format("{} elements are too many to visit one by one", n));
  return n;
}

/// Steps through the coordinates of a plain layout in colexicographic order.
class Walker {
 public:
  explicit Walker(const Layout& l) : modes_(flat_modes(l)), at_(modes_.size(), 0) {}
  int64_t index() const { return index_; }
  void next() {
    for (size_t m = 0; m < modes_.size(); ++m) {
      index_ += modes_[m].stride;
      if (++at_[m] < modes_[m].extent) return;
      index_ -= modes_[m].stride * modes_[m].extent;
      at_[m] = 0;
    }
  }

 private:
  std::vector<Mode> modes_;
  std::vector<int64_t> at_;
  int64_t index_ = 0;
};

/// The swizzle and offset in front of a layout, as a function of one integer.
class FrontFunction {
 public:
  explicit FrontFunction(const ComposedLayout& l) : front_(l.with(Layout(Int(INT32_MAX), Int(1)))) {
    if (!l.swizzle()) base_ = front_.index(0);
  }
  int64_t operator()(int64_t i) const { return front_.swizzle() ? front_.index(i) : i + base_; }

 private:
  ComposedLayout front_;
  int64_t base_ = 0;
};

/// Calls f(coordinate, index) for every coordinate until it returns false; swizzle and offset are applied.
template <class F>
void visit(const ComposedLayout& l, F&& f) {
  const int64_t n = checked_size(l.layout());
  Walker w(l.layout());
  const FrontFunction front(l);
  for (int64_t c = 0; c < n && f(c, front(w.index())); ++c) w.next();
}

IndexRange plain_range(const std::vector<Mode>& modes) {
  Int low = 0, high = 0;
  for (const Mode& m : modes) {
    if (m.extent == 0) return {};
    const Int reach = Int(m.extent - 1) * Int(m.stride);
    (reach.value < 0 ? low : high) = (reach.value < 0 ? low : high) + reach;
  }
  return {low.value, high.value};
}

std::string at_coordinate(const ComposedLayout& l, int64_t c) {
  return to_string(idx2crd(Int(c), l.shape()), Marks::plain);
}

/// True if each stride is greater than the span of all smaller strides: then the layout is injective.
bool clearly_injective(std::vector<Mode> modes) {
  std::erase_if(modes, [](const Mode& m) { return m.extent <= 1; });
  std::sort(modes.begin(), modes.end(),
            [](const Mode& a, const Mode& b) { return std::abs(a.stride) < std::abs(b.stride); });
  Int reached = 0;
  for (const Mode& m : modes) {
    if (std::abs(m.stride) <= reached.value) return false;
    reached = reached + Int(m.extent - 1) * Int(std::abs(m.stride));
  }
  return true;
}

/// One bit per index between low and high.
class Seen {
 public:
  explicit Seen(IndexRange r) : low_(r.low), spread_((Int(r.high) - Int(r.low) + Int(1)).value) {
    if (spread_ > kMaxSpread)
      fail(Code::E1808, fmt::format("indices spread over {} places are too many to mark", spread_));
    bits_.resize(static_cast<size_t>(spread_ + 63) / 64);
  }
  /// True when the index was new.
  bool mark(int64_t index) {
    const auto at = static_cast<uint64_t>(index - low_);
    const uint64_t bit = uint64_t{1} << (at % 64);
    const bool is_new = (bits_[at / 64] & bit) == 0;
    bits_[at / 64] |= bit;
    return is_new;
  }
  int64_t spread() const { return spread_; }
  /// The first index not marked; low + spread when all are.
  int64_t first_hole() const {
    int64_t at = 0;
    while (at < spread_ && (bits_[static_cast<size_t>(at / 64)] >> (at % 64) & 1)) ++at;
    return low_ + at;
  }

 private:
  int64_t low_, spread_;
  std::vector<uint64_t> bits_;
};

void require_integers(const ComposedLayout& l, const char* what) {
  if (has_coordinates(l.layout().stride()) || std::holds_alternative<CoordOrigin>(l.origin())) {
    fail(Code::E1804, fmt::format("{} needs a layout into the integers, not into coordinates", what));
  }
}

}  // namespace

IndexRange index_range(const ComposedLayout& l) {
  require_integers(l, "an index range");
  if (element_count(l.layout()) == 0) return {};
  if (!l.swizzle()) {
    const IndexRange r = plain_range(flat_modes(l.layout()));
    const Int base = FrontFunction(l)(0);
    return {(Int(r.low) + base).value, (Int(r.high) + base).value};
  }
  IndexRange r{INT64_MAX, INT64_MIN};
  visit(l, [&](int64_t, int64_t i) {
    r = {std::min(r.low, i), std::max(r.high, i)};
    return true;
  });
  return r;
}

CheckResult check_injective(const ComposedLayout& l) {
  // A swizzle and an offset are one to one, so the layout alone decides whether the function is injective.
  const std::vector<Mode> modes = flat_modes(l.layout());
  if (element_count(l.layout()) <= 1 || clearly_injective(modes))
    return {true, "every coordinate has its own index"};
  const ComposedLayout plain = l.layout();
  Seen seen(plain_range(modes));
  int64_t first = -1, second = -1, index = 0;
  visit(plain, [&](int64_t c, int64_t i) {
    if (seen.mark(i)) return true;
    second = c;
    index = i;
    return false;
  });
  if (second < 0) return {true, "every coordinate has its own index"};
  visit(plain, [&](int64_t c, int64_t i) {
    first = c;
    return i != index;
  });
  return {false, fmt::format("{} and {} both map to {}", at_coordinate(l, first), at_coordinate(l, second),
                             to_string(l(Int(second)), Marks::plain))};
}

CheckResult check_bijective(const ComposedLayout& l) {
  require_integers(l, "bijective");
  const int64_t n = element_count(l.layout());
  const CheckResult injective = check_injective(l);
  if (!injective.ok) return injective;
  const IndexRange r = index_range(l);
  if (n == 0 || (r.low == 0 && r.high == n - 1)) return {true, fmt::format("one to one onto [0,{})", n)};
  return {false, fmt::format("the indices lie in [{},{}], not in [0,{})", r.low, r.high, n)};
}

CheckResult check_contiguous(const ComposedLayout& l) {
  require_integers(l, "contiguous");
  const IndexRange r = index_range(l);
  if (r.high < r.low) return {true, "no indices"};
  Seen seen(r);
  visit(l, [&](int64_t, int64_t i) {
    seen.mark(i);
    return true;
  });
  const int64_t hole = seen.first_hole();
  if (hole > r.high) return {true, fmt::format("all indices of [{},{}] are reached", r.low, r.high)};
  return {false, fmt::format("index {} between {} and {} is not reached", hole, r.low, r.high)};
}

CheckResult check_in_bounds(const ComposedLayout& l, int64_t n) {
  require_integers(l, "in-bounds");
  const IndexRange r = index_range(l);
  if (r.high < r.low || (r.low >= 0 && r.high < n)) {
    return {true, fmt::format("the indices lie in [{},{}], within [0,{})", r.low, r.high, n)};
  }
  return {false, fmt::format("the indices lie in [{},{}], not within [0,{})", r.low, r.high, n)};
}

namespace {

/// A codomain value in one form: trailing zeros of coordinates dropped, so that 0, (0) and (0,0) are the
/// same.
IntTuple normal_form(const IntTuple& value) {
  const IntTuple t = as_arithmetic_tuple(value);
  if (!t.is_tuple()) return t.leaf().value;
  std::vector<IntTuple> out;
  for (const IntTuple& m : t.modes()) out.push_back(normal_form(m));
  while (!out.empty() && is_constant(out.back(), 0)) out.pop_back();
  return out.empty() ? IntTuple(0) : IntTuple(std::move(out));
}

bool has_coordinate_codomain(const ComposedLayout& l) {
  return has_coordinates(l.layout().stride()) || std::holds_alternative<CoordOrigin>(l.origin());
}

/// The first 1-D coordinate where two layouts of n elements differ, or n.
int64_t first_difference(const ComposedLayout& a, const ComposedLayout& b, int64_t n) {
  if (has_coordinate_codomain(a) || has_coordinate_codomain(b)) {
    if (n > kMaxCoordinates) fail(Code::E1808, fmt::format("{} coordinates are too many to compare", n));
    int64_t c = 0;
    while (c < n && normal_form(a(Int(c))) == normal_form(b(Int(c)))) ++c;
    return c;
  }
  Walker x(a.layout()), y(b.layout());
  const FrontFunction f(a), g(b);
  int64_t c = 0;
  for (; c < n && f(x.index()) == g(y.index()); ++c) {
    x.next();
    y.next();
  }
  return c;
}

}  // namespace

CheckResult check_equal(const ComposedLayout& a, const ComposedLayout& b) {
  const int64_t n = element_count(a.layout()), m = element_count(b.layout());
  if (n != m) return {false, fmt::format("the sizes {} and {} differ", n, m)};
  const int64_t c = first_difference(a, b, checked_size(a.layout()));
  if (c == n) return {true, fmt::format("equal at all {} coordinates", n)};
  return {false,
          fmt::format("first difference at coordinate {} ({} in the one, {} in the other): {} against {}", c,
                      at_coordinate(a, c), at_coordinate(b, c), to_string(a(Int(c)), Marks::plain),
                      to_string(b(Int(c)), Marks::plain))};
}

std::vector<int64_t> all_indices(const ComposedLayout& l, int64_t limit) {
  const int64_t n = element_count(l.layout());
  if (n > limit) fail(Code::E1808, fmt::format("{} elements are more than {}", n, limit));
  require_integers(l, "a list of indices");
  std::vector<int64_t> out;
  out.reserve(static_cast<size_t>(n));
  visit(l, [&](int64_t, int64_t i) {
    out.push_back(i);
    return true;
  });
  return out;
}

}  // namespace drywell::layout
