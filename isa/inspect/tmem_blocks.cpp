#include "drywell/isa/inspect/tmem_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "drywell/core/types.h"
#include "drywell/isa/layout/print.h"

namespace drywell::isa {
namespace {

/// Row and first column of D that a lane holds.
struct LaneRow {
  bool used = false;
  uint32_t row = 0, n = 0;
  uint8_t group = 0;  // of columns
};

/// By CTA and lane. Every group of D's columns begins in column 0 of its lanes.
std::vector<std::vector<LaneRow>> lanes_of(DLayout layout, unsigned m, unsigned n) {
  std::vector<std::vector<LaneRow>> out(2, std::vector<LaneRow>(kTmemLanes));
  const unsigned groups = d_column_groups(layout);
  for (unsigned row = 0; row < m; ++row) {
    for (unsigned g = 0; g < groups; ++g) {
      const TmemCell c = d_cell(layout, row, g * n / groups, n);
      out[c.cta][c.lane] = {true, row, g * n / groups, static_cast<uint8_t>(g)};
    }
  }
  return out;
}

bool continues(const LaneRow& a, const LaneRow& b) { return b.used && b.row == a.row + 1 && b.n == a.n; }

/// Runs of lanes with consecutive rows, cut at the partitions of the warps.
template <class Make>
std::vector<TmemBlock> runs(const std::vector<std::vector<LaneRow>>& lanes, Make make) {
  std::vector<TmemBlock> out;
  for (uint8_t cta = 0; cta < lanes.size(); ++cta) {
    const auto& of = lanes[cta];
    for (unsigned first = 0, end = 0; first < kTmemLanes; first = end) {
      end = first + 1;
      while (end % 32 != 0 && of[first].used && continues(of[end - 1], of[end])) ++end;
      if (!of[first].used) continue;
      TmemBlock b = make(of[first]);
      b.cta = cta;
      b.lane = static_cast<uint16_t>(first);
      b.lanes = static_cast<uint16_t>(end - first);
      b.row = of[first].row;
      out.push_back(b);
    }
  }
  return out;
}

std::vector<TmemBlock> d_blocks(const TmemUseForm& use, DLayout layout) {
  return runs(lanes_of(layout, use.m, use.n), [&](const LaneRow& r) {
    TmemBlock b;
    b.columns = static_cast<uint16_t>(d_columns(layout, use.n));
    b.index = r.n;
    return b;
  });
}

std::vector<TmemBlock> a_blocks(const TmemUseForm& use, DLayout layout) {
  const TmemBits first = a_bits(use.form.kind, use.element, 0),
                 second = a_bits(use.form.kind, use.element, 1);
  const unsigned stride = second.column != first.column ? 32u : static_cast<unsigned>(second.low - first.low);
  return runs(lanes_of(layout, use.m, use.n), [&](const LaneRow& r) {
    TmemBlock b;
    b.columns = static_cast<uint16_t>(a_columns(use.k96));
    b.per_column = static_cast<uint8_t>(32 / stride);
    b.low = first.low;
    b.bits = first.width;
    b.stride = static_cast<uint8_t>(stride);
    b.copy = r.group;
    return b;
  });
}

/// Factors 4 * word and on of 32 rows in one column, for one partition.
TmemBlock factors_of(const TmemUseForm& use, DLayout layout, uint8_t cta, unsigned partition, unsigned word, unsigned group,
                     unsigned rows) {
  TmemBlock b;
  b.cta = cta;
  b.lane = static_cast<uint16_t>(32 * partition);
  b.lanes = static_cast<uint16_t>(std::min(32u, rows - 32 * group));
  b.column = static_cast<uint16_t>(group + word * (use.operand == TmemOperand::sfb ? sfb_word_columns(layout, use.n) : kSfaWordColumns));
  b.columns = 1;
  b.row = 32 * group;
  b.index = 4 * word;
  b.per_column = static_cast<uint8_t>(std::min(4u, use.factors() - 4 * word));
  b.bits = b.stride = 8;
  b.copy = static_cast<uint8_t>(partition);
  return b;
}

std::vector<TmemBlock> factor_blocks(const TmemUseForm& use, DLayout layout) {
  if (use.form.scale == ScaleVector::none) throw InputError(Code::E1804, "this kind has no scale factors");
  const bool of_b = use.operand == TmemOperand::sfb, split = of_b && layout == DLayout::B;
  const unsigned rows = !of_b ? d_rows_per_cta(layout) : split ? use.n / 2
                                                               : use.n;
  std::vector<TmemBlock> out;
  const unsigned groups = (rows + 31) / 32;
  for (uint8_t cta = 0; cta < use.form.cta_group; ++cta) {
    for (unsigned i = 0; i < groups * ((use.factors() + 3) / 4); ++i) {
      for (unsigned partition = 0; partition < 4; ++partition) {
        TmemBlock b = factors_of(use, layout, cta, partition, i / groups, i % groups, rows);
        if (!of_b) b.row += cta * rows;
        if (split) b.row += partition / 2 * rows;
        if (split) b.copy = partition % 2;
        out.push_back(b);
      }
    }
  }
  return out;
}

std::string block_extent(uint32_t first, uint32_t count) {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1);
}

std::string rows_of_block(const TmemBlock& b, char name) {
  return fmt::format("{} {}", name, block_extent(b.row, b.lanes));
}
std::string indices_of_block(const TmemBlock& b, char name) {
  return fmt::format("{} {}", name, block_extent(b.index, uint32_t{b.columns} * b.per_column));
}

ScaleArea area_of(const TmemBlock& b, TmemOperand operand) {
  const auto [row, index] = axis_names(operand);
  const std::string rows = rows_of_block(b, row), indices = indices_of_block(b, index);
  const std::string tip = fmt::format("{}, {}: CTA {}, lanes {}, columns {}", rows, indices, b.cta,
                                      block_extent(b.lane, b.lanes), block_extent(b.column, b.columns));
  return {double(b.column),
          double(b.lane),
          double(b.columns),
          double(b.lanes),
          0,
          {rows + ", " + indices, rows + "\n" + indices, rows},
          tip,
          false};
}

/// One key for each run of rows, in the order of rows.
void colour_by_rows(ScalePicture& p, const std::vector<TmemBlock>& blocks, char name) {
  std::vector<std::pair<uint32_t, std::string>> rows;
  for (const TmemBlock& b : blocks) rows.emplace_back(b.row, rows_of_block(b, name));
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (size_t k = 0; k < rows.size(); ++k) p.keys.push_back({rows[k].second, scale_colour(k)});
  std::vector<size_t> next(p.panels.size(), 0);
  for (const TmemBlock& b : blocks) {
    const auto at = std::find(rows.begin(), rows.end(), std::pair(b.row, rows_of_block(b, name)));
    p.panels[b.cta].areas[next[b.cta]++].key = static_cast<size_t>(at - rows.begin());
  }
}

/// Rows of equal columns one below the other become one.
std::vector<TmemCells> joined(const std::vector<TmemCells>& rows) {
  std::vector<TmemCells> out;
  for (const TmemCells& r : rows) {
    const auto above = std::find_if(out.begin(), out.end(), [&](const TmemCells& o) {
      return o.lane + o.lanes == r.lane && o.column == r.column && o.columns == r.columns;
    });
    if (above != out.end())
      ++above->lanes;
    else
      out.push_back(r);
  }
  return out;
}

std::string bits_note(const TmemUseForm& use, const TmemBlock& b) {
  if (use.operand == TmemOperand::d) return "one element in each 32-bit column (f16 in its low half)";
  return fmt::format("{} elements of {} bits in each 32-bit column", b.per_column, b.bits);
}

}  // namespace

DLayout layout_of(const TmemUseForm& use) {
  const auto d = d_layout(use.m, use.form.cta_group, use.form.ws, use.form.sparse);
  if (!d.has_value() || !is_valid_shape(use.form, use.m, use.n))
    throw InputError(Code::E1422, fmt::format("M = {}, N = {} is no shape of this form", use.m, use.n),
                     valid_shapes(use.form));
  return *d;
}

std::pair<char, char> axis_names(TmemOperand o) {
  static constexpr std::pair<char, char> kNames[] = {{'m', 'n'}, {'m', 'k'}, {'m', 'j'}, {'n', 'j'}};
  return kNames[static_cast<size_t>(o)];
}

std::vector<TmemBlock> tmem_blocks(const TmemUseForm& use) {
  const DLayout layout = layout_of(use);
  std::vector<TmemBlock> out = use.operand == TmemOperand::d   ? d_blocks(use, layout)
                               : use.operand == TmemOperand::a ? a_blocks(use, layout)
                                                               : factor_blocks(use, layout);
  std::stable_sort(out.begin(), out.end(), [](const TmemBlock& a, const TmemBlock& b) {
    return std::tie(a.cta, a.column, a.lane) < std::tie(b.cta, b.column, b.lane);
  });
  return out;
}

std::vector<TmemElement> elements_at(const TmemBlock& b, unsigned lane, unsigned column) {
  std::vector<TmemElement> out;
  if (lane < b.lane || lane >= b.lane + b.lanes || column < b.column || column >= b.column + b.columns)
    return out;
  for (uint32_t e = 0; e < b.per_column; ++e)
    out.push_back({b.row + lane - b.lane, b.index + (column - b.column) * b.per_column + e});
  return out;
}

void add_elements(const TmemBlock& b, CellElements& out) {
  for (unsigned lane = b.lane; lane < unsigned{b.lane} + b.lanes; ++lane)
    for (unsigned column = b.column; column < unsigned{b.column} + b.columns; ++column) {
      unsigned low = b.low;
      for (const TmemElement& e : elements_at(b, lane, column)) {
        out[{lane, column}].insert({e.row, e.index, low});
        low += b.stride;
      }
    }
}

std::vector<TmemCells> differing_cells(const CellElements& expected, const CellElements& actual) {
  CellElements all = expected;
  for (const auto& cell : actual) all.insert(cell);
  std::vector<TmemCells> out;
  for (const auto& [at, elements] : all) {
    const auto is = actual.find(at), should = expected.find(at);
    if (is != actual.end() && should != expected.end() && is->second == should->second) continue;
    const auto [lane, column] = at;
    if (!out.empty() && out.back().lane == lane && out.back().column + out.back().columns == column)
      ++out.back().columns;
    else
      out.push_back({lane, 1, column, 1});
  }
  return joined(out);
}

std::vector<TmemCells> differing_cells(const layout::ComposedLayout& l, const TmemUseForm& use) {
  CellElements expected, actual;
  for (const TmemBlock& b : tmem_blocks(use))
    if (b.cta == 0) add_elements(b, actual);
  if (l.layout().rank() == 0 || !l.layout().shape().is_tuple() || l.layout().mode(0).rank() != 2)
    layout::fail(Code::E1804, "the layout's mode 0 is (rows, columns) of D");
  const layout::Layout mode = l.layout().mode(0);
  const int64_t rows = layout::size(mode.mode(0)).value, columns = layout::size(mode.mode(1)).value;
  if (rows * columns > int64_t{kTmemLanes} * kTmemColumns)
    layout::fail(Code::E1808, "more elements than tensor memory has");
  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < columns; ++n) {
      const int64_t value = mode(layout::IntTuple::of({m, n})).leaf().value;
      const TmemAddr at(static_cast<uint32_t>(value));
      const bool inside = value >> 32 == 0 && at.lane() < kTmemLanes && at.column() < kTmemColumns;
      if (inside) expected[{at.lane(), at.column()}].insert({static_cast<uint32_t>(m), static_cast<uint32_t>(n), 0});
    }
  }
  return differing_cells(expected, actual);
}

std::vector<ScaleGuide> partition_guides() {
  std::vector<ScaleGuide> out;
  for (unsigned p = 0; p < 4; ++p) out.push_back({32.0 * p, 32, fmt::format("warps {}, {}, …", p, p + 4)});
  return out;
}

ScalePicture tmem_layout_picture(const TmemUseForm& use) {
  const std::vector<TmemBlock> blocks = tmem_blocks(use);
  ScalePicture p;
  p.title = fmt::format("{} of tcgen05.mma{}{}, M = {}, N = {}, cta_group::{}: layout {}",
                        to_string(use.operand), use.form.ws ? ".ws" : "", use.form.sparse ? ".sp" : "", use.m,
                        use.n, use.form.cta_group, "ABCDEFG"[static_cast<size_t>(layout_of(use))]);
  p.subtitle = bits_note(use, blocks.front());
  p.x_name = "column, from the operand's address on";
  p.y_name = "lane";
  double columns = 0;
  for (const TmemBlock& b : blocks) columns = std::max(columns, double(b.column + b.columns));
  for (unsigned cta = 0; cta < use.form.cta_group; ++cta)
    p.panels.push_back({use.form.cta_group == 1 ? ""
                        : cta == 0              ? "even CTA of the pair"
                                                : "odd CTA of the pair",
                        columns,
                        kTmemLanes,
                        partition_guides(),
                        {}});
  for (const TmemBlock& b : blocks) p.panels[b.cta].areas.push_back(area_of(b, use.operand));
  colour_by_rows(p, blocks, axis_names(use.operand).first);
  return p;
}

}  // namespace drywell::isa
