// drywell tmem show: a kernel's use of tensor memory over its cycles, as one page.
#include <fmt/format.h>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/inspect/tmem_blocks.h"
#include "drywell/isa/layout/expression.h"
#include "drywell/sim/inspect/tmem_history.h"
#include "tools/common/output_file.h"
#include "tools/observed_run.h"
#include "tools/scale_output.h"
#include "tools/tmem_form.h"
#include "tools/tmem_page.h"

namespace drywell::tools {
namespace {

struct ShowOptions {
  RunFlags run;
  std::string cta = "0,0,0", output = "tmem.html", expect;
  uint64_t at = ~uint64_t{0};
  size_t value_bytes = size_t{8} << 20;
  ScaleFlags files;
};

/// The last write: later, the columns are free again.
uint64_t last_write(const sim::TmemHistoryData& h) {
  uint64_t at = h.from;
  for (const sim::TmemStep& s : h.steps)
    if (s.writes) at = std::max(at, s.done);
  return at;
}

/// By form, the cells with other elements than the expected layout of D has; empty without one.
std::vector<std::vector<isa::TmemCells>> differing_cells(const std::string& expect, const sim::TmemHistoryData& h) {
  std::vector<std::vector<isa::TmemCells>> out;
  if (expect.empty()) return out;
  const layout::ComposedLayout expected = layout::evaluate(expect).layout();
  for (const sim::TmemForm& f : h.forms)
    out.push_back(f.use.operand == isa::TmemOperand::d ? isa::differing_cells(expected, f.use) : std::vector<isa::TmemCells>{});
  return out;
}

/// Prints a line for each form of D. Returns true if none differs.
bool report_differences(const std::vector<std::vector<isa::TmemCells>>& differing, const sim::TmemHistoryData& h) {
  bool same = true;
  for (size_t i = 0; i < differing.size(); ++i) {
    const isa::TmemUseForm& use = h.forms[i].use;
    if (use.operand != isa::TmemOperand::d) continue;
    uint64_t cells = 0;
    for (const isa::TmemCells& c : differing[i]) cells += uint64_t{c.lanes} * c.columns;
    same = same && cells == 0;
    print(fmt::format("D of tcgen05.mma, M = {}, N = {}: {}\n", use.m, use.n, cells == 0 ? "agrees with the expected layout" : fmt::format("{} cells differ from the expected layout", cells)));
  }
  return same;
}

ExitCode show(const ShowOptions& o, const std::vector<std::string>& words) {
  CommandFiles files("tmem show");
  read_run_inputs(o.run, files);
  const OutputOption outputs[] = {{"-o", o.output}, {"--svg", o.files.svg}, {"--latex", o.files.latex}};
  for (const auto& [option, path] : outputs) files.writes(option, path);
  expect_writable({o.output, o.files.svg, o.files.latex});
  if (!o.expect.empty()) static_cast<void>(layout::evaluate(o.expect).layout());  // its mistakes come before the run
  sim::TmemHistory history(cta_of(o.cta, "tmem show"), o.value_bytes);
  const sim::RunResult result = run_observed(o.run, words, history.listener(), "tmem show");
  const sim::TmemHistoryData& h = history.data();
  if (!h.seen) throw UsageError(fmt::format("no CTA {} in this launch", o.cta), "tmem show");
  const std::string title = run_title(o.run, words);
  const bool timed = o.run.driver == "timed";
  const auto differing = differing_cells(o.expect, h);
  write_file_atomically(o.output, tmem_page({title, machine_of(o.run), timed ? "cycle" : "instruction", h, o.expect, differing}));
  const uint64_t at = o.at == ~uint64_t{0} ? last_write(h) : o.at;
  isa::ScalePicture picture = sim::tmem_state_picture(h, at);
  picture.title = fmt::format("{}: tensor memory at {} {}", title, timed ? "cycle" : "instruction", at);
  write_picture(o.files, picture, "tmem show");
  print(fmt::format("{}: {} uses of tensor memory by {} instructions, {} {} to {}\n", o.output,
                    h.steps.size(), h.places.size(), timed ? "cycles" : "instructions", h.from, h.to));
  const bool same = report_differences(differing, h);
  if (result.ok()) return same ? ExitCode::ok : ExitCode::verification_failed;
  print(result.fault->to_string() + "\n");
  return fault_exit(result);
}

}  // namespace

void register_tmem_show(Command& tmem, CommandContext& context) {
  auto o = std::make_shared<ShowOptions>();
  Command* sub = add_subcommand(tmem, "show");
  o->run.driver = "timed";
  add_observed_run(*sub, o->run);
  sub->add_option("--cta", o->cta, "the CTA to watch, x,y,z; of a pair, the page shows both")
      ->capture_default_str();
  sub->add_option("-o,--output", o->output, "the page, which needs no other file")->capture_default_str();
  sub->add_option("--layout", o->expect, "a layout of D, e.g. '((128,64)):((65536,1))': the page frames the cells with other elements; exit code 1 if there are any");
  sub->add_option("--at", o->at, "the cycle of --svg and --latex; default the last write");
  sub->add_option("--value-bytes", o->value_bytes,
                  "values that the page keeps; of more, those of the last writes")
      ->capture_default_str();
  add_scale_options(*sub, o->files);
  sub->callback(
      [o, sub, &context] { context.action = [o, sub, &context] { return show(*o, sub->remaining()); }; });
}

}  // namespace drywell::tools
