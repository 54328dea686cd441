#include "drywell/isa/inspect/operand_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace drywell::isa {
namespace {

constexpr uint32_t kUnit = 16, kRow = 128, kUnitsPerRow = kRow / kUnit;

std::vector<uint32_t> chunks_of(const SmemDescriptor& d, const OperandTile& tile) {
  std::vector<uint32_t> chunks(tile.chunks());
  operand_row_chunks(d, tile, chunks);
  return chunks;
}

/// "m3 k0-7": the elements of one unit of one line. `last` is clipped to the line.
std::string unit_text(const OperandTile& tile, uint32_t line, uint32_t chunk) {
  const bool k_major = tile.major == Major::k;
  const uint32_t per = 128 / storage_bits(tile.element), along = k_major ? tile.k : tile.mn;
  const uint32_t first = chunk * per, last = std::min(first + per, along) - 1;
  const char *line_name = k_major ? "r" : "k", *along_name = k_major ? "k" : "r";
  const std::string range = first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  return fmt::format("{}{} {}{}", line_name, line, along_name, range);
}

/// Content of one 16-byte unit of memory.
struct Unit {
  std::string text, tip;
  int key = -1;
};
using UnitMap = std::map<uint64_t, Unit>;  // by address / 16

/// The units as rows of 128 bytes; rows without a unit are omitted.
layout::Grid memory_grid(const UnitMap& units, std::string title, std::string key_name, int keys, const layout::PictureOptions& options) {
  std::vector<uint64_t> rows;
  for (const auto& [unit, u] : units)
    if (rows.empty() || rows.back() != unit / kUnitsPerRow) rows.push_back(unit / kUnitsPerRow);
  layout::Grid g;
  g.title = std::move(title);
  g.key_name = std::move(key_name);
  g.key_count = keys;
  g.columns = kUnitsPerRow;
  g.rows = std::min(rows.size(), options.max_rows);
  if (g.rows < rows.size()) g.note = fmt::format("the first {} of {} rows of 128 bytes", g.rows, rows.size());
  g.cells.resize(g.rows * g.columns);
  g.row_name = "address";
  g.column_name = "byte of the line";
  for (uint32_t c = 0; c < kUnitsPerRow; ++c) g.column_labels.push_back(fmt::format("+{:#04x}", c * kUnit));
  for (size_t r = 0; r < g.rows; ++r) {
    g.row_labels.push_back(fmt::format("{:#07x}", rows[r] * kRow));
    for (size_t c = 0; c < kUnitsPerRow; ++c) {
      const auto it = units.find(rows[r] * kUnitsPerRow + c);
      if (it != units.end()) g.at(r, c) = {it->second.text, it->second.key, it->second.tip};
    }
  }
  return g;
}

/// A second element at the same address is shown beside the first.
void place(UnitMap& units, uint64_t address, Unit u) {
  const auto [it, fresh] = units.try_emplace(address / kUnit, u);
  if (!fresh) it->second.text += "+", it->second.tip += "; also " + u.tip;
}

}  // namespace

std::vector<ByteRun> operand_bytes(const SmemDescriptor& d, const OperandTile& tile) {
  std::vector<uint32_t> chunks = chunks_of(d, tile);
  std::sort(chunks.begin(), chunks.end());
  std::vector<ByteRun> runs;
  for (const uint32_t c : chunks) {
    if (!runs.empty() && c <= runs.back().last) {
      runs.back().last = std::max<uint64_t>(runs.back().last, c + kUnit);
    } else {
      runs.push_back({c, c + kUnit});
    }
  }
  return runs;
}

std::string to_string(const std::vector<ByteRun>& runs) {
  std::string out;
  uint64_t total = 0;
  for (const ByteRun& r : runs) {
    out += fmt::format("{}{:#x}..{:#x}", out.empty() ? "" : ", ", r.first, r.last - 1);
    total += r.last - r.first;
  }
  return fmt::format("{} ({} bytes)", out, total);
}

layout::Grid operand_memory(const SmemDescriptor& d, const OperandTile& tile, const layout::PictureOptions& options) {
  const std::vector<uint32_t> chunks = chunks_of(d, tile);
  const uint32_t per_line = tile.chunks_per_line();
  UnitMap units;
  for (uint32_t line = 0; line < tile.lines(); ++line) {
    for (uint32_t c = 0; c < per_line; ++c) {
      const uint32_t address = chunks[line * per_line + c];
      const std::string text = unit_text(tile, line, c);
      place(units, address, {text, fmt::format("{:#x}: {}", address, text), static_cast<int>(c % 8)});
    }
  }
  return memory_grid(units, fmt::format("{} x {} operand, {}-major: what lies where", tile.mn, tile.k, tile.major == Major::k ? "K" : "MN"),
                     "unit of its line:", static_cast<int>(std::min(per_line, 8u)), options);
}

layout::Grid operand_addresses(const SmemDescriptor& d, const OperandTile& tile, const layout::PictureOptions& options) {
  const std::vector<uint32_t> chunks = chunks_of(d, tile);
  const uint32_t per_line = tile.chunks_per_line();
  layout::Grid g;
  g.title = fmt::format("{} x {} operand, {}-major: address of each 16-byte unit", tile.mn, tile.k, tile.major == Major::k ? "K" : "MN");
  g.key_name = "banks";
  g.key_count = kUnitsPerRow;
  for (uint32_t u = 0; u < kUnitsPerRow; ++u) g.key_labels.push_back(fmt::format("banks {}-{}", 4 * u, 4 * u + 3));
  g.rows = std::min<size_t>(tile.lines(), options.max_rows);
  g.columns = std::min<size_t>(per_line, options.max_columns);
  if (g.rows < tile.lines() || g.columns < per_line)
    g.note = fmt::format("the first {} x {} of {} x {} units", g.rows, g.columns, tile.lines(), per_line);
  g.cells.resize(g.rows * g.columns);
  const uint32_t per = 128 / storage_bits(tile.element);
  g.row_name = tile.major == Major::k ? "row" : "k";
  g.column_name = tile.major == Major::k ? "k" : "row";
  for (size_t c = 0; c < g.columns; ++c) g.column_labels.push_back(fmt::format("{}{}", tile.major == Major::k ? "k" : "r", c * per));
  for (size_t line = 0; line < g.rows; ++line) {
    g.row_labels.push_back(fmt::format("{}{}", tile.major == Major::k ? "r" : "k", line));
    for (size_t c = 0; c < g.columns; ++c) {
      const uint32_t address = chunks[line * per_line + c];
      g.at(line, c) = {fmt::format("{:#x}", address), static_cast<int>(address / kUnit % kUnitsPerRow),
                       fmt::format("{} at {:#x}", unit_text(tile, static_cast<uint32_t>(line), static_cast<uint32_t>(c)), address)};
    }
  }
  return g;
}

layout::Grid tensor_memory(const TensorMapFields& f, const TensorRequest& request, const layout::PictureOptions& options) {
  const TensorRows rows = tensor_rows(f, request);
  UnitMap units;
  for (size_t r = 0; r < rows.rows.size(); ++r) {
    const TileRow& row = rows.rows[r];
    for (uint32_t at = 0; at < rows.geometry.row_bytes; at += kUnit - at % kUnit) {
      const uint32_t address = swizzle_address(f.swizzle, row.smem_offset + at);
      const bool inside = at < row.last && at + kUnit > row.first;
      const std::string from = inside ? fmt::format("GMEM {:#x}", f.address + row.global_offset + at) : "outside the tensor";
      place(units, address, {fmt::format("{}+{}{}", r, at, inside ? "" : "*"), fmt::format("{:#x}: row {} of the box, byte {}, {}", address, r, at, from), static_cast<int>(at / kUnit % kUnitsPerRow)});
    }
  }
  layout::Grid g = memory_grid(units, fmt::format("box of {} rows x {} bytes, swizzle {}: row+byte at each address", rows.rows.size(), rows.geometry.row_bytes, to_string(f.swizzle)),
                               "unit of its row:", kUnitsPerRow, options);
  if (g.note.empty()) g.note = "* fill: outside the tensor";
  return g;
}

layout::Grid swizzled_tile(Swizzle s, uint32_t rows, uint32_t row_bytes, uint32_t base, uint32_t element_bits, const layout::PictureOptions& options) {
  UnitMap units;
  const uint32_t per = 128 / element_bits;
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t at = 0; at < row_bytes; at += kUnit) {
      const uint32_t address = swizzle_address(s, base + r * row_bytes + at), e = at / kUnit * per;
      place(units, address, {fmt::format("r{} {}-{}", r, e, e + per - 1), fmt::format("{:#x}: row {}, elements {} to {}", address, r, e, e + per - 1), static_cast<int>(at / kUnit % kUnitsPerRow)});
    }
  }
  return memory_grid(units, fmt::format("{} rows of {} bytes, swizzle {}: row and elements at each address", rows, row_bytes, to_string(s)),
                     "unit of its row:", kUnitsPerRow, options);
}

}  // namespace drywell::isa
