#include "drywell/isa/inspect/sf_picture.h"

#include <fmt/format.h>

#include <algorithm>

namespace drywell::isa {

using layout::Int;
using layout::IntTuple;

layout::Grid sf_tile_picture() {
  constexpr size_t kRows = 32, kBytes = 16;
  layout::Grid g;
  g.title = "one 512-byte tile in global and shared memory: row and factor at each byte";
  g.key_name = "rows";
  g.key_count = 4;
  g.rows = kRows;
  g.columns = kBytes;
  g.cells.resize(kRows * kBytes);
  g.row_name = "byte";
  g.column_name = "byte of the line";
  for (int k = 0; k < g.key_count; ++k) g.key_labels.push_back(fmt::format("rows {}-{}", 32 * k, 32 * k + 31));
  for (size_t r = 0; r < kRows; ++r) g.row_labels.push_back(fmt::format("{}", r * kBytes));
  for (size_t b = 0; b < kBytes; ++b) g.column_labels.push_back(fmt::format("+{}", b));
  for (int64_t row = 0; row < layout::kSfTileRows; ++row) {
    for (int64_t f = 0; f < layout::kSfTileFactors; ++f) {
      const auto at = static_cast<size_t>(layout::blocked_offset(row, f, layout::kSfTileFactors));
      g.cells[at] = {fmt::format("r{} f{}", row, f), static_cast<int>(row / 32), fmt::format("byte {}: factor {} of row {}", at, f, row)};
    }
  }
  return g;
}

layout::Grid sf_tmem_picture(const layout::BlockScaledTile& t, bool of_b, const layout::PictureOptions& options) {
  const layout::ComposedLayout l = of_b ? layout::make_tmem_layout_sfb(t) : layout::make_tmem_layout_sfa(t);
  const layout::Layout& all = l.layout();
  const int64_t rows = layout::size(all.mode(0).mode(0).mode(0)).value, factors = layout::size(all.mode(0).mode(1).mode(1)).value,
                mmas = layout::size(all.mode(2)).value, columns = layout::tmem_columns(l);
  layout::Grid g;
  g.title = fmt::format("SF{} in tensor memory: rows and factors of each MMA (lanes 32-127 hold copies)", of_b ? 'B' : 'A');
  g.key_name = "MMA";
  g.key_count = static_cast<int>(mmas);
  g.rows = std::min<size_t>(32, options.max_rows);
  g.columns = std::min<size_t>(static_cast<size_t>(columns), options.max_columns);
  if (g.rows < 32 || g.columns < static_cast<size_t>(columns)) g.note = fmt::format("the first {} x {} of 32 x {} cells", g.rows, g.columns, columns);
  g.cells.resize(g.rows * g.columns);
  g.row_name = "lane";
  g.column_name = "column of 32 bits";
  for (size_t r = 0; r < g.rows; ++r) g.row_labels.push_back(fmt::format("{}", r));
  for (size_t c = 0; c < g.columns; ++c) g.column_labels.push_back(fmt::format("{}", c));
  for (int64_t m = 0; m < mmas; ++m) {
    for (int64_t row = 0; row < rows; ++row) {
      // Byte addresses as CuTe counts them: lane << 18 | column << 2 | byte.
      const IntTuple first = IntTuple::of({IntTuple::of({IntTuple::of({Int(row), 0}), IntTuple::of({0, 0})}), 0, Int(m)});
      const int64_t offset = all(first).leaf().value;
      const auto lane = static_cast<size_t>(offset >> 18), column = static_cast<size_t>((offset & 0x3FFFF) / 4);
      if (lane >= g.rows || column >= g.columns) continue;
      layout::Cell& cell = g.at(lane, column);
      const std::string bytes = factors == 1 ? fmt::format("byte {}", offset % 4) : fmt::format("bytes {}-{}", offset % 4, offset % 4 + factors - 1);
      cell.text = fmt::format("r{}", row);
      cell.key = static_cast<int>(m);
      cell.tip += fmt::format("{}MMA {} {}: row {}", cell.tip.empty() ? "" : "; ", m, bytes, row);
    }
  }
  // A cell that several MMAs share has no colour.
  for (layout::Cell& c : g.cells)
    if (c.tip.find("; ") != std::string::npos) c.key = -1;
  if (mmas > 1 && !g.cells.empty() && g.cells[0].key < 0) g.key_count = 0, g.note += fmt::format("{}each cell holds the factors of {} MMAs", g.note.empty() ? "" : "; ", 4 / factors);
  return g;
}

}  // namespace drywell::isa
