// drywell smem show: a kernel's use of shared memory over its cycles, as one page.
#include "tools/cmd_smem_show.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/layout/expression.h"
#include "drywell/sim/inspect/smem_expect.h"
#include "drywell/sim/inspect/smem_history.h"
#include "tools/common/output_file.h"
#include "tools/observed_run.h"
#include "tools/smem_page.h"
#include "tools/tmem_form.h"

namespace drywell::tools {
namespace {

struct ShowOptions {
  RunFlags run;
  std::string cta = "0,0,0", output = "smem.html", operand = "A", expect;
  size_t value_bytes = size_t{8} << 20;
};

/// By form, the words with other elements than the expected layout has; empty without one.
SmemExpectation expectation(const ShowOptions& o, const sim::SmemHistoryData& h) {
  SmemExpectation out{o.expect, {}};
  if (o.expect.empty()) return out;
  const layout::ComposedLayout layout = layout::evaluate(o.expect).layout();
  std::set<std::string> names;
  for (const sim::SmemForm& f : h.forms) {
    names.insert(f.operand);
    out.differing.push_back(f.operand == o.operand ? sim::differing_cells(layout, f) : std::vector<isa::TmemCells>{});
  }
  if (!names.contains(o.operand)) throw UsageError(fmt::format("no operand '{}' in this run; it has {}", o.operand, fmt::join(names, ", ")), "smem show");
  return out;
}

uint64_t words_of(const std::vector<isa::TmemCells>& cells) {
  uint64_t words = 0;
  for (const isa::TmemCells& c : cells) words += uint64_t{c.lanes} * c.columns;
  return words;
}

/// Prints the first forms that differ. Returns true if none does.
bool report_differences(const ShowOptions& o, const SmemExpectation& expect, const sim::SmemHistoryData& h) {
  constexpr size_t kPrinted = 4;
  size_t places = 0, differ = 0;
  for (size_t i = 0; i < expect.differing.size(); ++i) {
    if (h.forms[i].operand != o.operand) continue;
    ++places;
    const uint64_t words = words_of(expect.differing[i]);
    if (words == 0 || ++differ > kPrinted) continue;
    print(fmt::format("{} at {:#x}: {} words differ from the expected layout ({})\n", o.operand, h.forms[i].start, words, h.forms[i].doc));
  }
  if (places != 0) print(fmt::format("{}: at {} of {} places as the expected layout has it\n", o.operand, places - differ, places));
  return differ == 0;
}

ExitCode show(const ShowOptions& o, const std::vector<std::string>& words) {
  CommandFiles files("smem show");
  read_run_inputs(o.run, files);
  files.writes("-o", o.output);
  expect_writable({o.output});
  if (!o.expect.empty()) static_cast<void>(layout::evaluate(o.expect).layout());  // its mistakes come before the run
  sim::SmemHistory history(cta_of(o.cta, "smem show"), o.value_bytes);
  const sim::RunResult result = run_observed(o.run, words, history.listener(), "smem show");
  const sim::SmemHistoryData& h = history.data();
  if (!h.seen) throw UsageError(fmt::format("no CTA {} in this launch", o.cta), "smem show");
  const bool timed = o.run.driver == "timed";
  const SmemExpectation expect = expectation(o, h);
  write_file_atomically(o.output, smem_page({run_title(o.run, words), machine_of(o.run), timed ? "cycle" : "instruction"}, h, expect));
  print(fmt::format("{}: {} uses of {} bytes of shared memory by {} instructions, {} changes of mbarriers, {} {} to {}{}\n", o.output, h.steps.size(), h.bytes, h.places.size(),
                    h.barriers.size(), timed ? "cycles" : "instructions", h.from, h.to, h.truncated ? "; later uses are left out" : ""));
  std::set<std::string> named;
  for (const sim::SmemForm& f : h.forms)
    if (f.operand.starts_with("T") && named.insert(f.operand).second) print(fmt::format("  {}: {}\n", f.operand, f.doc));
  const bool same = report_differences(o, expect, h);
  if (result.ok()) return same ? ExitCode::ok : ExitCode::verification_failed;
  print(result.fault->to_string() + "\n");
  return fault_exit(result);
}

}  // namespace

void register_smem_show(Command& smem, CommandContext& context) {
  auto o = std::make_shared<ShowOptions>();
  Command* sub = add_subcommand(smem, "show");
  o->run.driver = "timed";
  add_observed_run(*sub, o->run);
  sub->add_option("--cta", o->cta, "the CTA to watch, x,y,z; of a pair, the page shows both")->capture_default_str();
  sub->add_option("-o,--output", o->output, "the page, which needs no other file")->capture_default_str();
  sub->add_option("--operand", o->operand, "the operand that --layout describes: A or B of tcgen05.mma, or T0, T1, … as the command prints them")->capture_default_str();
  sub->add_option("--layout", o->expect,
                  "(rows, elements of a row) from the operand's address on, e.g. 'Sw<3,4,3> o smem_ptr[16b](unset) o (128,16):(64,1)': the page marks the words with other elements; "
                  "exit code 1 if there are any");
  sub->add_option("--value-bytes", o->value_bytes, "values that the page keeps; of more, those of the last writes")->capture_default_str();
  sub->callback([o, sub, &context] { context.action = [o, sub, &context] { return show(*o, sub->remaining()); }; });
}

}  // namespace drywell::tools
