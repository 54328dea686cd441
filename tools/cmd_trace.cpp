// drywell trace: record, show, compare, export and refresh traces.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/trace.h"
#include "drywell/sim/trace_export.h"
#include "kernels/registry.h"
#include "launch/golden.h"
#include "tools/common/command.h"
#include "tools/common/command_guard.h"
#include "tools/common/limit_flags.h"
#include "tools/common/output_file.h"
#include "tools/common/parameters.h"
#include "tools/common/report_parts.h"
#include "tools/common/run_flags.h"

namespace drywell::tools {
namespace {

struct ShowOptions {
  std::string file, owner, grep;
  bool header = false;
};

ExitCode show(const ShowOptions& o) {
  const std::string text = sim::read_trace(o.file);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    at = end + 1;
    const bool comment = line.starts_with('#');
    const bool wanted =
        comment
            ? o.header || (o.owner.empty() && o.grep.empty())
            : !o.header && (o.owner.empty() || line.substr(0, line.find(' ', o.owner.size())) == o.owner) &&
                  (o.grep.empty() || line.find(o.grep) != std::string_view::npos);
    if (!wanted) continue;
    out += line;
    out += '\n';
    if (out.size() > (1u << 20)) {
      print(out);
      out.clear();
    }
  }
  print(out);
  return ExitCode::ok;
}

struct DiffOptions {
  std::string a, b;
  uint64_t tolerance = 0;
};

ExitCode diff(const CommandContext& c, const DiffOptions& o) {
  const sim::TraceDiff d =
      sim::diff_traces(sim::read_trace(o.a), sim::read_trace(o.b), {o.a, o.b, o.tolerance});
  if (!d.equal()) {
    print(fmt::format("{}: {}", paint("traces differ", Colour::red, c.colour_out), d.message));
    return ExitCode::verification_failed;
  }
  print(fmt::format("{}: {} records of {} owners\n", paint("traces agree", Colour::green, c.colour_out),
                    with_commas(d.records), with_commas(d.owners)));
  return ExitCode::ok;
}

struct RecordOptions {
  RunFlags run;
  std::string output;
};

/// Returns the words that repeat the run: a kernel's own words, or the launch file relative to the trace's folder.
std::string run_words(const RecordOptions& o, const std::vector<std::string>& words, const sim::RunOptions& options) {
  namespace fs = std::filesystem;
  const std::string how = fmt::format("--driver={} --arch={}", kernels::print_driver(options), o.run.arch);
  if (names_a_file(o.run.subject)) {
    if (!o.run.subject.ends_with(".toml")) throw UsageError("only kernels and launch files (.toml) can be recorded: a trace says how to make it again", "trace record");
    const fs::path folder = fs::absolute(o.output).parent_path();
    return fmt::format("{}{} {}", kernels::kLaunchWord, fs::relative(fs::absolute(o.run.subject), folder).string(), how);
  }
  const kernels::Kernel& k = kernels::find_kernel(o.run.subject);
  const std::string given = print_given(kernels::Params(k.name, k.parameters, parse_parameters(k, words, "trace record")));
  return fmt::format("{}{}{} {}", kernels::kernel_word(o.run.subject, k, o.output), given.empty() ? "" : " ", given, how);
}

/// Records with the same code that repeats the run, so that a new golden trace is consistent.
ExitCode record(RecordOptions o, const std::vector<std::string>& words) {
  if (o.run.subject.ends_with(".toml")) o.run.arch = machine_of(o.run);
  sim::RunOptions options = run_options(o.run);
  const CommandGuard guard(options);
  CommandFiles files("trace record");
  read_run_inputs(o.run, files);
  files.writes("--output", o.output);
  sim::TraceHeader header;
  header.profile = trace_options(o.run, options, {}).profile;
  header.values = o.run.trace_values;
  header.run = run_words(o, words, options);
  header.arch = o.run.arch;
  sim::TraceFile file(o.output);
  const std::string text = kernels::record_again(header, kernels::all_kernels(), options, std::filesystem::path(o.output).parent_path().string());
  file.write(text);
  file.commit();
  print(fmt::format("{}: {} lines, {} profile\n", o.output, with_commas(static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'))),
                    sim::trace_profile_name(header.profile)));
  return ExitCode::ok;
}

struct GoldenOptions {
  std::vector<std::string> paths;
  sim::RunLimits limits;
  std::string junit, json;
  uint64_t tolerance = 0;
};

std::string golden_json(const std::vector<kernels::GoldenResult>& results) {
  nlohmann::ordered_json j = {{"drywell", DRYWELL_VERSION}, {"traces", nlohmann::ordered_json::array()}};
  for (const kernels::GoldenResult& r : results)
    j["traces"].push_back({{"path", r.path}, {"status", r.equal ? "unchanged" : r.failed_to_run ? "error"
                                                                                                : "differs"},
                           {"records", r.records},
                           {"message", r.message}});
  return print_json(j);
}

void print_result(const CommandContext& c, const kernels::GoldenResult& r) {
  if (r.equal) print(fmt::format("{}: {}, {} records\n", r.path, paint("unchanged", Colour::green, c.colour_out), with_commas(r.records)));
  else print(fmt::format("{}: {}\n{}{}", r.path, paint(r.failed_to_run ? "cannot be run" : "differs", Colour::red, c.colour_out), r.message, r.message.ends_with('\n') ? "" : "\n"));
  if (r.written) print(fmt::format("{}: written\n", r.path));
}

/// Repeats the run of each golden trace. `write`: replaces traces that differ.
ExitCode golden(const CommandContext& c, const GoldenOptions& o, bool write) {
  CommandFiles files("trace check");
  const std::vector<std::string> traces = kernels::golden_files(o.paths);
  for (const std::string& path : traces) files.reads("a golden trace", path);
  files.writes("--junit", o.junit);
  files.writes("--json", o.json);
  expect_writable({o.junit, o.json});
  sim::RunOptions limits;
  sim::set_limits(o.limits, limits);
  const CommandGuard guard(limits);
  std::vector<kernels::GoldenResult> results;
  ExitCode worst = ExitCode::ok;
  for (const std::string& path : traces) {
    results.push_back(kernels::check_golden(path, kernels::all_kernels(), limits, o.tolerance, write));
    print_result(c, results.back());
    if (results.back().failed_to_run) worst = ExitCode::bad_input;
    else if (!results.back().equal && !write && worst == ExitCode::ok) worst = ExitCode::verification_failed;
  }
  if (!o.junit.empty()) write_file_atomically(o.junit, kernels::golden_junit(results));
  if (!o.json.empty()) write_file_atomically(o.json, golden_json(results));
  return worst;
}

struct ExportOptions {
  std::string file, format = "perfetto", output;
  sim::TimelineOptions timeline;
};

/// Letters for a terminal, else the picture.
std::string timeline_text(const CommandContext& c, const ExportOptions& o, const std::string& trace) {
  const isa::ScalePicture p = sim::trace_picture(trace, o.file, o.timeline);
  if (p.panels.empty()) throw UsageError(fmt::format("no CTA {} in the trace", o.timeline.cta), "trace export");
  if (o.format == "text") return layout::to_text(sim::trace_timeline(trace, o.file, o.timeline), c.colour_out && o.output.empty());
  const std::string figure = isa::to_svg(p);
  return o.format == "svg" ? figure : layout::html_page(o.file, {&figure, 1});
}

ExitCode export_trace(const CommandContext& c, const ExportOptions& o) {
  CommandFiles files("trace export");
  files.reads("the trace", o.file);
  files.writes("--output", o.output);
  const std::string trace = sim::read_trace(o.file);
  std::string out;
  if (o.format == "perfetto") out = sim::trace_to_perfetto(trace, o.file);
  else if (o.format == "csv") out = sim::trace_to_csv(trace, o.file);
  else
    out = timeline_text(c, o, trace);
  if (o.output.empty()) print(out);
  else write_file_atomically(o.output, out);
  return ExitCode::ok;
}

}  // namespace

void register_trace(Command& app, CommandContext& context) {
  Command* trace = add_command(app, "trace");
  trace->require_subcommand(1);

  auto s = std::make_shared<ShowOptions>();
  Command* sub = add_subcommand(*trace, "show");
  sub->add_option("FILE", s->file, "trace file")->required();
  sub->add_option("--owner", s->owner, "records of one owner only, e.g. \"cta=0.0.0 w=1\"");
  sub->add_option("--grep", s->grep, "records that contain this text");
  sub->add_flag("--header", s->header, "only the header and the program listing");
  sub->callback([s, &context] { context.action = [s] { return show(*s); }; });

  auto d = std::make_shared<DiffOptions>();
  Command* compared = add_subcommand(*trace, "diff");
  compared->add_option("A", d->a, "trace file")->required();
  compared->add_option("B", d->b, "trace file")->required();
  compared->add_option("--tolerance", d->tolerance, "cycles two records may be apart (cycle profile)")
      ->capture_default_str();
  compared->callback([d, &context] { context.action = [d, &context] { return diff(context, *d); }; });

  auto r = std::make_shared<RecordOptions>();
  Command* recorded = add_subcommand(*trace, "record");
  recorded->add_option("KERNEL|FILE", r->run.subject, "a kernel of `drywell list`, or a launch file (.toml)")->required();
  recorded->add_option("-o,--output", r->output, "the trace; zstd if the name ends in .zst")->required();
  add_machine_flag(*recorded, r->run);
  recorded->add_option("--driver", r->run.driver, "eager, lazy, shuffled:SEED or timed")->capture_default_str()->suggest(driver_names());
  recorded->add_option("--profile", r->run.trace_profile, "arch (no cycles) or cycle (timed driver)")->one_of({"arch", "cycle"});
  recorded->add_flag("--values", r->run.trace_values, "also the results that instructions wrote to registers, as values or digests");
  add_limit_flags(*recorded, r->run.limits);
  recorded->allow_extras();
  recorded->notes("Kernel parameters are given as --name=value (drywell list KERNEL).");
  recorded->callback([r, recorded, &context] { context.action = [r, recorded] { return record(*r, recorded->remaining()); }; });

  auto g = std::make_shared<GoldenOptions>();
  const auto add_golden = [&](const char* name, bool write) {
    Command* command = add_subcommand(*trace, name);
    command->add_option("FILE|DIR", g->paths, "traces with a '# run' line, or directories of them")->required();
    if (!write) command->add_option("--tolerance", g->tolerance, "cycles two records may be apart (cycle profile)")->capture_default_str();
    command->add_option("--junit", g->junit, "write the results as JUnit XML");
    command->add_option("--json", g->json, "write the results as JSON");
    add_limit_flags(*command, g->limits);
    command->callback([g, write, &context] { context.action = [g, write, &context] { return golden(context, *g, write); }; });
  };
  add_golden("check", false);
  add_golden("bless", true);

  auto e = std::make_shared<ExportOptions>();
  Command* exported = add_subcommand(*trace, "export");
  exported->add_option("FILE", e->file, "trace file; all but csv need cycles")->required();
  exported->add_option("--format", e->format, "perfetto (JSON for ui.perfetto.dev), csv, text, svg or html")->one_of({"perfetto", "csv", "text", "svg", "html"})->capture_default_str();
  exported->add_option("-o,--output", e->output, "file instead of standard output");
  exported->add_option("--cta", e->timeline.cta, "pictures: the CTA, x.y.z")->capture_default_str();
  exported->add_option("--from", e->timeline.from, "pictures: first cycle")->capture_default_str();
  exported->add_option("--to", e->timeline.to, "pictures: last cycle; 0 = the end")->capture_default_str();
  exported->add_option("--columns", e->timeline.columns, "pictures: columns of time")->between(1, 4096)->capture_default_str();
  exported->callback([e, &context] { context.action = [e, &context] { return export_trace(context, *e); }; });
}

}  // namespace drywell::tools
