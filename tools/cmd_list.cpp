// drywell list: the kernels and their parameters.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "drywell/core/error.h"
#include "drywell/core/terminal.h"
#include "drywell/sim/arch_config.h"
#include "kernels/blockwise/kernel_name.h"
#include "kernels/registry.h"
#include "tools/common/command.h"
#include "tools/common/parameters.h"
#include "tools/common/terminal_width.h"

namespace drywell::tools {

std::string describe_parameters(const kernels::Kernel& k) {
  static constexpr size_t kColumn = 28;  // of descriptions, as in lists of options; behind longer words they begin a line
  std::string out;
  const auto shown = [](const kernels::Parameter& p) {
    if (p.type == kernels::ParamType::choice)
      return fmt::format("--{}={}", p.name, fmt::join(p.allowed, "|"));
    return p.type == kernels::ParamType::flag
               ? fmt::format("--{}[=false]", p.name)
               : fmt::format("--{}={}", p.name, kernels::param_type_name(p.type));
  };
  for (const kernels::Parameter& p : k.parameters) {
    const std::string otherwise = p.default_value.empty() ? "" : fmt::format(" (default {})", p.default_value);
    const std::string word = "  " + shown(p);
    out += word + (word.size() + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - word.size(), ' '));
    out += fmt::format("{}{}\n", p.doc, otherwise);
  }
  return out;
}

namespace {

/// A line per kernel, of at most 80 columns.
std::string overview(const CommandContext& c) {
  size_t width = 0;
  for (const kernels::Kernel& k : kernels::all_kernels()) width = std::max(width, k.name.size());
  std::string out;
  for (const kernels::Kernel& k : kernels::all_kernels())
    out += fmt::format("{}{:{}}{}\n", paint(k.name, Colour::bold, c.colour_out), "", width + 2 - k.name.size(), k.doc.substr(0, k.doc.find(';')));
  return out +
         "\ndrywell list KERNEL          its parameters\n"
         "drywell run KERNEL --verify  runs it and compares every value with a reference\n";
}

/// The words by which a kernel's parameters are set, one a line, for completions of shells: --m= takes any value.
std::string parameter_words(const kernels::Kernel& k) {
  std::string out;
  for (const kernels::Parameter& p : k.parameters) {
    if (p.type == kernels::ParamType::flag) out += fmt::format("--{0}\n--{0}=false\n", p.name);
    for (const std::string_view value : p.allowed) out += fmt::format("--{}={}\n", p.name, value);
    if (p.type != kernels::ParamType::flag && p.allowed.empty()) out += fmt::format("--{}=\n", p.name);
  }
  return out;
}

std::string names_of_kernels() {
  std::string out;
  for (const kernels::Kernel& k : kernels::all_kernels()) out += fmt::format("{}\n", k.name);
  return out;
}

ExitCode list(const CommandContext& c, const std::string& only, bool names) {
  if (only.empty()) {
    print(names ? names_of_kernels() : overview(c));
    return ExitCode::ok;
  }
  const kernels::Kernel& k = kernels::find_kernel(only);
  print(names ? parameter_words(k) : fitted(fmt::format("{}  {}\n{}", paint(k.name, Colour::bold, c.colour_out), k.doc, describe_parameters(k)), terminal_columns()));
  return ExitCode::ok;
}

/// Returns the words that run the kernel of a name. They are checked with its builder, which rejects unsupported
/// combinations.
std::string kernel_here(const kernels::blockwise::KernelName& n) {
  const std::string words = kernels::blockwise::equivalent(n);
  if (words.starts_with("none")) return words;
  std::istringstream in(words);
  std::string kernel;
  in >> kernel;
  std::vector<std::string> options{std::istream_iterator<std::string>(in), {}};
  const bool hopper = std::erase(options, "--arch=sm_90a") != 0;
  try {
    const kernels::Kernel& k = kernels::find_kernel(kernel);
    k.build(kernels::Params(kernel, k.parameters, parse_parameters(k, options, "list")), sim::load_arch(hopper ? "sm_90a" : "sm_100a"));
  } catch (const InputError& e) {
    return "none: " + e.diagnostics().list().front().message;
  }
  return words;
}

/// Prints the properties in a CUTLASS kernel name.
ExitCode explain_name(const std::string& name) {
  const kernels::blockwise::KernelName n = kernels::blockwise::parse_kernel_name(name);
  std::string out = fmt::format("{}\n", name);
  for (const std::string& line : kernels::blockwise::explain(n)) out += fmt::format("  {}\n", line);
  out += fmt::format("here: {}\n", kernel_here(n));
  print(out);
  return ExitCode::ok;
}

}  // namespace

void register_list(Command& app, CommandContext& context) {
  struct Options {
    std::string kernel;
    std::string explain;
    bool names = false;
  };
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "list");
  sub->add_option("KERNEL", o->kernel, "its parameters");
  sub->add_flag("--names", o->names, "names only, one a line; with KERNEL, the words that set its parameters");
  sub->add_option("--explain", o->explain, "the parts of a CUTLASS name of a blockwise GEMM kernel, and the kernel of Drywell for it");
  sub->callback(
      [o, &context] { context.action = [o, &context] { return o->explain.empty() ? list(context, o->kernel, o->names) : explain_name(o->explain); }; });
}

}  // namespace drywell::tools
