#include "drywell/isa/layout/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "drywell/core/types.h"
#include "drywell/isa/layout/checks.h"
#include "drywell/isa/layout/print.h"
#include "drywell/isa/tmem_layout.h"

namespace drywell::layout {
namespace {

constexpr int64_t kMaxPlaced = int64_t{1} << 20;
constexpr int kSteps = 16, kBanks = 32, kChunks = 8;

Grid empty_grid(std::string title, int64_t rows, int64_t columns, const PictureOptions& o) {
  Grid g;
  g.title = std::move(title);
  g.rows = static_cast<size_t>(std::min<int64_t>(rows, static_cast<int64_t>(o.max_rows)));
  g.columns = static_cast<size_t>(std::min<int64_t>(columns, static_cast<int64_t>(o.max_columns)));
  if (static_cast<int64_t>(g.rows) < rows || static_cast<int64_t>(g.columns) < columns) {
    g.note = fmt::format("the first {} x {} of {} x {} cells", g.rows, g.columns, rows, columns);
  }
  g.cells.resize(g.rows * g.columns);
  return g;
}

void number_labels(std::vector<std::string>& labels, size_t n) {
  for (size_t i = 0; i < n; ++i) labels.push_back(fmt::format("{}", i));
}

std::string coordinate(const IntTuple& shape, int64_t c) {
  return to_string(idx2crd(Int(c), shape), Marks::plain);
}

/// Colours of a layout's cells.
class Colours {
 public:
  Colours(const ComposedLayout& l, const PictureOptions& o) : by_(o.colour) {
    bits_ = l.element_bits().value_or(o.element_bits);
    if (by_ == ColourBy::index) range_ = index_range(l);
  }
  void describe(Grid& g) const {
    switch (by_) {
      case ColourBy::none: break;
      case ColourBy::index:
        g.key_count = kSteps;
        break;  // a ramp needs no legend, the numbers are in the cells
      case ColourBy::bank: g.key_name = "bank", g.key_count = kBanks; break;
      case ColourBy::chunk: g.key_name = "16-byte chunk", g.key_count = kChunks; break;
    }
  }
  int key(int64_t index) const {
    const auto byte = [&] { return (Int(index) * Int(bits_)).value >> 3; };
    switch (by_) {
      case ColourBy::none: return -1;
      case ColourBy::index: {
        const double spread = static_cast<double>(range_.high) - static_cast<double>(range_.low) + 1;
        return static_cast<int>((static_cast<double>(index) - static_cast<double>(range_.low)) / spread *
                                kSteps);
      }
      case ColourBy::bank: return static_cast<int>((byte() >> 2) & (kBanks - 1));
      case ColourBy::chunk: return static_cast<int>((byte() >> 4) & (kChunks - 1));
    }
    return -1;
  }

 private:
  ColourBy by_;
  uint32_t bits_ = 8;
  IndexRange range_;
};

bool maps_to_integers(const ComposedLayout& l) {
  if (std::holds_alternative<CoordOrigin>(l.origin())) return false;
  const IntTuple flat = flatten_to_tuple(l.layout().stride());
  return std::none_of(flat.modes().begin(), flat.modes().end(),
                      [](const IntTuple& d) { return d.leaf().has_basis(); });
}

/// Mode 0 and the rest of a layout's shape; (1, everything) for rank 1.
struct Axes {
  IntTuple down, across;
  IntTuple coord(int64_t row, int64_t column, bool one_row) const {
    return one_row ? idx2crd(Int(column), across)
                   : IntTuple::of({idx2crd(Int(row), down), idx2crd(Int(column), across)});
  }
};

}  // namespace

Grid picture(const ComposedLayout& l, const PictureOptions& options) {
  const bool one_row = l.rank() < 2;
  const Layout view = l.rank() > 2 ? group_modes(l.layout(), 1, l.rank()) : l.layout();
  const ComposedLayout shown = l.with(view);
  const Axes axes = one_row ? Axes{IntTuple(1), view.shape()} : Axes{view.shape()[0], view.shape()[1]};
  Grid g = empty_grid(to_string(l), size(axes.down).value, size(axes.across).value, options);
  const bool integers = maps_to_integers(l);
  PictureOptions o = options;
  if (!integers) o.colour = ColourBy::none;
  const Colours colours(shown, o);
  if (!g.cells.empty()) colours.describe(g);
  if (!one_row) g.row_name = "mode 0";
  g.column_name = one_row ? "coordinate" : l.rank() > 2 ? "the other modes"
                                                        : "mode 1";
  for (size_t r = 0; r < g.rows; ++r) g.row_labels.push_back(coordinate(axes.down, static_cast<int64_t>(r)));
  for (size_t c = 0; c < g.columns; ++c)
    g.column_labels.push_back(coordinate(axes.across, static_cast<int64_t>(c)));
  for (size_t r = 0; r < g.rows; ++r) {
    for (size_t c = 0; c < g.columns; ++c) {
      const IntTuple at = axes.coord(static_cast<int64_t>(r), static_cast<int64_t>(c), one_row);
      const IntTuple value = shown(at);
      Cell& cell = g.at(r, c);
      cell.text = to_string(integers ? value : as_arithmetic_tuple(value), Marks::plain);
      cell.tip = fmt::format("{} -> {}", to_string(at, Marks::plain), cell.text);
      if (integers) cell.key = colours.key(value.leaf().value);
    }
  }
  return g;
}

namespace {

/// Elements in one cell of memory: the first 1-D coordinate and the number of elements.
struct Placed {
  int64_t first = 0;
  int64_t count = 0;
};

/// The shape with at most two levels, so that coordinates fit into cells.
IntTuple short_shape(const IntTuple& shape) {
  if (!shape.is_tuple()) return shape;
  std::vector<IntTuple> out;
  for (const IntTuple& m : shape.modes()) out.push_back(m.is_tuple() ? product_each(m) : m);
  return IntTuple(std::move(out));
}

std::string placed_text(const IntTuple& shape, const Placed& p) {
  const std::string at = coordinate(short_shape(shape), p.first);
  return p.count == 1 ? at : fmt::format("{} +{}", at, p.count - 1);
}

}  // namespace

Grid memory_map(const ComposedLayout& l, uint32_t element_bits, uint32_t row_bytes, uint32_t cell_bytes,
                const PictureOptions& options) {
  const uint32_t bits = l.element_bits().value_or(element_bits);
  if (bits == 0 || cell_bytes == 0 || row_bytes < cell_bytes || row_bytes % cell_bytes != 0) {
    fail(Code::E1803, fmt::format("a memory map of {}-byte rows, {}-byte cells and {}-bit elements", row_bytes,
                                  cell_bytes, bits));
  }
  const std::vector<int64_t> all = all_indices(l, kMaxPlaced);
  std::map<int64_t, Placed> cells;
  for (size_t c = 0; c < all.size(); ++c) {
    if (all[c] < 0) fail(Code::E1804, "a memory map needs non-negative indices");
    const int64_t cell = (Int(all[c]) * Int(bits) / Int(8 * int64_t{cell_bytes})).value;
    Placed& p = cells[cell];
    if (p.count++ == 0) p.first = static_cast<int64_t>(c);
  }
  const int64_t columns = row_bytes / cell_bytes;
  const int64_t rows = cells.empty() ? 0 : cells.rbegin()->first / columns + 1;
  Grid g = empty_grid(to_string(l), rows, columns, options);
  g.row_name = "byte";
  g.column_name = "byte of the row";
  for (size_t r = 0; r < g.rows; ++r) g.row_labels.push_back(fmt::format("{}", r * row_bytes));
  for (size_t c = 0; c < g.columns; ++c) g.column_labels.push_back(fmt::format("+{}", c * cell_bytes));
  g.key_name = "logical cell";
  g.key_count = static_cast<int>(std::min<int64_t>(columns, 64));
  for (const auto& [cell, p] : cells) {
    const auto r = static_cast<size_t>(cell / columns), c = static_cast<size_t>(cell % columns);
    if (r >= g.rows || c >= g.columns) continue;
    // The colour is that of the place without the swizzle.
    const int64_t plain = l.layout().index(p.first);
    const int64_t home = (Int(plain) * Int(bits) / Int(8 * int64_t{cell_bytes})).value % columns;
    g.at(r, c) = {placed_text(l.shape(), p), static_cast<int>(home < 0 ? 0 : home % std::max(1, g.key_count)),
                  fmt::format("byte {}: {} element(s) from {}", cell * cell_bytes, p.count,
                              coordinate(l.shape(), p.first))};
  }
  return g;
}

Grid tmem_map(const ComposedLayout& tmem, const PictureOptions& options) {
  const auto* base = std::get_if<Pointer>(&tmem.origin());
  if (!base || base->space != Pointer::Space::tmem) {
    fail(Code::E1804, "not a TMEM tensor", "write tmem_[32b](0x0000.0000) o layout");
  }
  // Broadcast modes (stride 0) would only repeat their neighbours.
  const Layout l = filter_zeros(tmem.layout());
  const int64_t n = size(l).value;
  if (n > kMaxPlaced) fail(Code::E1808, fmt::format("{} elements are too many for a picture", n));
  std::map<std::pair<int64_t, int64_t>, Placed> cells;
  int64_t rows = 0, columns = 0;
  const std::vector<int64_t> all = all_indices(l, kMaxPlaced);
  for (size_t c = 0; c < all.size(); ++c) {
    const TmemAddr address(static_cast<uint32_t>(base->advanced(all[c]).address));
    const auto lane = static_cast<int64_t>(address.lane() % isa::kTmemLanes), column = static_cast<int64_t>(address.column() % isa::kTmemColumns);
    Placed& p = cells[{lane, column}];
    if (p.count++ == 0) p.first = static_cast<int64_t>(c);
    rows = std::max(rows, lane + 1);
    columns = std::max(columns, column + 1);
  }
  Grid g = empty_grid(to_string(tmem), rows, columns, options);
  g.row_name = "lane";
  g.column_name = "column";
  number_labels(g.row_labels, g.rows);
  number_labels(g.column_labels, g.columns);
  g.key_name = "last mode";
  const int64_t last = l.rank() > 1 ? size(l.shape().back()).value : 1;
  g.key_count = static_cast<int>(std::clamp<int64_t>(last, 1, 32));
  for (const auto& [at, p] : cells) {
    const auto r = static_cast<size_t>(at.first), c = static_cast<size_t>(at.second);
    if (r >= g.rows || c >= g.columns) continue;
    g.at(r, c) = {placed_text(l.shape(), p),
                  static_cast<int>(p.first / std::max<int64_t>(1, n / last) % g.key_count),
                  fmt::format("lane {} column {}: {} element(s) from {}", at.first, at.second, p.count,
                              coordinate(l.shape(), p.first))};
  }
  const auto same = [&](const Cell& c) { return c.key < 0 || c.key == g.cells.front().key; };
  if (std::all_of(g.cells.begin(), g.cells.end(), same)) {
    // All cells have one colour: colour them by the order of the elements instead.
    g.key_name.clear();
    g.key_count = kSteps;
    for (const auto& [at, p] : cells) {
      const auto r = static_cast<size_t>(at.first), c = static_cast<size_t>(at.second);
      if (r < g.rows && c < g.columns)
        g.at(r, c).key = static_cast<int>(p.first * kSteps / std::max<int64_t>(1, n));
    }
  }
  return g;
}

Grid thread_value_map(const Layout& tv, int64_t rows, int64_t columns, const PictureOptions& options) {
  if (tv.rank() != 2 || rows <= 0 || columns <= 0)
    fail(Code::E1804, "a (thread, value) layout and a tile are needed");
  const int64_t threads = size(tv.shape()[0]).value, values = size(tv.shape()[1]).value;
  if ((Int(threads) * Int(values)).value > kMaxPlaced) fail(Code::E1808, "too many elements for a picture");
  Grid g = empty_grid(to_string(tv), rows, columns, options);
  g.row_name = "row";
  g.column_name = "column of the tile";
  number_labels(g.row_labels, g.rows);
  number_labels(g.column_labels, g.columns);
  g.key_name = threads <= 32 ? "thread" : "thread modulo 32";
  g.key_count = static_cast<int>(std::min<int64_t>(threads, 32));
  for (int64_t t = 0; t < threads; ++t) {
    for (int64_t v = 0; v < values; ++v) {
      const int64_t index = tv(IntTuple::of({t, v})).leaf().value;
      if (index < 0 || index >= (Int(rows) * Int(columns)).value) {
        fail(Code::E1804, fmt::format("thread {} value {} lies at {}, outside the {} x {} tile", t, v, index,
                                      rows, columns));
      }
      const auto r = static_cast<size_t>(index % rows), c = static_cast<size_t>(index / rows);
      if (r >= g.rows || c >= g.columns) continue;
      Cell& cell = g.at(r, c);
      cell.text += fmt::format("{}T{} V{}", cell.text.empty() ? "" : "; ", t, v);
      cell.tip = fmt::format("({},{}): {}", r, c, cell.text);
      cell.key = static_cast<int>(t % g.key_count);
    }
  }
  return g;
}

}  // namespace drywell::layout
