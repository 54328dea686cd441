#include "drywell/isa/inspect/scale_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace drywell::isa {
namespace {

constexpr double kFont = 12, kLetter = 6.6, kLine = 15;  // pixels: size, width of a letter, distance of lines
constexpr double kLeft = 62, kRight = 112, kTop = 22, kBottom = 46, kWide = 920, kTall = 400;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

/// Letters, counting the bytes that begin one in UTF-8.
size_t letters(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

bool fits(std::string_view label, double width, double height) {
  const auto lines = lines_of(label);
  if (static_cast<double>(lines.size()) * kLine > height) return false;
  return std::all_of(lines.begin(), lines.end(), [&](std::string_view l) {
    return static_cast<double>(letters(l)) * kLetter + 4 <= width;
  });
}

/// The first label that fits into width x height pixels, or nothing.
std::string_view label_for(const ScaleArea& a, double width, double height) {
  for (const std::string& label : a.labels)
    if (fits(label, width, height)) return label;
  return {};
}

/// Black or white, whichever reads better on the colour.
std::string_view ink_on(uint32_t colour) {
  const double light = 0.299 * (colour >> 16 & 255) + 0.587 * (colour >> 8 & 255) + 0.114 * (colour & 255);
  return light > 140 ? "#000" : "#fff";
}

/// Pixels of one column and one row of a panel. Both keep every unit at least one pixel wide.
struct Scale {
  double x = 1, y = 1;
};
constexpr double kNamedRow = 19;
Scale scale_of(const ScalePicture& picture, const ScalePanel& p) {
  const double x = kWide / std::max(p.columns, 1.0);
  return {picture.continuous ? x : std::clamp(x, 1.0, 72.0), p.row_names.empty() ? std::clamp(kTall / p.rows, 1.0, 30.0) : kNamedRow};
}

/// Space for the numbers or names of the rows.
double left_of(const ScalePanel& p) {
  size_t most = 0;
  for (const std::string& name : p.row_names) most = std::max(most, letters(name));
  return std::max(kLeft, static_cast<double>(most) * kLetter + 30);
}

double width_of(const ScalePicture& picture, const ScalePanel& p) { return left_of(p) + p.columns * scale_of(picture, p).x + (p.guides.empty() && picture.continuous ? 40 : kRight); }
double height_of(const ScalePicture& picture, const ScalePanel& p) {
  return (p.title.empty() ? 4 : kTop) + p.rows * scale_of(picture, p).y + kBottom;
}

/// 1, 2 or 5 times a power of ten, at least `least`.
double decimal_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(std::max(least, 1.0))));
  for (const double m : {1.0, 2.0, 5.0})
    if (m * power >= least) return m * power;
  return 10 * power;
}

double x_step_of(const ScalePicture& p, const ScalePanel& panel) {
  const double digits = std::floor(std::log10(std::max(p.x_from + panel.columns, 1.0))) + 4;
  if (p.x_step != 0) return p.x_step;
  const double least = digits * kLetter / scale_of(p, panel).x;
  return p.continuous ? decimal_step(least) : round_step(least);
}

std::string text_at(double x, double y, std::string_view klass, std::string_view text,
                    std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\"{}>{}</text>\n", x, y, klass, more,
                     escaped(text));
}

std::string style_of(ScaleTheme theme) {
  constexpr std::string_view kShared =
      "text{font:12px system-ui,'DejaVu "
      "Sans',sans-serif}.h{font-size:15px;font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}";
  constexpr std::string_view kLight =
      ".bg{fill:#fff}.i{fill:#1c2430}.d{fill:#5b6676}.f{fill:#f3f5f9;stroke:#8a94a3}.g{stroke:#8a94a3;stroke-"
      "opacity:.55}";
  constexpr std::string_view kDark =
      ".bg{fill:#14181f}.i{fill:#e8ebf0}.d{fill:#a3adbb}.f{fill:#1f2530;stroke:#6b7686}.g{stroke:#a3adbb;"
      "stroke-opacity:.45}";
  std::string out = fmt::format("<style>{}{}", kShared, theme == ScaleTheme::dark ? kDark : kLight);
  if (theme == ScaleTheme::automatic) out += fmt::format("@media (prefers-color-scheme:dark){{{}}}", kDark);
  return out + "</style>\n";
}

/// Draws one panel with its upper left corner at (0, top).
class PanelDrawing {
 public:
  PanelDrawing(const ScalePicture& p, const ScalePanel& panel, double top)
      : p_(p),
        panel_(panel),
        scale_(scale_of(p, panel)),
        left_(left_of(panel)),
        top_(top + (panel.title.empty() ? 4 : kTop)) {}

  std::string text() {
    if (!panel_.title.empty()) out_ += text_at(left_, top_ - 7, "i", panel_.title);
    out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"f\"/>\n",
                        left_, top_, width(), height());
    for (const ScaleArea& a : panel_.areas) area(a);
    for (const ScaleGuide& g : panel_.guides) guide(g);
    x_axis();
    y_axis();
    return std::move(out_);
  }

 private:
  double width() const { return panel_.columns * scale_.x; }
  double height() const { return panel_.rows * scale_.y; }

  void area(const ScaleArea& a) {
    const uint32_t colour = a.key < p_.keys.size() ? p_.keys[a.key].colour : 0x888888;
    const double x = left_ + a.x * scale_.x, y = top_ + a.y * scale_.y, w = a.width * scale_.x,
                 h = a.height * scale_.y;
    const std::string paint =
        a.outline ? fmt::format("fill=\"none\" stroke=\"#{:06x}\" stroke-width=\"2\"", colour)
                  : fmt::format("fill=\"#{:06x}\"{}", colour, p_.continuous ? "" : " stroke=\"#fff\" stroke-opacity=\".5\"");
    out_ += fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>",
        escaped(a.tip), x, y, w, h, paint);
    const std::string_view label = label_for(a, w, h);
    const auto lines = lines_of(label);
    double base = y + h / 2 + kFont * 0.36 - kLine * (static_cast<double>(lines.size()) - 1) / 2;
    for (const std::string_view line : lines) {
      if (!line.empty())
        out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"m\" fill=\"{}\">{}</text>", x + w / 2,
                            base, a.outline ? "#888" : ink_on(colour), escaped(line));
      base += kLine;
    }
    out_ += "</g>\n";
  }

  void guide(const ScaleGuide& g) {
    const double y = top_ + g.y * scale_.y;
    if (g.y > 0)
      out_ += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"g\" stroke-dasharray=\"4 "
          "3\"/>\n",
          left_, y, left_ + width() + 6, y);
    out_ += text_at(left_ + width() + 8, y + g.height * scale_.y / 2 + kFont * 0.36, "d", g.name);
  }

  void x_axis() {
    const double step = x_step_of(p_, panel_);
    for (double c = std::ceil(p_.x_from / step) * step - p_.x_from; c <= panel_.columns; c += step) {
      const double x = left_ + c * scale_.x;
      out_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" class=\"g\"/>\n",
                          x, top_ + height(), top_ + height() + 5);
      out_ += text_at(x, top_ + height() + 18, "d m", fmt::format("{}", p_.x_from + c));
    }
    // A narrow panel's name begins at its left edge: centred, it would leave the picture.
    const bool narrow = width() < static_cast<double>(letters(p_.x_name)) * kLetter;
    out_ +=
        text_at(narrow ? left_ : left_ + width() / 2, top_ + height() + 36, narrow ? "i" : "i m", p_.x_name);
  }

  void y_axis() {
    for (size_t r = 0; r < panel_.row_names.size(); ++r)
      out_ += text_at(left_ - 8, top_ + (static_cast<double>(r) + 0.5) * scale_.y + kFont * 0.36, "d e", panel_.row_names[r]);
    for (double r = 0; panel_.row_names.empty() && r <= panel_.rows; r += p_.y_step) {
      const double y = top_ + r * scale_.y;
      out_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" class=\"g\"/>\n",
                          left_ - 5, left_, y);
      out_ += text_at(left_ - 8, y + kFont * 0.36, "d e", fmt::format("{}", r));
    }
    const double middle = top_ + height() / 2;
    out_ +=
        text_at(14, middle, "i m", p_.y_name, fmt::format(" transform=\"rotate(-90 14 {:.1f})\"", middle));
  }

  const ScalePicture& p_;
  const ScalePanel& panel_;
  Scale scale_;
  double left_, top_;
  std::string out_;
};

/// The legend in rows of at most `width` pixels; returns its height.
double legend(const ScalePicture& p, double top, double width, std::string& out) {
  double x = kLeft, y = top;
  for (const ScaleKey& k : p.keys) {
    const double w = 24 + static_cast<double>(letters(k.name)) * kLetter + 18;
    if (x > kLeft && x + w > width) {
      x = kLeft;
      y += 20;
    }
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" fill=\"#{:06x}\"/>", x, y,
                       k.colour);
    out += text_at(x + 20, y + 11.5, "i", k.name);
    x += w;
  }
  return p.keys.empty() ? 0 : y + 22 - top;
}

double centimetres(double pixels) { return pixels / 56; }

std::string latex_text(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i).starts_with("…")) {
      out += "\\ldots{}";
      i += std::string_view("…").size() - 1;
    } else if (c == '\n') {
      out += "\\\\";
    } else {
      if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

void latex_panel(const ScalePicture& p, const ScalePanel& panel, double top, std::string& out) {
  const Scale s = scale_of(p, panel);
  const auto X = [&](double c) { return centimetres(c * s.x); };
  const auto Y = [&](double r) { return -top - centimetres(r * s.y); };
  const double w = X(panel.columns), bottom = Y(panel.rows);
  if (!panel.title.empty())
    out += fmt::format("\\node[anchor=south west] at (0,{:.3f}) {{{}}};\n", Y(0), latex_text(panel.title));
  out += fmt::format("\\draw[gray] (0,{:.3f}) rectangle ({:.3f},{:.3f});\n", Y(0), w, bottom);
  for (const ScaleArea& a : panel.areas) {
    out += fmt::format("\\{}[dwkey{},draw=white] ({:.3f},{:.3f}) rectangle ({:.3f},{:.3f});\n",
                       a.outline ? "draw" : "filldraw", a.key, X(a.x), Y(a.y), X(a.x + a.width),
                       Y(a.y + a.height));
    const std::string_view label = label_for(a, a.width * s.x, a.height * s.y);
    const uint32_t colour = a.key < p.keys.size() ? p.keys[a.key].colour : 0;
    if (!label.empty())
      out += fmt::format("\\node[align=center,text={}] at ({:.3f},{:.3f}) {{{}}};\n",
                         ink_on(colour) == "#000" ? "black" : "white", X(a.x + a.width / 2),
                         Y(a.y + a.height / 2), latex_text(label));
  }
  for (const ScaleGuide& g : panel.guides)
    out += fmt::format("\\node[anchor=west] at ({:.3f},{:.3f}) {{{}}};\n", w + 0.1, Y(g.y + g.height / 2),
                       latex_text(g.name));
  for (double c = 0; c <= panel.columns; c += x_step_of(p, panel))
    out += fmt::format("\\draw[gray] ({0:.3f},{1:.3f}) -- +(0,-0.1) node[below] {{{2}}};\n", X(c), bottom, c);
  for (double r = 0; r <= panel.rows; r += p.y_step)
    out += fmt::format("\\draw[gray] (0,{0:.3f}) -- +(-0.1,0) node[left] {{{1}}};\n", Y(r), r);
  out += fmt::format("\\node at ({:.3f},{:.3f}) {{{}}};\n", w / 2, bottom - 0.75, latex_text(p.x_name));
  out +=
      fmt::format("\\node[rotate=90] at (-0.95,{:.3f}) {{{}}};\n", (Y(0) + bottom) / 2, latex_text(p.y_name));
}

}  // namespace

uint32_t scale_colour(size_t key) {
  static constexpr uint32_t kColours[] = {0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7,
                                          0x56B4E9, 0xD55E00, 0xF0E442, 0x7F7F7F};
  return kColours[key % std::size(kColours)];
}

uint32_t round_step(double least) {
  for (const uint32_t step : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 512u, 1024u})
    if (step >= least) return step;
  return 4096;
}

std::string to_svg(const ScalePicture& p, ScaleTheme theme) {
  double width =
      kLeft + 24 + 9 * static_cast<double>(std::max(letters(p.title), letters(p.subtitle) * 3 / 4));
  for (const ScalePanel& panel : p.panels) width = std::max(width, width_of(p, panel));
  std::string body = text_at(kLeft, 24, "i h", p.title);
  double y = 34;
  if (!p.subtitle.empty()) body += text_at(kLeft, y + 9, "d", p.subtitle), y += 18;
  y += 4 + legend(p, y + 4, width, body);
  for (const ScalePanel& panel : p.panels) {
    body += PanelDrawing(p, panel, y).text();
    y += height_of(p, panel);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" role=\"img\">\n{2}<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n{3}</svg>\n",
      width, y + 6, style_of(theme), body);
}

std::string to_latex(const ScalePicture& p) {
  std::string out = "% \\usepackage{tikz}\n\\begin{tikzpicture}[font=\\sffamily\\scriptsize]\n";
  for (size_t k = 0; k < p.keys.size(); ++k)
    out +=
        fmt::format("\\definecolor{{dw{0}}}{{HTML}}{{{1:06X}}}\\tikzset{{dwkey{0}/.style={{fill=dw{0}}}}}\n",
                    k, p.keys[k].colour);
  out += fmt::format("\\node[anchor=west] at (0,0.9) {{\\normalsize {}}};\n", latex_text(p.title));
  double top = 0;
  for (const ScalePanel& panel : p.panels) {
    latex_panel(p, panel, top, out);
    top += centimetres(height_of(p, panel)) + 0.6;
  }
  return out + "\\end{tikzpicture}\n";
}

}  // namespace drywell::isa
