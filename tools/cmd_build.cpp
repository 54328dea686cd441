// drywell build: a kernel of the table or a PTX file to machine code, by ptxas.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/parse.h"
#include "drywell/isa/print.h"
#include "drywell/isa/validate.h"
#include "tools/common/command.h"
#include "tools/common/output_file.h"
#include "tools/common/parameters.h"
#include "tools/common/temporary_folder.h"
#include "tools/common/toolkit.h"

namespace drywell::tools {
namespace {

struct BuildOptions {
  std::string subject, target, output;
};

struct Source {
  std::string text;
  isa::Target target;
};

/// Builds a kernel for `target` with the architecture of the target's family.
Source kernel_source(const BuildOptions& o, const std::vector<std::string>& words) {
  const kernels::Kernel& k = kernels::find_kernel(o.subject);
  const kernels::Params params(k.name, k.parameters, parse_parameters(k, words, "build"));
  isa::Target target = isa::Target::sm_100a;
  if (!o.target.empty() && !isa::parse_target(o.target, target)) throw UsageError(fmt::format("no target '{}'", o.target), "build");
  const bool hopper = target == isa::Target::sm_90a || target == isa::Target::sm_90;
  isa::Module m = k.build(params, sim::load_arch(hopper ? "sm_90a" : "sm_100a"));
  if (m.target == isa::Target::sm_100a && !hopper) m.target = target;
  if (hopper && m.target != target) throw InputError(Code::E1210, fmt::format("{} needs {}", k.name, isa::target_name(m.target)));
  if (Diagnostics problems = isa::validate(m); problems.has_errors()) throw InputError(std::move(problems));
  return {isa::print_module(m), target};
}

/// Reads a file unchanged, after a check that it is legal PTX.
Source file_source(const BuildOptions& o, const std::vector<std::string>& words) {
  expect_no_parameters(words, "build");
  Source s{read_text_file(o.subject), {}};
  const isa::Module m = isa::parse_ptx_or_throw(s.text, o.subject);
  if (Diagnostics problems = isa::validate(m); problems.has_errors()) throw InputError(std::move(problems));
  s.target = m.target;
  if (!o.target.empty() && !isa::parse_target(o.target, s.target)) throw UsageError(fmt::format("no target '{}'", o.target), "build");
  return s;
}

ExitCode build(const BuildOptions& o, const std::vector<std::string>& words) {
  CommandFiles files("build");
  if (o.subject.ends_with(".ptx")) files.reads("the file to build", o.subject);
  files.writes("--output", o.output);
  const Source source = o.subject.ends_with(".ptx") ? file_source(o, words) : kernel_source(o, words);
  const std::string ptxas = find_ptxas();
  // ptxas overwrites its output file; `out` keeps the existing file until ptxas has succeeded.
  PendingFile out(o.output);
  const TemporaryFolder work(o.output + ".drywell-");
  const std::string ptx = work.file("source.ptx"), cubin = work.file("code.cubin");
  write_file_atomically(ptx, source.text);
  const ProcessResult r = run_program(ptxas, {"-arch=" + std::string(isa::target_name(source.target)), ptx, "-o", cubin});
  if (r.exit_code != 0) throw InputError(Code::E4511, fmt::format("ptxas does not assemble {} for {}", o.subject, isa::target_name(source.target)), r.output);
  const auto code = read_file(cubin);
  out.write(code);
  out.commit();
  print(fmt::format("{}: {} bytes of {} code\n", o.output, with_commas(code.size()), isa::target_name(source.target)));
  return ExitCode::ok;
}

}  // namespace

void register_build(Command& app, CommandContext& context) {
  auto o = std::make_shared<BuildOptions>();
  Command* sub = add_command(app, "build");
  sub->add_option("KERNEL|FILE.ptx", o->subject, "a kernel of `drywell list` or a PTX file")->required();
  sub->add_option("--target", o->target, "sm_100a, sm_103a, sm_90a; default: sm_100a, or the file's own");
  sub->add_option("-o,--output", o->output, "the .cubin to write")->required();
  sub->allow_extras();
  sub->notes("Kernel parameters are given as --name=value (drywell list KERNEL).");
  sub->callback([o, sub, &context] { context.action = [o, sub] { return build(*o, sub->remaining()); }; });
}

}  // namespace drywell::tools
