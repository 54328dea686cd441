#include "tools/picture_output.h"

#include <algorithm>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "tools/common/output_file.h"
#include "tools/common/terminal_width.h"

namespace drywell::tools {
namespace {

size_t widest(const std::vector<std::string>& texts) {
  size_t w = 0;
  for (const std::string& t : texts) w = std::max(w, t.size());
  return w;
}

/// The columns of a grid that a terminal of `width` has room for; a multiple of eight where that many fit.
size_t columns_that_fit(const layout::Grid& g, size_t width) {
  size_t cell = widest(g.column_labels);
  for (const layout::Cell& c : g.cells) cell = std::max(cell, c.text.size());
  const size_t label = widest(g.row_labels) + 1, fit = width <= label ? 1 : (width - label) / (cell + 1);
  return fit >= 8 ? fit / 8 * 8 : std::max<size_t>(fit, 1);
}

/// Columns from `from` on as a grid of their own.
layout::Grid part_of(const layout::Grid& g, size_t from, size_t count) {
  layout::Grid part = g;
  part.columns = count;
  part.cells.clear();
  for (size_t r = 0; r < g.rows; ++r)
    for (size_t c = from; c < from + count; ++c) part.cells.push_back(g.at(r, c));
  if (!g.column_labels.empty()) part.column_labels.assign(g.column_labels.begin() + static_cast<ptrdiff_t>(from), g.column_labels.begin() + static_cast<ptrdiff_t>(from + count));
  part.ticks.clear();
  for (const layout::Tick& t : g.ticks)
    if (t.column >= from && t.column < from + count) part.ticks.push_back({t.column - from, t.label});
  if (from != 0) part.title.clear();
  if (from + count != g.columns) part.note.clear();
  return part;
}

/// A grid that is wider than the terminal is printed in parts below one another.
void print_table(const layout::Grid& g, bool colour) {
  const size_t width = terminal_columns(), fit = width == 0 ? g.columns : columns_that_fit(g, width);
  if (fit >= g.columns) return print(layout::to_text(g, colour));
  for (size_t from = 0; from < g.columns; from += fit) {
    const size_t count = std::min(fit, g.columns - from);
    print((from == 0 ? "" : "\n") + layout::to_text(part_of(g, from, count), colour));
  }
}

}  // namespace

void add_picture_options(Command& command, PictureFlags& f) {
  command.add_flag("--table", f.table, "draw in the terminal, in parts if it is too narrow");
  command.add_option("--svg", f.svg, "draw as an SVG file");
  command.add_option("--html", f.html, "draw as an HTML page that needs no other file");
  command.add_option("--max-rows", f.max_rows, "rows of a picture before it is cut")->capture_default_str();
  command.add_option("--max-columns", f.max_columns, "columns of a picture before it is cut")->capture_default_str();
}

void draw(const PictureFlags& flags, const CommandContext& c, std::string_view title, std::span<const layout::Grid> grids) {
  expect_different({{"--svg", flags.svg}, {"--html", flags.html}}, {});
  if (flags.table) {
    for (const layout::Grid& g : grids) print_table(g, c.colour_out);
  }
  if (!flags.svg.empty()) write_file_atomically(flags.svg, layout::to_svg(grids));
  if (!flags.html.empty()) {
    std::vector<std::string> figures;
    for (const layout::Grid& g : grids) figures.push_back(layout::to_html(g));
    write_file_atomically(flags.html, layout::html_page(title, figures));
  }
}

void draw(const PictureFlags& flags, const CommandContext& c, const layout::Grid& grid, const isa::ScalePicture& picture) {
  expect_different({{"--svg", flags.svg}, {"--html", flags.html}}, {});
  if (flags.table) print_table(grid, c.colour_out);
  const std::string svg = isa::to_svg(picture);
  if (!flags.svg.empty()) write_file_atomically(flags.svg, svg);
  if (!flags.html.empty()) write_file_atomically(flags.html, layout::html_page(picture.title, std::span(&svg, 1)));
}

}  // namespace drywell::tools
