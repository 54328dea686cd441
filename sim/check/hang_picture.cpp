#include "drywell/sim/hang_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace drywell::sim {
namespace {

using Kind = WaitGraph::Node::Kind;

std::string escaped(std::string_view text, bool xml) {
  std::string out;
  for (const char c : text) {
    if (xml && c == '<')
      out += "&lt;";
    else if (xml && c == '>')
      out += "&gt;";
    else if (xml && c == '&')
      out += "&amp;";
    else if (!xml && (c == '"' || c == '\\'))
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

constexpr double kWidth = 430, kGap = 280, kLine = 16, kPad = 9, kMargin = 20, kSpace = 18, kTitle = 34;

constexpr double kLetter = 6.05;  // of a label
constexpr double kEnds = 14;      // distance between the ends of edges at one side of a box

struct Box {
  double x = 0, y = 0, height = 0;
};

/// Boxes keep their light colours and dark letters; what is between them follows the reader's dark or light setting.
constexpr const char* kStyle =
    "<style>text{font:12px system-ui,'DejaVu Sans',sans-serif}.l{font-size:10px}.p{fill:#fff}.t,.w{fill:#1c2430}.e,.b{fill:none;stroke:#374151}.b{stroke:#b45309}.h{fill:#374151}.a{fill:#92400e}"
    "@media (prefers-color-scheme:dark){.p{fill:#14181f}.t,.h{fill:#e8ebf0}.e{stroke:#a3adbb}.b{stroke:#f0a35e}.a{fill:#f0a35e}}</style>\n";

const char* fill_of(Kind k) { return k == Kind::blocked ? "#fde8e8" : k == Kind::barrier ? "#e8f0fd"
                                                                                         : "#eeeeee"; }
const char* stroke_of(Kind k) { return k == Kind::blocked ? "#b91c1c" : k == Kind::barrier ? "#1d4ed8"
                                                                                           : "#6b7280"; }

class Picture {
 public:
  explicit Picture(const WaitGraph& g) : graph_(g), boxes_(g.nodes.size()), sides_(g.nodes.size()) {
    for (const WaitGraph::Edge& e : g.edges) {
      const bool back = column(e.to) < column(e.from);
      ends_.push_back({sides_[e.from][back ? kLeft : kRight]++, sides_[e.to][back ? kRight : kLeft]++});
    }
    std::array<double, 3> next{kTitle + kMargin, kTitle + kMargin, kTitle + kMargin};
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      const auto most = static_cast<double>(std::max(sides_[i][kLeft], sides_[i][kRight]));
      const double text = 2 * kPad + kLine * static_cast<double>(g.nodes[i].lines.size());
      boxes_[i] = {kMargin + static_cast<double>(column(i)) * (kWidth + kGap), next[column(i)], std::max(text, kEnds * (most + 1))};
      next[column(i)] += boxes_[i].height + kSpace;
      columns_ = std::max(columns_, column(i) + 1);
    }
    height_ = *std::max_element(next.begin(), next.end()) + kMargin;
  }

  std::string svg() const {
    const double width = 2 * kMargin + static_cast<double>(columns_) * kWidth + static_cast<double>(columns_ - 1) * kGap;
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" >\n{2}"
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#6b7686\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" class=\"p\"/>\n",
        width, height_, kStyle);
    constexpr std::array<const char*, 3> kTitles{"blocked warps", "the barriers they wait on", "warps that have exited"};
    for (size_t c = 0; c < columns_; ++c)
      out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"t\" style=\"font-weight:600\">{}</text>\n", kMargin + static_cast<double>(c) * (kWidth + kGap), kMargin + 4, kTitles[c]);
    for (size_t i = 0; i < graph_.edges.size(); ++i) out += line(i);
    for (size_t i = 0; i < boxes_.size(); ++i) out += box(i);
    for (size_t i = 0; i < graph_.edges.size(); ++i) out += label(i);
    return out + "</svg>\n";
  }

 private:
  std::string box(size_t i) const {
    const Box& b = boxes_[i];
    const WaitGraph::Node& n = graph_.nodes[i];
    std::string out = fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"5\" fill=\"{}\" stroke=\"{}\"/>\n", b.x, b.y, kWidth, b.height, fill_of(n.kind), stroke_of(n.kind));
    for (size_t l = 0; l < n.lines.size(); ++l) {
      const std::string text = n.lines[l].size() > 56 ? n.lines[l].substr(0, 53) + "..." : n.lines[l];
      out += fmt::format("<text class=\"w\" x=\"{:.0f}\" y=\"{:.0f}\"{}>{}<title>{}</title></text>\n", b.x + kPad, b.y + kPad + kLine * (static_cast<double>(l) + 0.75), l == 0 ? " style=\"font-weight:600\"" : "",
                         escaped(text, true), escaped(n.lines[l], true));
    }
    return out;
  }
  size_t column(size_t node) const { return static_cast<size_t>(graph_.nodes[node].kind); }
  bool goes_back(const WaitGraph::Edge& e) const { return column(e.to) < column(e.from); }
  /// Height of the `k`-th end of an edge at a side of a box.
  double end_y(size_t node, size_t side, size_t k) const {
    const Box& b = boxes_[node];
    return b.y + b.height * static_cast<double>(k + 1) / static_cast<double>(sides_[node][side] + 1);
  }
  // Forward edges go to the right; backward edges go to the left and are dashed: the barrier waits for that warp.
  std::string line(size_t i) const {
    const WaitGraph::Edge& e = graph_.edges[i];
    const bool back = goes_back(e);
    const double x0 = boxes_[e.from].x + (back ? 0 : kWidth), x1 = boxes_[e.to].x + (back ? kWidth : 0), bend = (x1 - x0) / 2;
    const double y0 = end_y(e.from, back ? kLeft : kRight, ends_[i].first), y1 = end_y(e.to, back ? kRight : kLeft, ends_[i].second);
    return fmt::format("<path d=\"M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" class=\"{}\"{} marker-end=\"url(#tip)\"/>\n", x0, y0, x0 + bend, y0,
                       x1 - bend, y1, x1, y1, back ? "b" : "e", back ? " stroke-dasharray=\"5 3\"" : "");
  }
  // At the start of the edge, where no two labels overlap, on a background that hides the lines behind it.
  std::string label(size_t i) const {
    const WaitGraph::Edge& e = graph_.edges[i];
    const bool back = goes_back(e);
    const double x = boxes_[e.from].x + (back ? -6 : kWidth + 6), y = end_y(e.from, back ? kLeft : kRight, ends_[i].first);
    const double width = kLetter * static_cast<double>(e.label.size());
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"11\" class=\"p\"/>\n<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"l {}\">{}</text>\n",
                       back ? x - width : x, y - 5.5, width, x, y + 3, back ? "end" : "start", back ? "a" : "h", escaped(e.label, true));
  }

  static constexpr size_t kLeft = 0, kRight = 1;

  const WaitGraph& graph_;
  std::vector<Box> boxes_;
  std::vector<std::array<size_t, 2>> sides_;     // ends of edges at the left and the right of each box
  std::vector<std::pair<size_t, size_t>> ends_;  // of each edge, the indices of its ends at its two boxes
  size_t columns_ = 1;
  double height_ = 0;
};

}  // namespace

std::string hang_dot(const WaitGraph& g) {
  std::string out = "digraph hang {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=monospace];\n";
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    std::string label;
    for (const std::string& l : g.nodes[i].lines) label += escaped(l, false) + "\\l";
    out += fmt::format("  n{} [label=\"{}\", fillcolor=\"{}\"];\n", i, label, fill_of(g.nodes[i].kind));
  }
  for (const WaitGraph::Edge& e : g.edges) out += fmt::format("  n{} -> n{} [label=\"{}\"];\n", e.from, e.to, escaped(e.label, false));
  return out + "}\n";
}

std::string hang_svg(const WaitGraph& g) { return Picture(g).svg(); }

}  // namespace drywell::sim
