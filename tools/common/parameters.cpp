#include "tools/common/parameters.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/sim/arch_config.h"
#include "tools/common/command.h"
#include "tools/common/run_flags.h"

namespace drywell::tools {
namespace {

/// The machine of a kernel that is not for the default one, as an option.
std::string machine_option(const kernels::Kernel& k) {
  const sim::ArchConfig machine = sim::load_arch(std::string(kDefaultMachine));
  const isa::Module module = k.build(kernels::Params(k.name, k.parameters, {}), machine);
  return module.target == machine.target ? "" : fmt::format(" --arch={}", isa::target_name(module.target));
}

/// The parameters in front that are sizes, with their defaults.
std::string default_sizes(const kernels::Kernel& k) {
  std::string out;
  for (const kernels::Parameter& p : k.parameters) {
    if (p.type != kernels::ParamType::integer || p.least != 1) break;
    out += fmt::format(" --{}={}", p.name, p.default_value);
  }
  return out;
}

}  // namespace

std::vector<std::string> kernel_examples(const kernels::Kernel& k, std::string_view subject) {
  const std::string start = fmt::format("drywell run {}{}", subject, machine_option(k));
  return {fmt::format("{}{} --verify", start, default_sizes(k)), start + " --driver=timed --check"};
}

Given parse_parameters(const kernels::Kernel& k, const std::vector<std::string>& words,
                       std::string_view command) {
  Given out;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with("--") || word.size() < 3) {
      throw UsageError(
          fmt::format("unexpected argument '{}'; kernel parameters are given as --name=value", word),
          command);
    }
    word.remove_prefix(2);
    const size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      out.emplace_back(word.substr(0, equals), word.substr(equals + 1));
      continue;
    }
    const auto p =
        std::find_if(k.parameters.begin(), k.parameters.end(), [&](const auto& x) { return x.name == word; });
    const bool takes_value = p != k.parameters.end() && p->type != kernels::ParamType::flag;
    const bool has_value = takes_value && i + 1 < words.size() && !words[i + 1].starts_with("--");
    out.emplace_back(word, has_value ? words[++i] : std::string());
  }
  return out;
}

void expect_no_parameters(const std::vector<std::string>& words, std::string_view command) {
  if (words.empty()) return;
  const bool named = words[0].starts_with("--");
  throw UsageError(fmt::format("unexpected argument '{}'{}", words[0], named ? ": a file has no parameters, a kernel of `drywell list` has; what a file's launch takes is in docs/running-ptx.md" : ""),
                   command);
}

std::string print_given(const kernels::Params& p) {
  std::string out;
  for (const auto& v : p.values()) {
    if (v.given) out += fmt::format("{}--{}={}", out.empty() ? "" : " ", v.name, v.text);
  }
  return out;
}

}  // namespace drywell::tools
