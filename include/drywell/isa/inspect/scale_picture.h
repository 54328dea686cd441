// Pictures to scale: areas on a grid with named axes, ticks at round numbers, a legend and colours that
// differ for colour-blind eyes, as SVG and as LaTeX. Functions may be called at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drywell::isa {

/// An area in units of the grid. The first of `labels` that fits is written into it; '\n' separates its
/// lines.
struct ScaleArea {
  double x = 0, y = 0, width = 0, height = 0;  // of its corner, and its size
  size_t key = 0;                              // of ScalePicture::keys
  std::vector<std::string> labels;             // from the longest to the shortest
  std::string tip;                             // shown under the pointer; may be empty
  bool outline = false;                        // drawn as a frame, not filled
};

/// A band of rows with a name at the right edge and a line at its top.
struct ScaleGuide {
  double y = 0, height = 0;  // its rows
  std::string name;          // written at the edge
};

/// One grid with its areas.
struct ScalePanel {
  std::string title;                   // above it; may be empty
  double columns = 0, rows = 0;        // extents of the grid
  std::vector<ScaleGuide> guides;      // bands of its rows
  std::vector<ScaleArea> areas;        // drawn in this order
  std::vector<std::string> row_names;  // instead of numbers at the left edge; each row is as high as a line of text
};

/// An entry of the legend.
struct ScaleKey {
  std::string name;     // what has the colour
  uint32_t colour = 0;  // 0xRRGGBB
};

/// Panels one below the other with one legend.
struct ScalePicture {
  std::string title, subtitle;       // above the picture
  std::string x_name, y_name;        // of the axes
  uint32_t x_step = 0, y_step = 16;  // between ticks; x_step 0: a round number that leaves space for the numbers
  std::vector<ScaleKey> keys;        // the legend
  std::vector<ScalePanel> panels;    // from the top
  double x_from = 0;                 // number of the first column
  bool continuous = false;           // x is time: columns may be narrower than a pixel, ticks are at decimal numbers
};

/// Colours of the legend: eight that differ also for colour-blind eyes (Okabe and Ito); more repeat.
uint32_t scale_colour(size_t key);
/// The smallest power of two that is at least `least`: tensor and shared memory are cut at powers of two.
uint32_t round_step(double least);

/// Light or dark ground.
enum class ScaleTheme : uint8_t {
  automatic,
  light,
  dark
};  // automatic: the reader's setting

/// A complete SVG document.
std::string to_svg(const ScalePicture& p, ScaleTheme theme = ScaleTheme::automatic);
/// A tikzpicture for \input; the document needs \usepackage{tikz}.
std::string to_latex(const ScalePicture& p);

}  // namespace drywell::isa
