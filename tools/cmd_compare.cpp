// drywell compare: the reports of two runs side by side.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "tools/common/command.h"
#include "tools/common/output_file.h"
#include "tools/common/report_parts.h"
#include "tools/common/terminal_width.h"
#include "tools/run_comparison.h"

namespace drywell::tools {
namespace {

struct CompareOptions {
  std::string before, after, html, json;
  std::optional<double> threshold;  // per cent
  size_t most = 12;
};

ExitCode compare(const CommandContext& c, const CompareOptions& o) {
  if (o.threshold.has_value() && !(*o.threshold >= 0))  // nor nan
    throw UsageError("--threshold is 0 or more per cent", "compare");
  CommandFiles files("compare");
  files.reads("the report before", o.before);
  files.reads("the report after", o.after);
  files.writes("--html", o.html);
  files.writes("--json", o.json);
  ReportedRun before = read_report(o.before);
  const RunComparison r = compare_runs(std::move(before), read_report(o.after));
  if (!o.html.empty()) write_file_atomically(o.html, comparison_page(r, 40));
  if (o.json == "-") print(print_json(comparison_json(r)));
  if (!o.json.empty() && o.json != "-") write_file_atomically(o.json, print_json(comparison_json(r)));
  if (o.json != "-") print(fitted(comparison_text(r, o.most), terminal_columns()));
  if (!o.threshold.has_value() || !r.worse_than(*o.threshold / 100)) return ExitCode::ok;
  if (o.json != "-")
    print(fmt::format("{}: more than {} % slower, or wrong\n", paint("worse", Colour::red, c.colour_out),
                      *o.threshold));
  return ExitCode::verification_failed;
}

}  // namespace

void register_compare(Command& app, CommandContext& context) {
  auto o = std::make_shared<CompareOptions>();
  Command* sub = add_command(app, "compare");
  sub->add_option("BEFORE", o->before,
                  "report of `drywell run --json=FILE` or `drywell exec --report=FILE.json`")
      ->required();
  sub->add_option("AFTER", o->after, "the report to compare with it")->required();
  sub->add_option(
      "--threshold", o->threshold,
      "exit code 1 if a launch takes this many per cent more cycles, or is wrong where it was not");
  sub->add_option("--most", o->most, "rows of a table")->capture_default_str();
  sub->add_option("--html", o->html, "write the comparison as an HTML page that needs no other file");
  sub->add_option("--json", o->json, "write the comparison as JSON (- for standard output)");
  sub->callback([o, &context] { context.action = [o, &context] { return compare(context, *o); }; });
  sub->notes("Exit code 1 if the second run is worse than --threshold allows.");
}

}  // namespace drywell::tools
