// The picture options of inspection commands: --table, --svg FILE, --html FILE.
#pragma once

#include <span>
#include <string>

#include "drywell/isa/inspect/scale_picture.h"
#include "drywell/isa/layout/picture.h"
#include "tools/common/command.h"

namespace drywell::tools {

struct PictureFlags {
  bool table = false;
  std::string svg, html;
  size_t max_rows = 64, max_columns = 64;
  bool wanted() const { return table || !svg.empty() || !html.empty(); }
  layout::PictureOptions options() const {
    layout::PictureOptions o;
    o.max_rows = max_rows;
    o.max_columns = max_columns;
    return o;
  }
};

void add_picture_options(Command& command, PictureFlags& flags);

/// Draws the grids to the requested outputs: the terminal (in colour if it shows colours), an SVG file, an HTML page.
void draw(const PictureFlags& flags, const CommandContext& c, std::string_view title, std::span<const layout::Grid> grids);

/// The same with the grid in the terminal and the picture to scale in files.
void draw(const PictureFlags& flags, const CommandContext& c, const layout::Grid& grid, const isa::ScalePicture& picture);

}  // namespace drywell::tools
