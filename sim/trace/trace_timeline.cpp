// A CTA's time as a grid: each state of a warp or unit has a letter and a colour, the same in every picture.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "drywell/sim/trace_export.h"
#include "sim/trace/trace_pieces.h"

namespace drywell::sim {
namespace {

/// A warp ("w 1 load", with the name of its role), or a unit that it issued to ("w 1 tma").
struct TimelineRow {
  std::string label;
  std::vector<Piece> pieces;
};
/// Each warp before its units.
using TimelineRows = std::vector<TimelineRow>;

TimelineRows timeline_rows(const Trace& t, const std::string& cta) {
  std::map<std::string, TimelineRow> rows;
  for (const TraceOwner& o : t.owners) {
    const OwnerName n(o.name);
    if (n.cta != cta || n.warp.empty() || n.launch != "1") continue;
    for (Piece& p : pieces_of(t, o)) {
      if (!n.unit.empty()) p.name = n.unit + ": " + std::string(word(p.name, 0));
      else if (!p.name.starts_with("stall: ")) p.name = "issues";
      const std::string warp = fmt::format("w{:>2}", n.warp);
      TimelineRow& row = rows[warp + " " + n.unit];
      const auto role = t.roles.find("1:" + n.warp);
      const std::string_view name = !n.unit.empty() ? std::string_view(n.unit) : role == t.roles.end() ? std::string_view()
                                                                                                       : role->second;
      row.label = name.empty() ? warp : fmt::format("{} {}", warp, name);
      row.pieces.push_back(std::move(p));
    }
  }
  TimelineRows out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  return out;
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
  uint32_t colour;   // behind the letter
  uint32_t picture;  // as in the run report
};
// Issue is green; a wait for data is yellow, for a busy pipe red, for other warps blue; units have strong colours.
constexpr std::array kStyles = {
    Style{"issues", '#', 0x6CBF5F, 0x2F9E62},
    Style{"stall: not_selected", 's', 0xDDF0D6, 0xA7D8BA},
    Style{"stall: register_dependency", 'r', 0xFFF4C2, 0xF0B35F},
    Style{"stall: memory", 'm', 0xFFE2A8, 0xCF4A3C},
    Style{"stall: pipe_busy", 'p', 0xF7B9AC, 0xEC8250},
    Style{"stall: issue_cost", 'o', 0xF9D9D0, 0xF1DC83},
    Style{"stall: branch", 'j', 0xEADFD2, 0xB9BEC7},
    Style{"stall: mbarrier", 'b', 0xD3E4FA, 0x4272B0},
    Style{"stall: named_barrier", 'n', 0xBCD4F2, 0x7FB2D9},
    Style{"stall: cluster_barrier", 'c', 0xA8C4E8, 0xB5D6EA},
    Style{"stall: warp_sync", 'w', 0xD9D6F5, 0x7A4A94},
    Style{"stall: tmem_wait", 't', 0xC5EBE6, 0xA57CC0},
    Style{"stall: tmem_alloc", 'a', 0xAEDDD8, 0xCDB3DD},
    Style{"stall: bulk_wait", 'k', 0xE4D3F2, 0x5A4FA3},
    Style{"stall: sleep", 'z', 0xECECEC, 0x9AA3B2},
    Style{"stall: finished", '-', 0xF7F7F7, 0xD9DEE6},
    Style{"tma: tensor_load", 'L', 0xE0A63A, 0xD98032},
    Style{"tma: tensor_store", 'S', 0xD98650, 0xA85E1F},
    Style{"tma: tensor_reduce", 'R', 0xC96F5C, 0x8A4A14},
    Style{"tma: bulk_copy", 'B', 0xEBC46B, 0xEBB070},
    Style{"tc: mma", 'M', 0x6E9BE8, 0x9B5FBF},
    Style{"tc: wgmma", 'W', 0x6E9BE8, 0x9B5FBF},
    Style{"tc: tmem_copy", 'C', 0x9AB6F0, 0xC49BDD},
    Style{"tc: tmem_shift", 'H', 0x8AA0DD, 0x7B3F98},
    Style{"tc: commit", 'X', 0xB79BE6, 0xD9C2EA},
    Style{"tmem: tmem_ld", 'D', 0x57C4B8, 0x2F9A95},
    Style{"tmem: tmem_st", 'T', 0x3FA39A, 0x1F6E6A},
    Style{"cp: cp", 'P', 0xB7A36A, 0xC05A7C},
    Style{"cp: cp_arrive", 'V', 0xCFC08F, 0xDD9BB0},
    Style{"cluster: remote_store", 'U', 0xD98FC0, 0x8A6D3B},
    Style{"cluster: remote_arrive", 'A', 0xE6B3D6, 0xB39A6B},
    Style{"cluster: try_cancel", 'Y', 0xC7C1C9, 0x5E4A26},
    Style{"", '?', 0xCCCCCC, 0xCCCCCC},  // all others
};

const Style& style_of(std::string_view what) {
  const auto it = std::find_if(kStyles.begin(), kStyles.end(), [&](const Style& s) { return s.what == what; });
  return it == kStyles.end() ? kStyles.back() : *it;
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

/// From the options and the last piece.
TimeAxis axis_of(const TimelineRows& rows, const TimelineOptions& options, size_t columns) {
  uint64_t last = 0;
  for (const auto& [label, pieces] : rows)
    for (const Piece& p : pieces) last = std::max(last, p.to);
  const uint64_t to = options.to != 0 ? options.to : last, from = std::min(options.from, to);
  return {from, to, std::max<size_t>(1, std::min<size_t>(columns, std::max<uint64_t>(1, to - from)))};
}

/// "register dependency", "tma: tensor load": the report's words.
std::string words_of(std::string_view what) {
  constexpr std::string_view kStall = "stall: ";
  std::string out(what == "issues" ? "issued" : what.starts_with(kStall) ? what.substr(kStall.size())
                                                                         : what);
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

/// The legend, in the report's order, and the number of a piece in it.
class Keys {
 public:
  Keys(isa::ScalePicture& p, const TimelineRows& rows) {
    std::set<std::string> found;
    for (const TimelineRow& row : rows)
      for (const Piece& piece : row.pieces) found.insert(piece.name);
    std::vector<std::string> names(found.begin(), found.end());
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return &style_of(a) < &style_of(b); });
    for (const std::string& name : names) {
      numbers_[name] = p.keys.size();
      p.keys.push_back({words_of(name), style_of(name).picture});
    }
  }
  size_t of(const std::string& what) const { return numbers_.at(what); }

 private:
  std::map<std::string, size_t> numbers_;
};

/// Neighbouring columns with the same state are one area.
void add_areas(const std::string& name, const std::vector<Piece>& pieces, const TimeAxis& x, double row, const Keys& keys, isa::ScalePanel& panel) {
  constexpr double kBar = 0.8;  // of the row
  const auto filled = fill(pieces, x);
  const auto state = [&](size_t c) {
    const auto most = std::max_element(filled[c].begin(), filled[c].end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == filled[c].end() ? std::string() : most->first;
  };
  for (size_t c = 0; c < x.columns;) {
    const std::string what = state(c);
    size_t end = c + 1;
    while (end < x.columns && state(end) == what) ++end;
    const double from = static_cast<double>(x.edge(c) - x.from), to = static_cast<double>(x.edge(end) - x.from);
    if (!what.empty()) panel.areas.push_back({from, row + (1 - kBar) / 2, to - from, kBar, keys.of(what), {}, fmt::format("{}: {}, cycles {} to {}", name, words_of(what), x.edge(c), x.edge(end)), false});
    c = end;
  }
}

}  // namespace

isa::ScalePicture trace_picture(std::string_view trace, const std::string& name, const TimelineOptions& options) {
  constexpr size_t kPixels = 920;
  const TimelineRows rows = timeline_rows(read_timed(trace, name), options.cta);
  const TimeAxis x = axis_of(rows, options, kPixels);
  isa::ScalePicture p;
  p.title = fmt::format("CTA {}, cycles {} to {}", options.cta, x.from, x.to);
  p.x_name = "cycle";
  p.x_from = static_cast<double>(x.from);
  p.continuous = true;
  isa::ScalePanel panel;
  panel.columns = static_cast<double>(x.to - x.from);
  panel.rows = static_cast<double>(rows.size());
  const Keys keys(p, rows);
  for (const auto& [label, pieces] : rows) {
    add_areas(label, pieces, x, static_cast<double>(panel.row_names.size()), keys, panel);
    panel.row_names.push_back(label);
  }
  if (!rows.empty()) p.panels.push_back(std::move(panel));
  return p;
}

layout::Grid trace_timeline(std::string_view trace, const std::string& name, const TimelineOptions& options) {
  const TimelineRows rows = timeline_rows(read_timed(trace, name), options.cta);
  const TimeAxis x = axis_of(rows, options, options.columns);
  layout::Grid g;
  g.title = fmt::format("CTA {}, cycles {} to {}, {:.1f} a column", options.cta, x.from, x.to, static_cast<double>(x.to - x.from) / static_cast<double>(x.columns));
  g.key_name = "what";
  g.rows = rows.size();
  g.columns = x.columns;
  g.cells.resize(g.rows * g.columns);
  for (const TimelineRow& row : rows) g.row_labels.push_back(row.label);
  std::map<std::string, int> keys;
  size_t r = 0;
  for (const TimelineRow& row : rows) draw_row(g, r++, row.pieces, x, keys);
  g.key_count = static_cast<int>(keys.size());
  // A label in whole cycles every eight columns.
  for (size_t c = 0; c < x.columns; c += 8) g.ticks.push_back({c, fmt::format("{}", x.edge(c))});
  for (const std::string& label : g.key_labels) g.note += (g.note.empty() ? "" : ", ") + label;
  return g;
}

}  // namespace drywell::sim
