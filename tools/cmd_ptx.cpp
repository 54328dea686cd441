// drywell ptx: PTX text of a kernel of the table, and a check of any PTX text.
#include <fmt/format.h>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"
#include "tools/common/command.h"
#include "tools/common/output_file.h"
#include "tools/common/parameters.h"
#include "tools/common/run_flags.h"

namespace drywell::tools {
namespace {

struct EmitOptions {
  std::string kernel, arch = "sm_100a", output;
  bool no_source = false;
};

ExitCode emit(const EmitOptions& o, const std::vector<std::string>& words) {
  const kernels::Kernel& k = kernels::find_kernel(o.kernel);
  const kernels::Params params(k.name, k.parameters, parse_parameters(k, words, "ptx emit"));
  const isa::Module m = k.build(params, sim::load_arch(o.arch));
  const std::string text = isa::print_module(m, {.source_lines = !o.no_source});
  if (o.output.empty()) {
    print(text);
  } else {
    CommandFiles files("ptx emit");
    files.reads("the machine", o.arch);
    files.writes("--output", o.output);
    write_file_atomically(o.output, text);
  }
  return ExitCode::ok;
}

ExitCode check(const CommandContext& c, const std::vector<std::string>& files) {
  ExitCode worst = ExitCode::ok;
  for (const std::string& file : files) {
    isa::ParseResult r = isa::parse_ptx(read_text_file(file), file);
    if (!r.diagnostics.has_errors()) r.diagnostics.append(isa::validate(r.module));
    if (!r.diagnostics.empty()) print_error(r.diagnostics.to_string() + "\n");
    if (r.diagnostics.has_errors()) {
      worst = ExitCode::bad_input;
      continue;
    }
    size_t kernels = 0, functions = 0, instructions = 0;
    for (const isa::Function& f : r.module.functions) {
      ++(f.is_entry ? kernels : functions);
      instructions += f.body.size();
    }
    print(fmt::format("{}: {}, {} kernel{}, {} function{}, {} instructions, target {}\n", file,
                      paint("legal", Colour::green, c.colour_out), kernels, kernels == 1 ? "" : "s",
                      functions, functions == 1 ? "" : "s", with_commas(instructions),
                      isa::target_name(r.module.target)));
  }
  return worst;
}

}  // namespace

void register_ptx(Command& app, CommandContext& context) {
  Command* ptx = add_command(app, "ptx");
  ptx->require_subcommand(1);

  auto e = std::make_shared<EmitOptions>();
  Command* sub = add_subcommand(*ptx, "emit");
  sub->add_option("KERNEL", e->kernel, kKernelHelp)->required();
  sub->add_option("--arch", e->arch, "architecture to build for")->capture_default_str();
  sub->add_option("-o,--output", e->output, "file instead of standard output");
  sub->add_flag("--no-source", e->no_source, "without .loc lines that name the author's source");
  sub->allow_extras();
  sub->notes("Kernel parameters are given as --name=value (drywell list KERNEL).");
  sub->callback([e, sub, &context] { context.action = [e, sub] { return emit(*e, sub->remaining()); }; });

  auto files = std::make_shared<std::vector<std::string>>();
  Command* checked = add_subcommand(*ptx, "check");
  checked->add_option("FILE", *files, "PTX files")->required();
  checked->callback(
      [files, &context] { context.action = [files, &context] { return check(context, *files); }; });
}

}  // namespace drywell::tools
