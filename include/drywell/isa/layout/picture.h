// Pictures of layouts, memory and fragments: a grid of labelled, coloured cells, drawn as text, SVG or HTML. Functions
// may be called at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "drywell/isa/layout/composed.h"

namespace drywell::layout {

/// One cell. Cells of equal `key` get one colour; -1 means no colour.
struct Cell {
  std::string text;  // what is written in it
  int key = -1;      // selects the colour
  std::string tip;   // tooltip (SVG title)
};

/// A label above one of many narrow columns; it may reach over the next columns.
struct Tick {
  size_t column = 0;  // where it begins
  std::string label;  // its text
};

/// Rows x columns cells, row by row. Layouts, TMEM maps and fragments all fill one.
struct Grid {
  std::string title;                                   // above the picture
  std::string note;                                    // below the picture, e.g. the part that was cut off
  std::string key_name;                                // meaning of the colours, e.g. "bank"; empty = no legend
  int key_count = 0;                                   // colours are spread over 0 … key_count-1
  std::vector<std::string> key_labels;                 // meaning of each key; default "key_name k"
  std::vector<uint32_t> key_colours;                   // 0xRRGGBB of each key; default: very different hues
  size_t rows = 0, columns = 0;                        // extents
  std::vector<std::string> row_labels, column_labels;  // one for each, or none
  std::string row_name, column_name;                   // what rows and columns are, for SVG and HTML; may be empty
  std::vector<Tick> ticks;                             // instead of column_labels
  std::vector<Cell> cells;                             // rows * columns of them
  /// The cell; not checked.
  Cell& at(size_t row, size_t column) { return cells[row * columns + column]; }
  /// The cell; not checked.
  const Cell& at(size_t row, size_t column) const { return cells[row * columns + column]; }
};

/// The value that selects the colour of a layout picture's cell.
enum class ColourBy : uint8_t {
  none,
  index,  // the index, in 16 steps over its range
  bank,   // SMEM bank: byte address / 4 modulo 32
  chunk,  // 16-byte chunk of a 128-byte row, the unit of a 128-byte swizzle
};

/// How a picture is drawn.
struct PictureOptions {
  ColourBy colour = ColourBy::index;       // what the colours show
  uint32_t element_bits = 8;               // for bank and chunk, if the layout does not have an element width
  size_t max_rows = 64, max_columns = 64;  // more are cut off, and the note says so
};

/// Mode 0 down, the other modes across; each cell shows its index (or coordinate). A rank-1 layout is one row.
Grid picture(const ComposedLayout& l, const PictureOptions& options = {});
/// Memory in address order, `row_bytes` per row and `cell_bytes` per cell. A cell shows the coordinate of the element
/// that starts there (of several elements the first, with "+n"). Integer codomains only; E1808 above 2^20 elements.
Grid memory_map(const ComposedLayout& l, uint32_t element_bits, uint32_t row_bytes = 128,
                uint32_t cell_bytes = 16, const PictureOptions& options = {});
/// TMEM, lanes down and 32-bit columns across: the coordinate in each cell. E1804 without a tmem_[…] origin, E1808
/// above 2^20 elements.
Grid tmem_map(const ComposedLayout& tmem, const PictureOptions& options = {});
/// A (thread, value) layout onto a column-major rows x columns tile: the thread and value of each element, coloured by
/// thread.
Grid thread_value_map(const Layout& tv, int64_t rows, int64_t columns, const PictureOptions& options = {});

/// Plain text; with `colour`, ANSI 256-colour backgrounds.
std::string to_text(const Grid& g, bool colour = false);
/// A complete SVG document with a legend; several grids go below one another.
std::string to_svg(std::span<const Grid> grids);
/// The same of one grid.
inline std::string to_svg(const Grid& g) { return to_svg(std::span(&g, 1)); }
/// An HTML fragment (<figure> with inline SVG and legend) without external parts.
std::string to_html(const Grid& g);
/// A complete HTML page around fragments.
std::string html_page(std::string_view title, std::span<const std::string> fragments);

}  // namespace drywell::layout
