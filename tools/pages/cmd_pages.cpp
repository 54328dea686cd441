// drywell pages: manual pages and completions for shells.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "drywell/core/terminal.h"
#include "tools/common/command.h"
#include "tools/common/other_program.h"
#include "tools/pages/pages.h"

namespace drywell::tools {

bool takes_kernel(const CommandText& command) {
  return std::any_of(command.options.begin(), command.options.end(), [](const OptionText& o) {
    return o.positional && o.names.front().starts_with("KERNEL");
  });
}

bool takes_parameters(const CommandText& command) { return takes_kernel(command) && command.extras; }

namespace {

/// The text of one of this program's commands.
CommandText text_of_own(const Command& app, std::string_view name) {
  const CommandText root = app.text();
  return *std::find_if(root.subcommands.begin(), root.subcommands.end(),
                       [&](const CommandText& c) { return c.name == name; });
}

ExitCode manual(const Command& app, const CommandContext& context, const std::string& name) {
  if (name.empty()) {
    print(manual_of_all(app.text()));
    return ExitCode::ok;
  }
  const CommandRow* row = find_command(name);
  if (row == nullptr) throw UsageError(fmt::format("no command '{}'", name), "pages");
  const bool own = row->program == context.program || name == "pages";
  print(own ? manual_of(text_of_own(app, name))
            : output_of_other_program(row->program, {"pages", "man", name}));
  return ExitCode::ok;
}

/// The parts of this program's commands.
std::string own_parts(const Completion& c, const Command& app, const CommandContext& context) {
  std::string out;
  for (const CommandRow& row : command_rows()) {
    if (row.program == context.program) out += c.part(text_of_own(app, row.name));
  }
  return out;
}

/// The parts of the other programs' commands, by these programs. One that was not built has none.
std::string other_parts(const Completion& c, const CommandContext& context) {
  std::set<std::string_view> programs;
  for (const CommandRow& row : command_rows()) programs.insert(row.program);
  programs.erase(context.program);
  std::string out;
  for (const std::string_view program : programs) {
    if (has_other_program(program)) out += output_of_other_program(program, {"pages", c.shell});
  }
  return out;
}

ExitCode completion(const Completion& c, const Command& app, const CommandContext& context) {
  const std::string own = own_parts(c, app, context);
  const bool whole = context.program == find_command("pages")->program;
  print(whole ? c.head(app.text()) + own + other_parts(c, context) + c.tail() : own);
  return ExitCode::ok;
}

ExitCode pages(const Command& app, const CommandContext& context, const std::string& kind,
               const std::string& name) {
  if (kind == "man") return manual(app, context, name);
  if (!name.empty()) throw UsageError("only manual pages are of one command", "pages");
  for (const Completion* c : {&kBash, &kZsh, &kFish}) {
    if (kind == c->shell) return completion(*c, app, context);
  }
  throw UsageError(fmt::format("no pages '{}'", kind), "pages");
}

}  // namespace

void register_pages(Command& app, CommandContext& context) {
  struct Options {
    std::string kind, name;
  };
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "pages");
  sub->add_option("KIND", o->kind, "man: a manual page; bash, zsh or fish: the shell's completion")
      ->required()
      ->one_of({"man", "bash", "zsh", "fish"});
  sub->add_option("COMMAND", o->name, "man: the page of this command; without it, of drywell");
  sub->callback([o, &app, &context] {
    context.action = [o, &app, &context] { return pages(app, context, o->kind, o->name); };
  });
}

}  // namespace drywell::tools
