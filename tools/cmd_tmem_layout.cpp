// drywell tmem layout: where an operand of tcgen05.mma lies in tensor memory, without a kernel.
#include <fmt/format.h>

#include "drywell/isa/inspect/tmem_blocks.h"
#include "tools/common/output_file.h"
#include "tools/common/progress_line.h"
#include "tools/scale_output.h"
#include "tools/tmem_form.h"

namespace drywell::tools {
namespace {

struct LayoutOptions {
  TmemFormFlags form;
  std::string at;
  ScaleFlags files;
};

std::string extent(uint32_t first, uint32_t count) {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1);
}

void print_blocks(const isa::TmemUseForm& use, const std::vector<isa::TmemBlock>& blocks) {
  const auto [row, index] = isa::axis_names(use.operand);
  print(fmt::format("CTA  lanes    columns  {:<9} {:<9} bits of a column\n", row, index));
  for (const isa::TmemBlock& b : blocks) {
    const unsigned bits = b.low + b.per_column * b.stride;
    print(fmt::format("{:<4} {:<8} {:<8} {:<9} {:<9} {}\n",
                      use.form.cta_group == 1 ? ""
                      : b.cta == 0            ? "even"
                                              : "odd",
                      extent(b.lane, b.lanes), extent(b.column, b.columns), extent(b.row, b.lanes),
                      extent(b.index, uint32_t{b.columns} * b.per_column), extent(b.low, bits - b.low)));
  }
}

/// The elements at LANE,COLUMN.
void print_elements(const isa::TmemUseForm& use, const std::vector<isa::TmemBlock>& blocks,
                    const std::string& at) {
  const Dim3 place = cta_of(at, "tmem layout");
  const auto [row, index] = isa::axis_names(use.operand);
  bool any = false;
  for (const isa::TmemBlock& b : blocks) {
    for (const isa::TmemElement& e : isa::elements_at(b, place.x, place.y)) {
      print(fmt::format("lane {} column {}{}: {}({} {}, {} {})\n", place.x, place.y,
                        use.form.cta_group == 1 ? ""
                        : b.cta == 0            ? " of the even CTA"
                                                : " of the odd CTA",
                        isa::to_string(use.operand), row, e.row, index, e.index));
      any = true;
    }
  }
  if (!any) print(fmt::format("lane {} column {}: no element\n", place.x, place.y));
}

ExitCode layout(const LayoutOptions& o) {
  expect_different({{"--svg", o.files.svg}, {"--latex", o.files.latex}}, "tmem layout");
  const isa::TmemUseForm use = tmem_use(o.form, "tmem layout");
  const std::vector<isa::TmemBlock> blocks = isa::tmem_blocks(use);
  const isa::ScalePicture picture = isa::tmem_layout_picture(use);
  print(picture.title + "\n" + picture.subtitle + "\n");
  print_blocks(use, blocks);
  if (!o.at.empty()) print_elements(use, blocks, o.at);
  write_picture(o.files, picture, "tmem layout");
  return ExitCode::ok;
}

}  // namespace

void register_tmem_layout(Command& tmem, CommandContext& context) {
  auto o = std::make_shared<LayoutOptions>();
  Command* sub = tmem.add_subcommand(
      "layout",
      "Where an operand of tcgen05.mma lies: layouts A to G, A, scale factors; to scale, without a kernel");
  add_tmem_form(*sub, o->form);
  sub->add_option("--at", o->at, "also the elements at LANE,COLUMN");
  add_scale_options(*sub, o->files);
  sub->callback([o, &context] { context.action = [o] { return layout(*o); }; });
}

}  // namespace drywell::tools
