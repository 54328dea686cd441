// drywell smem show: a kernel's use of shared memory over its cycles, as one page.
#include "tools/cmd_smem_show.h"

#include <fmt/format.h>

#include <set>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/inspect/smem_history.h"
#include "tools/common/output_file.h"
#include "tools/observed_run.h"
#include "tools/smem_page.h"
#include "tools/tmem_form.h"

namespace drywell::tools {
namespace {

struct ShowOptions {
  RunFlags run;
  std::string cta = "0,0,0", output = "smem.html";
  size_t value_bytes = size_t{8} << 20;
};

ExitCode show(const ShowOptions& o, const std::vector<std::string>& words) {
  expect_writable({o.output});
  sim::SmemHistory history(cta_of(o.cta, "smem show"), o.value_bytes);
  const sim::RunResult result = run_observed(o.run, words, history.listener(), "smem show");
  const sim::SmemHistoryData& h = history.data();
  if (!h.seen) throw UsageError(fmt::format("no CTA {} in this launch", o.cta), "smem show");
  const bool timed = o.run.driver == "timed";
  write_file_atomically(o.output, smem_page({run_title(o.run, words), o.run.arch, timed ? "cycle" : "instruction"}, h));
  print(fmt::format("{}: {} uses of {} bytes of shared memory by {} instructions, {} changes of mbarriers, {} {} to {}{}\n", o.output, h.steps.size(), h.bytes, h.places.size(),
                    h.barriers.size(), timed ? "cycles" : "instructions", h.from, h.to, h.truncated ? "; later uses are left out" : ""));
  std::set<std::string> named;
  for (const sim::SmemForm& f : h.forms)
    if (f.operand.starts_with("T") && named.insert(f.operand).second) print(fmt::format("  {}: {}\n", f.operand, f.doc));
  if (result.ok()) return ExitCode::ok;
  print(result.fault->to_string() + "\n");
  return fault_exit(result);
}

}  // namespace

void register_smem_show(Command& smem, CommandContext& context) {
  auto o = std::make_shared<ShowOptions>();
  Command* sub = smem.add_subcommand("show",
                                     "Run a kernel: its shared memory over the cycles as one page, with elements through swizzle and descriptor, banks, mbarriers and "
                                     "what is in flight");
  o->run.driver = "timed";
  add_observed_run(*sub, o->run);
  sub->add_option("--cta", o->cta, "the CTA to watch, x,y,z; of a pair, the page shows both")->capture_default_str();
  sub->add_option("-o,--output", o->output, "the page, which needs no other file")->capture_default_str();
  sub->add_option("--value-bytes", o->value_bytes, "values that the page keeps; of more, those of the last writes")->capture_default_str();
  sub->callback([o, sub, &context] { context.action = [o, sub, &context] { return show(*o, sub->remaining()); }; });
}

}  // namespace drywell::tools
