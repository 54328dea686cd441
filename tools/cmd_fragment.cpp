// drywell fragment: the thread and register of each element.
#include <fmt/format.h>

#include "drywell/sim/inspect/fragment_map.h"
#include "tools/common/command.h"
#include "tools/picture_output.h"

namespace drywell::tools {
namespace {

struct FragmentOptions {
  std::string instruction, operand, by = "matrix";
  PictureFlags picture;
};

ExitCode fragment(const CommandContext& c, FragmentOptions o) {
  if (o.by != "matrix" && o.by != "register") throw UsageError("--by is matrix or register", "fragment");
  std::vector<layout::Grid> grids;
  std::string known;
  for (const sim::FragmentMap& f : sim::fragments_of(o.instruction)) {
    known += (known.empty() ? "" : ", ") + f.operand;
    if (!o.operand.empty() && f.operand != o.operand) continue;
    grids.push_back(o.by == "matrix" ? sim::matrix_picture(f, o.picture.options()) : sim::register_picture(f, o.picture.options()));
  }
  if (grids.empty()) throw UsageError(fmt::format("no operand '{}': {}", o.operand, known), "fragment");
  o.picture.table = o.picture.table || !o.picture.wanted();
  draw(o.picture, c, o.instruction, grids);
  return ExitCode::ok;
}

}  // namespace

void register_fragment(Command& app, CommandContext& context) {
  auto o = std::make_shared<FragmentOptions>();
  Command* sub = add_command(app, "fragment");
  sub->add_option("INSTRUCTION", o->instruction, "as in PTX: tcgen05.ld.16x256b.x2, tcgen05.cp.64x128b.warpx2::02_13, tcgen05.mma.m128n64 (extents of D), ldmatrix.x4.trans, mma.m16n8k16.f32.bf16.bf16.f32, wgmma.m64n64k16.f32.bf16")
      ->required();
  sub->add_option("--operand", o->operand, "a, b or d alone");
  sub->add_option("--by", o->by, "matrix: the lane and register of each element; register: the elements of each register")->capture_default_str();
  add_picture_options(*sub, o->picture);
  sub->callback([o, &context] { context.action = [o, &context] { return fragment(context, *o); }; });
}

}  // namespace drywell::tools
