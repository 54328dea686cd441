// A CTA's time as a grid: each state of a warp or unit has a letter and a colour, the same in every picture.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "drywell/sim/trace_export.h"
#include "sim/trace/trace_pieces.h"

namespace drywell::sim {
namespace {

/// Rows of the picture: "w 1", "w 1 tma", in that order.
using TimelineRows = std::map<std::string, std::vector<Piece>>;

TimelineRows timeline_rows(const Trace& t, const std::string& cta) {
  TimelineRows rows;
  for (const TraceOwner& o : t.owners) {
    const OwnerName n(o.name);
    if (n.cta != cta || n.warp.empty() || n.launch != "1") continue;
    for (Piece& p : pieces_of(t, o)) {
      if (!n.unit.empty()) p.name = n.unit + ": " + std::string(word(p.name, 0));
      else if (!p.name.starts_with("stall: ")) p.name = "issues";
      rows[fmt::format("w{:>2}{}{}", n.warp, n.unit.empty() ? "" : " ", n.unit)].push_back(std::move(p));
    }
  }
  return rows;
}

/// Columns of equal duration.
struct TimeAxis {
  uint64_t from, to;
  size_t columns;
  uint64_t edge(size_t c) const { return from + (to - from) * c / columns; }
  size_t column_of(uint64_t cycle) const { return static_cast<size_t>((std::max(cycle, from) - from) * columns / std::max<uint64_t>(1, to - from)); }
};

/// Cycles of each column, by name of the piece.
std::vector<std::map<std::string, uint64_t>> fill(const std::vector<Piece>& pieces, const TimeAxis& x) {
  std::vector<std::map<std::string, uint64_t>> filled(x.columns);
  for (const Piece& p : pieces) {
    if (p.to <= x.from || p.from >= x.to) continue;
    for (size_t c = x.column_of(p.from); c < x.columns && x.edge(c) < p.to; ++c)
      filled[c][p.name] += std::min(p.to, x.edge(c + 1)) - std::min(std::max(p.from, x.edge(c)), x.edge(c + 1));
  }
  return filled;
}

struct Style {
  std::string_view what;
  char letter;
  uint32_t colour;
};
// Issue is green; a wait for data is yellow, for a busy pipe red, for other warps blue; units have strong colours.
constexpr std::array kStyles = {
    Style{"issues", '#', 0x6CBF5F},
    Style{"stall: not_selected", 's', 0xDDF0D6},
    Style{"stall: register_dependency", 'r', 0xFFF4C2},
    Style{"stall: memory", 'm', 0xFFE2A8},
    Style{"stall: pipe_busy", 'p', 0xF7B9AC},
    Style{"stall: issue_cost", 'o', 0xF9D9D0},
    Style{"stall: branch", 'j', 0xEADFD2},
    Style{"stall: mbarrier", 'b', 0xD3E4FA},
    Style{"stall: named_barrier", 'n', 0xBCD4F2},
    Style{"stall: cluster_barrier", 'c', 0xA8C4E8},
    Style{"stall: warp_sync", 'w', 0xD9D6F5},
    Style{"stall: tmem_wait", 't', 0xC5EBE6},
    Style{"stall: tmem_alloc", 'a', 0xAEDDD8},
    Style{"stall: bulk_wait", 'k', 0xE4D3F2},
    Style{"stall: sleep", 'z', 0xECECEC},
    Style{"stall: finished", '-', 0xF7F7F7},
    Style{"tma: tensor_load", 'L', 0xE0A63A},
    Style{"tma: tensor_store", 'S', 0xD98650},
    Style{"tma: tensor_reduce", 'R', 0xC96F5C},
    Style{"tma: bulk_copy", 'B', 0xEBC46B},
    Style{"tc: mma", 'M', 0x6E9BE8},
    Style{"tc: wgmma", 'W', 0x6E9BE8},
    Style{"tc: tmem_copy", 'C', 0x9AB6F0},
    Style{"tc: tmem_shift", 'H', 0x8AA0DD},
    Style{"tc: commit", 'X', 0xB79BE6},
    Style{"tmem: tmem_ld", 'D', 0x57C4B8},
    Style{"tmem: tmem_st", 'T', 0x3FA39A},
    Style{"cp: cp", 'P', 0xB7A36A},
    Style{"cp: cp_arrive", 'V', 0xCFC08F},
    Style{"cluster: remote_store", 'U', 0xD98FC0},
    Style{"cluster: remote_arrive", 'A', 0xE6B3D6},
    Style{"cluster: try_cancel", 'Y', 0xC7C1C9},
};
constexpr Style kOther{"", '?', 0xCCCCCC};

const Style& style_of(std::string_view what) {
  const auto it = std::find_if(kStyles.begin(), kStyles.end(), [&](const Style& s) { return s.what == what; });
  return it == kStyles.end() ? kOther : *it;
}

/// Draws a row: each cell has the letter of the piece with the most cycles in its column.
void draw_row(layout::Grid& g, size_t row, const std::vector<Piece>& pieces, const TimeAxis& x, std::map<std::string, int>& keys) {
  const auto filled = fill(pieces, x);
  for (size_t c = 0; c < x.columns; ++c) {
    const auto most = std::max_element(filled[c].begin(), filled[c].end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == filled[c].end()) continue;
    const Style& style = style_of(most->first);
    const auto [it, fresh] = keys.try_emplace(most->first, static_cast<int>(keys.size()));
    if (fresh) {
      g.key_labels.push_back(fmt::format("{} {}", style.letter, most->first));
      g.key_colours.push_back(style.colour);
    }
    layout::Cell& cell = g.at(row, c);
    cell.key = it->second;
    cell.text = std::string(1, style.letter);
    cell.tip = fmt::format("{}, cycles {} to {}:", g.row_labels[row], x.edge(c), x.edge(c + 1));
    for (const auto& [what, cycles] : filled[c]) cell.tip += fmt::format(" {} {};", what, cycles);
  }
}

}  // namespace

layout::Grid trace_timeline(std::string_view trace, const std::string& name, const TimelineOptions& options) {
  const TimelineRows rows = timeline_rows(read_timed(trace, name), options.cta);
  uint64_t last = 0;
  for (const auto& [row, pieces] : rows)
    for (const Piece& p : pieces) last = std::max(last, p.to);
  const uint64_t to = options.to != 0 ? options.to : last, from = std::min(options.from, to);
  const TimeAxis x{from, to, std::max<size_t>(1, std::min<size_t>(options.columns, std::max<uint64_t>(1, to - from)))};
  layout::Grid g;
  g.title = fmt::format("CTA {}, cycles {} to {}, {:.1f} a column", options.cta, from, to, static_cast<double>(to - from) / static_cast<double>(x.columns));
  g.key_name = "what";
  g.rows = rows.size();
  g.columns = x.columns;
  g.cells.resize(g.rows * g.columns);
  for (const auto& [row, pieces] : rows) g.row_labels.push_back(row);
  std::map<std::string, int> keys;
  size_t r = 0;
  for (const auto& [row, pieces] : rows) draw_row(g, r++, pieces, x, keys);
  g.key_count = static_cast<int>(keys.size());
  // A label in whole cycles every eight columns.
  for (size_t c = 0; c < x.columns; c += 8) g.ticks.push_back({c, fmt::format("{}", x.edge(c))});
  for (const std::string& label : g.key_labels) g.note += (g.note.empty() ? "" : ", ") + label;
  return g;
}

}  // namespace drywell::sim
