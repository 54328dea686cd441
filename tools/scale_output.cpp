#include "tools/scale_output.h"

#include "drywell/core/files.h"
#include "tools/common/choice.h"

namespace drywell::tools {

void add_scale_options(Command& sub, ScaleFlags& f) {
  sub.add_option("--svg", f.svg, "draw as an SVG file");
  sub.add_option("--latex", f.latex, "draw as a tikzpicture, for \\input");
  sub.add_option("--theme", f.theme, "colours of the SVG file: auto (the reader's setting), light, dark")
      ->capture_default_str();
}

void write_picture(const ScaleFlags& f, const isa::ScalePicture& p, std::string_view command) {
  static constexpr std::pair<std::string_view, isa::ScaleTheme> kThemes[] = {
      {"auto", isa::ScaleTheme::automatic},
      {"light", isa::ScaleTheme::light},
      {"dark", isa::ScaleTheme::dark}};
  const isa::ScaleTheme theme = choose(f.theme, kThemes, "theme", command);
  if (!f.svg.empty()) write_file_atomically(f.svg, isa::to_svg(p, theme));
  if (!f.latex.empty()) write_file_atomically(f.latex, isa::to_latex(p));
}

}  // namespace drywell::tools
