#include "tools/hang_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace drywell::tools {
namespace {

using Kind = sim::WaitGraph::Node::Kind;

std::string escaped(std::string_view text, bool xml) {
  std::string out;
  for (const char c : text) {
    if (xml && c == '<') out += "&lt;";
    else if (xml && c == '>') out += "&gt;";
    else if (xml && c == '&') out += "&amp;";
    else if (!xml && (c == '"' || c == '\\')) out += std::string("\\") + c;
    else out += c;
  }
  return out;
}

constexpr double kWidth = 430, kGap = 190, kLine = 16, kPad = 9, kMargin = 20, kSpace = 18, kTitle = 34;

struct Box {
  double x = 0, y = 0, height = 0;
  double middle() const { return y + height / 2; }
};

const char* fill_of(Kind k) { return k == Kind::blocked ? "#fde8e8" : k == Kind::barrier ? "#e8f0fd" : "#eeeeee"; }
const char* stroke_of(Kind k) { return k == Kind::blocked ? "#b91c1c" : k == Kind::barrier ? "#1d4ed8" : "#6b7280"; }

class Picture {
 public:
  explicit Picture(const sim::WaitGraph& g) : graph_(g), boxes_(g.nodes.size()) {
    std::array<double, 3> next{kTitle + kMargin, kTitle + kMargin, kTitle + kMargin};
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      const auto column = static_cast<size_t>(g.nodes[i].kind);
      boxes_[i] = {kMargin + static_cast<double>(column) * (kWidth + kGap), next[column], 2 * kPad + kLine * static_cast<double>(g.nodes[i].lines.size())};
      next[column] += boxes_[i].height + kSpace;
      columns_ = std::max(columns_, column + 1);
    }
    height_ = *std::max_element(next.begin(), next.end()) + kMargin;
  }

  std::string svg() const {
    const double width = 2 * kMargin + static_cast<double>(columns_) * kWidth + static_cast<double>(columns_ - 1) * kGap;
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"monospace\" font-size=\"12\">\n"
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#374151\"/></marker></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, height_);
    constexpr std::array<const char*, 3> kTitles{"blocked warps", "what they wait for", "warps that have exited"};
    for (size_t c = 0; c < columns_; ++c)
      out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" font-weight=\"bold\">{}</text>\n", kMargin + static_cast<double>(c) * (kWidth + kGap), kMargin + 4, kTitles[c]);
    for (const sim::WaitGraph::Edge& e : graph_.edges) out += edge(e);
    for (size_t i = 0; i < boxes_.size(); ++i) out += box(i);
    return out + "</svg>\n";
  }

 private:
  std::string box(size_t i) const {
    const Box& b = boxes_[i];
    const sim::WaitGraph::Node& n = graph_.nodes[i];
    std::string out = fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"5\" fill=\"{}\" stroke=\"{}\"/>\n", b.x, b.y, kWidth, b.height, fill_of(n.kind), stroke_of(n.kind));
    for (size_t l = 0; l < n.lines.size(); ++l) {
      const std::string text = n.lines[l].size() > 56 ? n.lines[l].substr(0, 53) + "..." : n.lines[l];
      out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\"{}>{}<title>{}</title></text>\n", b.x + kPad, b.y + kPad + kLine * (static_cast<double>(l) + 0.75), l == 0 ? " font-weight=\"bold\"" : "",
                         escaped(text, true), escaped(n.lines[l], true));
    }
    return out;
  }
  // Forward to the right; back to the left below the forward edges, dashed: a barrier lacks that warp.
  std::string edge(const sim::WaitGraph::Edge& e) const {
    const Box &a = boxes_[e.from], &b = boxes_[e.to];
    const bool back = b.x < a.x;
    const double lower = back ? 8 : 0;
    const double x0 = back ? a.x : a.x + kWidth, y0 = a.middle() + lower, x1 = back ? b.x + kWidth : b.x, y1 = b.middle() + lower, bend = (x1 - x0) / 2;
    return fmt::format("<path d=\"M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\" fill=\"none\" stroke=\"{}\"{} marker-end=\"url(#tip)\"/>\n"
                       "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" font-size=\"10\" fill=\"#374151\">{}</text>\n",
                       x0, y0, x0 + bend, y0, x1 - bend, y1, x1, y1, back ? "#b45309" : "#374151", back ? " stroke-dasharray=\"5 3\"" : "", (x0 + x1) / 2, (y0 + y1) / 2 + (back ? 12 : -4), escaped(e.label, true));
  }

  const sim::WaitGraph& graph_;
  std::vector<Box> boxes_;
  size_t columns_ = 1;
  double height_ = 0;
};

}  // namespace

std::string hang_dot(const sim::WaitGraph& g) {
  std::string out = "digraph hang {\n  rankdir=LR;\n  node [shape=box, style=filled, fontname=monospace];\n";
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    std::string label;
    for (const std::string& l : g.nodes[i].lines) label += escaped(l, false) + "\\l";
    out += fmt::format("  n{} [label=\"{}\", fillcolor=\"{}\"];\n", i, label, fill_of(g.nodes[i].kind));
  }
  for (const sim::WaitGraph::Edge& e : g.edges) out += fmt::format("  n{} -> n{} [label=\"{}\"];\n", e.from, e.to, escaped(e.label, false));
  return out + "}\n";
}

std::string hang_svg(const sim::WaitGraph& g) { return Picture(g).svg(); }

}  // namespace drywell::tools
