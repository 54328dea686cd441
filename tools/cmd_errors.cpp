// drywell errors: what a code means, and the tables of docs/errors.md made from the table of codes.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/code.h"
#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "tools/common/command.h"
#include "tools/common/terminal_width.h"

namespace drywell::tools {
namespace {

std::string explanation(const CodeRow& row) {
  return fmt::format("{}  {}{}\n", row.name, row.what, row.fix.empty() ? "" : fmt::format("\n       fix: {}", row.fix));
}

ExitCode explain(const std::vector<std::string>& names) {
  std::string out;
  for (const CodeRow& row : all_codes()) {
    if (names.empty() || std::find(names.begin(), names.end(), row.name) != names.end()) out += explanation(row);
  }
  for (const std::string& name : names) {
    if (!find_code(name).has_value()) throw UsageError(fmt::format("no code '{}'{}", name, name.starts_with('H') ? ": hazards are in docs/hazards.md" : ""), "errors");
  }
  print(fitted(out, terminal_columns()));
  return ExitCode::ok;
}

/// Text of a cell: a bar would end it.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

/// The rows under one heading; a column of fixes where any has one.
std::string table(std::string_view heading) {
  const auto here = [&](const CodeRow& r) { return r.heading == heading; };
  const bool fixes = std::any_of(all_codes().begin(), all_codes().end(), [&](const CodeRow& r) { return here(r) && !r.fix.empty(); });
  std::string out = fixes ? "| code | says | usual fix |\n| --- | --- | --- |\n" : "| code | meaning |\n| --- | --- |\n";
  for (const CodeRow& r : all_codes()) {
    if (!here(r)) continue;
    out += fmt::format("| {} | {} |", r.name, cell(r.what));
    if (fixes) out += r.fix.empty() ? " |" : fmt::format(" {} |", cell(r.fix));
    out += '\n';
  }
  return out;
}

bool has_codes(std::string_view heading) {
  return std::any_of(all_codes().begin(), all_codes().end(), [&](const CodeRow& r) { return r.heading == heading; });
}

/// The page with each table of codes made anew, below the heading that the table of codes names. The rest is as it was.
std::string renewed(std::string_view page) {
  std::string out, heading;
  bool in_table = false;
  while (!page.empty()) {
    const std::string_view line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(page.size(), line.size() + 1));
    if (line.starts_with('#')) heading = line.substr(std::min(line.size(), line.find_first_not_of("# ")));
    const bool begins = line.starts_with("| code |") && has_codes(heading);
    in_table = begins || (in_table && line.starts_with('|'));
    if (begins) out += table(heading);
    if (!in_table) out += std::string(line) + "\n";
  }
  return out;
}

}  // namespace

void register_errors(Command& app, CommandContext& context) {
  struct Options {
    std::vector<std::string> codes;
    std::string page;
  };
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "errors");
  sub->add_option("CODE", o->codes, "only these, e.g. E4305");
  sub->add_option("--page", o->page, "docs/errors.md: prints that page with its tables made from the table of codes");
  sub->callback([o, &context] {
    context.action = [o] {
      if (o->page.empty()) return explain(o->codes);
      print(renewed(read_text_file(o->page)));
      return ExitCode::ok;
    };
  });
}

}  // namespace drywell::tools
