// Pictures to scale in files: --svg, --latex, --theme.
#pragma once

#include <string>

#include "drywell/isa/inspect/scale_picture.h"
#include "tools/common/command.h"

namespace drywell::tools {

struct ScaleFlags {
  std::string svg, latex, theme = "auto";
  bool wanted() const { return !svg.empty() || !latex.empty(); }
};

void add_scale_options(Command& sub, ScaleFlags& f);
/// Writes the files that the flags name. Throws UsageError for an unknown theme.
void write_picture(const ScaleFlags& f, const isa::ScalePicture& p, std::string_view command);

}  // namespace drywell::tools
