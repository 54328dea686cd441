// drywell tmem layout: where an operand of tcgen05.mma lies in tensor memory, without a kernel.
#include <fmt/format.h>

#include "drywell/core/terminal.h"
#include "drywell/isa/inspect/tmem_blocks.h"
#include "drywell/isa/layout/expression.h"
#include "tools/common/output_file.h"
#include "tools/scale_output.h"
#include "tools/tmem_form.h"

namespace drywell::tools {
namespace {

struct LayoutOptions {
  TmemFormFlags form;
  std::string at, expect;
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

/// Marks what differs in the picture. Returns the number of cells.
uint64_t overlay(const isa::TmemUseForm& use, const std::string& expected, isa::ScalePicture& picture) {
  if (use.operand != isa::TmemOperand::d)
    throw UsageError("--expect is for D; tmem check takes layouts of the other operands", "tmem layout");
  const size_t key = picture.keys.size();
  picture.keys.push_back({"differs from " + expected, 0xB0003A});
  uint64_t cells = 0;
  for (const isa::TmemCells& c : isa::differing_cells(layout::evaluate(expected).layout(), use)) {
    cells += uint64_t{c.lanes} * c.columns;
    picture.panels[0].areas.push_back({double(c.column),
                                       double(c.lane),
                                       double(c.columns),
                                       double(c.lanes),
                                       key,
                                       {},
                                       "differs from the expected layout",
                                       true});
    picture.panels[0].columns = std::max(picture.panels[0].columns, double(c.column + c.columns));
    print(
        fmt::format("differs: lanes {}, columns {}\n", extent(c.lane, c.lanes), extent(c.column, c.columns)));
  }
  print(cells == 0 ? "agrees with the expected layout\n"
                   : fmt::format("{} cells differ from the expected layout\n", cells));
  return cells;
}

ExitCode layout_command(const LayoutOptions& o) {
  expect_different({{"--svg", o.files.svg}, {"--latex", o.files.latex}}, "tmem layout");
  const isa::TmemUseForm use = tmem_use(o.form, "tmem layout");
  const std::vector<isa::TmemBlock> blocks = isa::tmem_blocks(use);
  isa::ScalePicture picture = isa::tmem_layout_picture(use);
  print(picture.title + "\n" + picture.subtitle + "\n");
  print_blocks(use, blocks);
  if (!o.at.empty()) print_elements(use, blocks, o.at);
  const uint64_t differing = o.expect.empty() ? 0 : overlay(use, o.expect, picture);
  write_picture(o.files, picture, "tmem layout");
  return differing == 0 ? ExitCode::ok : ExitCode::verification_failed;
}

}  // namespace

void register_tmem_layout(Command& tmem, CommandContext& context) {
  auto o = std::make_shared<LayoutOptions>();
  Command* sub = add_subcommand(tmem, "layout");
  add_tmem_form(*sub, o->form);
  sub->add_option("--at", o->at, "also the elements at LANE,COLUMN");
  sub->add_option("--expect", o->expect,
                  "a layout of D, e.g. '((64,128)):((65536,1))': what differs is named and marked; exit code "
                  "1 if anything does");
  add_scale_options(*sub, o->files);
  sub->callback([o, &context] { context.action = [o] { return layout_command(*o); }; });
}

}  // namespace drywell::tools
