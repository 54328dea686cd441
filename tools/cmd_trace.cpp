// drywell trace: show, compare and refresh traces.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "drywell/sim/trace.h"
#include "kernels/golden.h"
#include "tools/command.h"
#include "tools/terminal.h"

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

/// Runs each golden trace again. `write`: replaces those that differ.
ExitCode golden(const CommandContext& c, const std::vector<std::string>& files, bool write) {
  ExitCode worst = ExitCode::ok;
  for (const std::string& path : files) {
    const std::string old = sim::read_trace(path);
    const std::string now = kernels::record_again(sim::parse_trace_header(old, path));
    const sim::TraceDiff d = sim::diff_traces(old, now, {path, "now", 0});
    if (d.equal()) {
      print(fmt::format("{}: {}, {} records\n", path, paint("unchanged", Colour::green, c.colour_out),
                        with_commas(d.records)));
    } else {
      print(fmt::format("{}: {}\n{}", path, paint("differs", Colour::red, c.colour_out), d.message));
      worst = write ? worst : ExitCode::verification_failed;
    }
    // Moved source lines are no difference, but bless brings them up to date too.
    if (write && now != old) {
      sim::TraceFile file(path);
      file.write(now);
      file.commit();
      print(fmt::format("{}: written\n", path));
    }
  }
  return worst;
}

}  // namespace

void register_trace(CLI::App& app, CommandContext& context) {
  CLI::App* trace = app.add_subcommand("trace", "Traces: show, compare, check and refresh golden ones");
  trace->require_subcommand(1);

  auto s = std::make_shared<ShowOptions>();
  CLI::App* sub = trace->add_subcommand("show", "Print a trace (decompressed), all or part of it");
  sub->add_option("FILE", s->file, "trace file")->required();
  sub->add_option("--owner", s->owner, "records of one owner only, e.g. \"cta=0.0.0 w=1\"");
  sub->add_option("--grep", s->grep, "records that contain this text");
  sub->add_flag("--header", s->header, "only the header and the program listing");
  sub->callback([s, &context] { context.action = [s] { return show(*s); }; });

  auto d = std::make_shared<DiffOptions>();
  CLI::App* compared =
      trace->add_subcommand("diff", "Compare two traces owner by owner; exit code 1 if they differ");
  compared->add_option("A", d->a, "trace file")->required();
  compared->add_option("B", d->b, "trace file")->required();
  compared->add_option("--tolerance", d->tolerance, "cycles two records may be apart (cycle profile)")
      ->capture_default_str();
  compared->callback([d, &context] { context.action = [d, &context] { return diff(context, *d); }; });

  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* check =
      trace->add_subcommand("check", "Run golden traces again and compare; exit code 1 if one differs");
  check->add_option("FILE", *files, "traces with a '# run' line")->required();
  check->callback(
      [files, &context] { context.action = [files, &context] { return golden(context, *files, false); }; });
  CLI::App* bless = trace->add_subcommand("bless", "Run golden traces again and replace those that differ");
  bless->add_option("FILE", *files, "traces with a '# run' line")->required();
  bless->callback(
      [files, &context] { context.action = [files, &context] { return golden(context, *files, true); }; });
}

}  // namespace drywell::tools
