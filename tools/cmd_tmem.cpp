// drywell tmem: what a kernel does with tensor memory, and a layout held against what instructions touch.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/terminal.h"
#include "drywell/isa/inspect/tmem_check.h"
#include "drywell/isa/layout/expression.h"
#include "drywell/sim/inspect/tmem_record.h"
#include "tools/common/choice.h"
#include "tools/common/command.h"
#include "tools/observed_run.h"
#include "tools/picture_output.h"
#include "tools/tmem_form.h"

namespace drywell::tools {
namespace {

ExitCode verdict(const CommandContext& c, const isa::TmemCheck& r) {
  print(fmt::format("{}: {}\n", r.ok ? paint("agrees", Colour::green, c.colour_out) : paint("differs", Colour::red, c.colour_out), r.detail));
  return r.ok ? ExitCode::ok : ExitCode::verification_failed;
}

// --- map ---

struct MapOptions {
  RunFlags run;
  std::string cta = "0,0,0", check, operand = "d";
  uint64_t at = ~uint64_t{0};
  PictureFlags picture;
};

std::string extent(uint32_t first, uint32_t count) { return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1); }

void print_regions(const sim::TmemRecord& record) {
  for (const sim::TmemAllocation& a : record.allocations())
    print(fmt::format("allocated: columns {} ({}), from {} on{}\n", extent(a.column, a.columns), a.columns, a.from, a.to == 0 ? "" : fmt::format(", freed at {}", a.to)));
  const std::vector<sim::TmemRegion> regions = record.regions();
  if (!regions.empty()) print(fmt::format("{:<9} {:<8} {:<8} {:>7} {:>9} {:>9}  {}\n", "columns", "lanes", "role", "times", "first", "last", "instruction"));
  for (const sim::TmemRegion& r : regions) {
    print(fmt::format("{:<9} {:<8} {:<8} {:>7} {:>9} {:>9}  {} at {}{}\n", extent(r.column, r.columns), extent(r.lane, r.lanes), to_string(r.role), r.count,
                      r.first, r.last, r.instruction, r.source, r.in_flight != 0 ? fmt::format(" ({} in flight)", r.in_flight) : ""));
  }
}

isa::TmemUseForm form_of(const sim::TmemMma& mma, isa::TmemOperand operand) {
  isa::TmemUseForm form = mma.form;
  form.operand = operand;
  return form;
}

/// The layout against the form of the kernel's MMAs and against the addresses they were given, from the lowest on.
isa::TmemCheck check_run(const sim::TmemRecord& record, const layout::ComposedLayout& l, isa::TmemOperand operand) {
  if (record.mmas().empty()) throw UsageError("the CTA issued no tcgen05.mma to hold the layout against", "tmem map");
  isa::TmemCheck r = isa::check_tmem_layout(l, form_of(record.mmas()[0], operand));
  if (!r.ok) return r;
  std::vector<isa::TmemPlace> used;
  for (const sim::TmemMma& mma : record.mmas()) {
    const isa::TmemPlace& p = mma.begins[static_cast<size_t>(operand)];
    if (std::find(used.begin(), used.end(), p) == used.end()) used.push_back(p);
  }
  const int64_t lowest = std::min_element(used.begin(), used.end(), [](const auto& a, const auto& b) { return a.column < b.column; })->column;
  for (isa::TmemPlace p : used) {
    p.column -= lowest;
    if (std::find(r.bases.begin(), r.bases.end(), p) != r.bases.end()) continue;
    return {false, fmt::format("an instruction's {} begins at {}, counted from column {}: no part of the layout begins there", to_string(operand), isa::to_string(p), lowest),
            r.bases};
  }
  r.detail += fmt::format("; the kernel uses {} of its {} addresses, from column {} on", used.size(), r.bases.size(), lowest);
  return r;
}

ExitCode map(const CommandContext& c, const MapOptions& o, const std::vector<std::string>& words) {
  sim::TmemRecord record(cta_of(o.cta, "tmem map"), o.at);
  const sim::RunResult result = run_observed(o.run, words, record.listener(), "tmem map");
  if (!record.seen()) throw UsageError(fmt::format("no CTA {} in this launch", o.cta), "tmem map");
  print(fmt::format("CTA {}{}\n", o.cta, record.whole_run() ? "" : fmt::format(" at {}", o.at)));
  print_regions(record);
  if (o.picture.wanted()) {
    isa::ScalePicture picture = sim::tmem_scale_picture(record);
    picture.title = fmt::format("{}: tensor memory of CTA {}", run_title(o.run, words), o.cta);
    draw(o.picture, c, sim::tmem_picture(record, o.picture.options()), picture);
  }
  if (!result.ok()) {
    print(result.fault->to_string() + "\n");
    return fault_exit(result);
  }
  if (o.check.empty()) return ExitCode::ok;
  return verdict(c, check_run(record, layout::evaluate(o.check).layout(), tmem_operand(o.operand, "tmem map")));
}

void add_map(Command& tmem, CommandContext& context) {
  auto o = std::make_shared<MapOptions>();
  Command* sub = add_subcommand(tmem, "map");
  add_observed_run(*sub, o->run);
  sub->add_option("--cta", o->cta, "the CTA to watch, x,y,z")->capture_default_str();
  sub->add_option("--at", o->at, "as it is at this cycle (timed driver) or after this many instructions of the cluster");
  sub->add_option("--check", o->check, "a layout to compare with the kernel's MMAs, e.g. '((128,16),1,1,16):((65536,1),0,0,16)'");
  sub->add_option("--operand", o->operand, "the operand of the layout: d, a, sfa, sfb")->capture_default_str();
  add_picture_options(*sub, o->picture);
  sub->callback([o, sub, &context] { context.action = [o, sub, &context] { return map(context, *o, sub->remaining()); }; });
}

// --- check ---

struct CheckOptions {
  std::string layout, access;
  TmemFormFlags form;
};

isa::TmemAccess access_of(std::string_view text) {
  static constexpr std::pair<std::string_view, isa::TmemShape> kShapes[] = {{"32x32b", isa::TmemShape::s32x32b},
                                                                            {"16x64b", isa::TmemShape::s16x64b},
                                                                            {"16x128b", isa::TmemShape::s16x128b},
                                                                            {"16x256b", isa::TmemShape::s16x256b}};
  const size_t dot = text.find(".x");
  if (dot == std::string_view::npos) throw UsageError(fmt::format("'{}' is not a shape such as 32x32b.x64", text), "tmem check");
  isa::TmemAccess a;
  a.shape = choose(text.substr(0, dot), kShapes, "shape", "tmem check");
  const uint64_t num = word64(text.substr(dot + 2), "tmem check");
  if (num < 1 || num > isa::max_num(a.shape)) throw UsageError(fmt::format("no .x{} of this shape", num), "tmem check");
  a.num = static_cast<uint16_t>(num);
  return a;
}

ExitCode check(const CommandContext& c, const CheckOptions& o) {
  const layout::Evaluation e = layout::evaluate(o.layout);
  if (!o.access.empty()) return verdict(c, isa::check_tmem_access(e.layout(), access_of(o.access)));
  return verdict(c, isa::check_tmem_layout(e.layout(), tmem_use(o.form, "tmem check")));
}

void add_check(Command& tmem, CommandContext& context) {
  auto o = std::make_shared<CheckOptions>();
  Command* sub = add_subcommand(tmem, "check");
  sub->add_option("LAYOUT", o->layout, "an expression of `drywell layout`, e.g. 'make_tmem_layout_sfa(nvf4, (128,128))'")->required();
  add_tmem_form(*sub, o->form);
  sub->add_option("--access", o->access, "instead of an MMA: a warp's tcgen05.ld or st, e.g. 32x32b.x64; mode 0 is (registers, threads)");
  sub->callback([o, &context] { context.action = [o, &context] { return check(context, *o); }; });
}

}  // namespace

void register_tmem(Command& app, CommandContext& context) {
  Command* tmem = add_command(app, "tmem");
  tmem->require_subcommand(1);
  tmem->notes("Exit code 1 if a layout differs.");
  add_map(*tmem, context);
  add_check(*tmem, context);
  register_tmem_layout(*tmem, context);
  register_tmem_show(*tmem, context);
}

}  // namespace drywell::tools
