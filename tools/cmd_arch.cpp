// drywell arch: the figures of an architecture, each with its source.
#include <fmt/format.h>


#include "drywell/sim/arch_config.h"
#include "tools/common/command.h"
#include "tools/common/progress_line.h"

namespace drywell::tools {
namespace {

struct Options {
  std::string name;
  bool assumed = false, markdown = false;
};

ExitCode arch(const CommandContext& c, const Options& o) {
  if (o.name.empty()) {
    if (o.assumed || o.markdown) throw UsageError("--assumed and --markdown need an architecture", "arch");
    for (const std::string_view name : sim::builtin_arch_names()) {
      const sim::ArchConfig a = sim::load_arch(std::string(name));
      print(fmt::format("{:<10} {}, {} SMs, {} GHz\n", paint(name, Colour::bold, c.colour_out), a.description,
                        a.chip.sms, a.chip.clock));
    }
    return ExitCode::ok;
  }
  const sim::ArchConfig a = sim::load_arch(o.name);
  if (o.markdown && !o.assumed)
    throw UsageError("--markdown prints the assumed figures: give --assumed too", "arch");
  print(o.markdown ? sim::assumed_figures_markdown(a) : sim::describe(a, o.assumed));
  return ExitCode::ok;
}

}  // namespace

void register_arch(Command& app, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "arch");
  sub->add_option("NAME", o->name, "built-in name (sm_100a) or .toml file; without it: the built-in ones");
  sub->add_flag("--assumed", o->assumed, "only figures that are not published");
  sub->add_flag("--markdown", o->markdown, "with --assumed: as the table of docs/deviations.md");
  sub->callback([o, &context] { context.action = [o, &context] { return arch(context, *o); }; });
}

}  // namespace drywell::tools
