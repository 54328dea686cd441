#include "tools/common/picture_output.h"


#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "tools/common/output_file.h"

namespace drywell::tools {

void add_picture_options(Command& command, PictureFlags& f) {
  command.add_flag("--table", f.table, "draw in the terminal");
  command.add_option("--svg", f.svg, "draw as an SVG file");
  command.add_option("--html", f.html, "draw as an HTML page that needs no other file");
  command.add_option("--max-rows", f.max_rows, "rows of a picture before it is cut")->capture_default_str();
  command.add_option("--max-columns", f.max_columns, "columns of a picture before it is cut")->capture_default_str();
}

void draw(const PictureFlags& flags, const CommandContext& c, std::string_view title, std::span<const layout::Grid> grids) {
  expect_different({{"--svg", flags.svg}, {"--html", flags.html}}, {});
  if (flags.table) {
    for (const layout::Grid& g : grids) print(layout::to_text(g, c.colour_out));
  }
  if (!flags.svg.empty()) write_file_atomically(flags.svg, layout::to_svg(grids));
  if (!flags.html.empty()) {
    std::vector<std::string> figures;
    for (const layout::Grid& g : grids) figures.push_back(layout::to_html(g));
    write_file_atomically(flags.html, layout::html_page(title, figures));
  }
}

}  // namespace drywell::tools
