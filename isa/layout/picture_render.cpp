// Grids as text, SVG and HTML. Colours are light, so that dark text is legible on each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drywell/isa/layout/picture.h"

namespace drywell::layout {
namespace {

struct Rgb {
  int r, g, b;
};

Rgb from_hsl(double hue, double saturation, double lightness) {
  const auto channel = [&](double n) {
    const double k = std::fmod(n + hue / 30.0, 12.0);
    const double a = saturation * std::min(lightness, 1 - lightness);
    return static_cast<int>(
        std::lround(255 * (lightness - a * std::clamp(std::min(k - 3, 9 - k), -1.0, 1.0))));
  };
  return {channel(0), channel(8), channel(4)};
}

// Of Okabe and Ito: they differ for colour-blind eyes, too.
constexpr uint32_t kPalette[] = {0x56B4E9, 0xE69F00, 0x009E73, 0xCC79A7, 0xF0E442, 0x0072B2, 0xD55E00, 0x888888};

/// The colour mixed with white: `share` of it. Black letters stay readable.
Rgb tint(uint32_t colour, double share) {
  const auto channel = [&](uint32_t shift) { return static_cast<int>(std::lround(255 - share * (255 - static_cast<double>(colour >> shift & 0xFF)))); };
  return {channel(16), channel(8), channel(0)};
}

/// Ramps (no legend) run from blue to red; keys with a legend get colours of the palette.
Rgb colour_of(const Grid& g, int key) {
  if (static_cast<size_t>(key) < g.key_colours.size()) {
    const uint32_t c = g.key_colours[static_cast<size_t>(key)];
    return {static_cast<int>(c >> 16), static_cast<int>(c >> 8 & 0xFF), static_cast<int>(c & 0xFF)};
  }
  const int n = std::max(1, g.key_count);
  if (g.key_name.empty()) return from_hsl(220.0 - 200.0 * key / n, 0.75, 0.82);
  // Eight colours, then the same ones stronger.
  const int colours = static_cast<int>(std::size(kPalette)), shades = (n + colours - 1) / colours;
  const double share = shades == 1 ? 0.5 : 0.3 + 0.4 * (key / colours) / (shades - 1);
  return tint(kPalette[key % colours], share);
}

std::string hex(const Rgb& c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

/// The nearest of the 6x6x6 cube of the 256-colour terminal palette.
int terminal_colour(const Rgb& c) {
  const auto level = [](int v) { return v < 48 ? 0 : v < 115 ? 1
                                                             : (v - 35) / 40; };
  return 16 + 36 * level(c.r) + 6 * level(c.g) + level(c.b);
}

std::string escaped(std::string_view s) {
  std::string out;
  for (char c : s) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

size_t widest(const std::vector<std::string>& labels) {
  size_t w = 0;
  for (const std::string& s : labels) w = std::max(w, s.size());
  return w;
}

size_t widest_cell(const Grid& g) {
  size_t w = 0;
  for (const Cell& c : g.cells) w = std::max(w, c.text.size());
  return w;
}

bool has_legend(const Grid& g) { return !g.key_name.empty() && g.key_count > 0; }

std::string legend_label(const Grid& g, int key) {
  const auto k = static_cast<size_t>(key);
  return k < g.key_labels.size() ? g.key_labels[k] : fmt::format("{} {}", g.key_name, key);
}

// Geometry in SVG user units; a character of the 11-unit monospace font is 6.7 wide.
constexpr double kChar = 6.7, kRow = 20, kPad = 8;

struct Geometry {
  double cell, left, top, width, height;
};

Geometry geometry_of(const Grid& g) {
  const double longest = static_cast<double>(std::max(widest_cell(g), widest(g.column_labels)));
  Geometry m{};
  m.cell = std::max(g.ticks.empty() ? 26.0 : 12.0, longest * kChar + (g.ticks.empty() ? 8 : 4));
  m.left = static_cast<double>(std::max(widest(g.row_labels), g.row_name.size())) * kChar + 2 * kPad;
  m.top = (g.title.empty() ? 0 : kRow + 4) + (g.column_name.empty() ? 0 : kRow) + kRow;
  const double title = static_cast<double>(g.title.size()) * kChar + 2 * kPad;
  m.width = std::max(m.left + m.cell * static_cast<double>(g.columns) + kPad, title);
  m.height = m.top + kRow * static_cast<double>(g.rows) + kPad + (g.note.empty() ? 0 : kRow);
  return m;
}

std::string svg_text(double x, double y, const char* anchor, std::string_view text, const char* extra = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, extra,
                     escaped(text));
}

std::string svg_cell(const Grid& g, const Geometry& m, size_t r, size_t c) {
  const Cell& cell = g.at(r, c);
  const double x = m.left + m.cell * static_cast<double>(c), y = m.top + kRow * static_cast<double>(r);
  const std::string fill = cell.key >= 0 ? hex(colour_of(g, cell.key)) : "#f4f4f4";
  std::string out =
      fmt::format("<g><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>", x, y,
                  m.cell, kRow, fill);
  if (!cell.tip.empty()) out += "<title>" + escaped(cell.tip) + "</title>";
  if (!cell.text.empty()) out += svg_text(x + m.cell / 2, y + 14, "middle", cell.text, " fill=\"#1a1a1a\"");
  return out + "</g>\n";
}

/// Ink and paper of an SVG file follow the reader's dark or light setting; cells keep their light colours and dark letters.
constexpr const char* kSvgStyle = "<style>.i{fill:#1a1a1a}.p{fill:#fff}@media (prefers-color-scheme:dark){.i{fill:#e8ebf0}.p{fill:#14181f}}</style>\n";

constexpr const char* kSvgFont = "font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-size=\"11\"";

/// Everything of one grid, its top left corner at (0,0).
std::string svg_content(const Grid& g, const Geometry& m, const char* ink) {
  std::string out;
  if (!g.title.empty()) out += svg_text(kPad, 15, "start", g.title, ink);
  if (!g.column_name.empty()) out += svg_text(m.left, m.top - 6 - kRow, "start", g.column_name + " \u2192", ink);
  if (!g.row_name.empty()) out += svg_text(m.left - kPad, m.top - 6, "end", g.row_name, ink);
  for (size_t c = 0; c < g.column_labels.size(); ++c) {
    out += svg_text(m.left + m.cell * (static_cast<double>(c) + 0.5), m.top - 6, "middle", g.column_labels[c],
                    ink);
  }
  for (const Tick& t : g.ticks) {
    const double x = m.left + m.cell * static_cast<double>(t.column);
    out += fmt::format("<path d=\"M{:.1f} {:.0f}v-8\" stroke=\"#8a8a8a\"/>\n", x, m.top) + svg_text(x + 3, m.top - 6, "start", t.label, ink);
  }
  for (size_t r = 0; r < g.row_labels.size(); ++r) {
    out += svg_text(m.left - kPad, m.top + kRow * static_cast<double>(r) + 14, "end", g.row_labels[r], ink);
  }
  // An attribute on the group would outline the text as well.
  out += "<style>.cells rect{stroke:#8a8a8a;stroke-width:.6}</style>\n<g class=\"cells\">\n";
  for (size_t r = 0; r < g.rows; ++r) {
    for (size_t c = 0; c < g.columns; ++c) out += svg_cell(g, m, r, c);
  }
  out += "</g>\n";
  if (!g.note.empty()) out += svg_text(kPad, m.height - kPad, "start", g.note, ink);
  return out;
}

/// The legend's boxes, `per_row` side by side, from `y` on.
struct Legend {
  double box = 0;
  int per_row = 1, rows = 0;
};

Legend legend_of(const Grid& g, double width) {
  if (!has_legend(g)) return {};
  size_t longest = 0;
  for (int k = 0; k < g.key_count; ++k) longest = std::max(longest, legend_label(g, k).size());
  Legend l{static_cast<double>(longest) * kChar + 12, 1, 0};
  l.per_row = std::max(1, static_cast<int>((width - 2 * kPad) / l.box));
  l.rows = (g.key_count + l.per_row - 1) / l.per_row;
  return l;
}

std::string svg_legend(const Grid& g, const Legend& l, double y) {
  std::string out;
  for (int k = 0; k < g.key_count && l.rows > 0; ++k) {
    const double x = kPad + l.box * (k % l.per_row), top = y + kRow * (k / l.per_row);
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"{}\"/>\n", x + 1, top + 1, l.box - 4, kRow - 4,
                       hex(colour_of(g, k)));
    out += svg_text(x + l.box / 2 - 1, top + 13, "middle", legend_label(g, k), " fill=\"#1a1a1a\"");
  }
  return out;
}

std::string svg_open(double width, double height) {
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" {2} role=\"img\">\n",
                     width, height, kSvgFont);
}

}  // namespace

std::string to_text(const Grid& g, bool colour) {
  const size_t label = widest(g.row_labels);
  const size_t width = std::max(widest_cell(g), widest(g.column_labels)) + 1;
  std::string out;
  if (!g.title.empty()) out += g.title + "\n";
  if (!g.column_labels.empty()) {
    out += std::string(label + 1, ' ');
    for (const std::string& s : g.column_labels) out += fmt::format("{:>{}}", s, width);
    out += '\n';
  }
  if (!g.ticks.empty()) {
    std::string line(label + 1, ' ');
    for (const Tick& t : g.ticks) {
      const size_t at = label + 1 + width * t.column;
      if (line.size() > at) continue;  // the previous label reaches over this column
      line += std::string(at - line.size(), ' ') + "|" + t.label;
    }
    out += line + "\n";
  }
  for (size_t r = 0; r < g.rows; ++r) {
    out += fmt::format("{:>{}} ", r < g.row_labels.size() ? g.row_labels[r] : "", label);
    for (size_t c = 0; c < g.columns; ++c) {
      const Cell& cell = g.at(r, c);
      const std::string text = fmt::format("{:>{}}", cell.text.empty() ? "." : cell.text, width);
      out += colour && cell.key >= 0 ? fmt::format("\x1b[48;5;{}m\x1b[38;5;16m{}\x1b[0m",
                                                   terminal_colour(colour_of(g, cell.key)), text)
                                     : text;
    }
    out += '\n';
  }
  if (colour && has_legend(g) && !g.key_labels.empty()) {
    for (int k = 0; k < g.key_count; ++k)
      out += fmt::format("\x1b[48;5;{}m\x1b[38;5;16m {} \x1b[0m ", terminal_colour(colour_of(g, k)), legend_label(g, k));
    out += '\n';
  }
  if (!g.note.empty()) out += g.note + "\n";
  return out;
}

std::string to_svg(std::span<const Grid> grids) {
  double width = 0, height = 0;
  for (const Grid& g : grids) width = std::max(width, geometry_of(g).width);
  std::string body;
  for (const Grid& g : grids) {
    const Geometry m = geometry_of(g);
    const Legend legend = legend_of(g, width);
    body += fmt::format("<g transform=\"translate(0,{:.0f})\">\n", height) + svg_content(g, m, " class=\"i\"") +
            svg_legend(g, legend, m.height) + "</g>\n";
    height += m.height + kRow * legend.rows + kPad;
  }
  return svg_open(width, height) + kSvgStyle + fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" class=\"p\"/>\n", width, height) + body + "</svg>\n";
}

std::string to_html(const Grid& g) {
  const Geometry m = geometry_of(g);
  std::string out = "<figure style=\"margin:1em 0\">\n<div style=\"overflow-x:auto\">\n" + svg_open(m.width, m.height) +
                    svg_content(g, m, " fill=\"currentColor\"") + "</svg>\n</div>\n";
  if (has_legend(g)) {
    out += "<figcaption style=\"font:12px ui-monospace,Menlo,Consolas,monospace\">\n";
    for (int k = 0; k < g.key_count; ++k) {
      out += fmt::format(
          "<span style=\"display:inline-block;margin:2px 3px;padding:1px 5px;background:{};color:#1a1a1a\">"
          "{}</span>\n",
          hex(colour_of(g, k)), escaped(legend_label(g, k)));
    }
    out += "</figcaption>\n";
  }
  return out + "</figure>\n";
}

std::string html_page(std::string_view title, std::span<const std::string> fragments) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{0}</title>\n"
      "<style>:root{{color-scheme:light dark}}body{{font-family:system-ui,sans-serif;margin:1.5em}}</style>\n"
      "</head>\n<body>\n<h1 style=\"font-size:1.1em\">{0}</h1>\n",
      escaped(title));
  for (const std::string& f : fragments) out += f;
  return out + "</body>\n</html>\n";
}

}  // namespace drywell::layout
