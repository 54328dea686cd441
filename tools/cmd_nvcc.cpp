// drywell nvcc: the installed nvcc with the options of a simulated run: PTX for the target, and the shared runtime.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/common/command.h"
#include "tools/common/toolkit.h"

namespace drywell::tools {
namespace {

/// True if `words` contains one of the options, alone or with its value ("-arch=…").
bool given(const std::vector<std::string>& words, std::initializer_list<std::string_view> options) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& w) {
    return std::any_of(options.begin(), options.end(), [&](std::string_view o) { return w == o || w.starts_with(std::string(o) + "="); });
  });
}

ExitCode nvcc(const std::string& target, std::vector<std::string> words) {
  const std::string path = find_toolkit_program("nvcc");
  std::vector<std::string> all = {path};
  if (!given(words, {"-arch", "--gpu-architecture", "-gencode", "--generate-code"})) {
    const std::string compute = "compute_" + target.substr(std::string_view("sm_").size());
    // nvlink of CUDA 13.0 rejects objects that have a virtual architecture only.
    const bool linked = given(words, {"-rdc", "--relocatable-device-code", "-dc", "--device-c", "-dlink", "--device-link"});
    all.insert(all.end(), {"-gencode", linked ? fmt::format("arch={0},code=[{0},{1}]", compute, target) : fmt::format("arch={0},code={0}", compute)});
  }
  if (!given(words, {"-cudart", "--cudart"})) all.insert(all.end(), {"-cudart", "shared"});
  // With line information, faults and profiles name lines of the source.
  if (!given(words, {"-lineinfo", "--generate-line-info", "-G", "--device-debug"})) all.push_back("-lineinfo");
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (const std::string& w : all) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  throw InputError(Code::E4610, fmt::format("{}: cannot be run: {}", path, std::strerror(errno)));
}

}  // namespace

void register_nvcc(Command& app, CommandContext& context) {
  auto target = std::make_shared<std::string>("sm_100a");
  Command* sub = add_command(app, "nvcc");
  sub->set_help_flag("--help,--drywell-help", "this; nvcc's own is -h");
  sub->add_option("--target", *target, "sm_100a, sm_90a, …")->capture_default_str()->check([](const std::string& t) {
    return t.starts_with("sm_") && t.size() > 4 ? "" : "not a target such as sm_100a";
  });
  sub->prefix_command();
  sub->callback([target, sub, &context] { context.action = [target, sub] { return nvcc(*target, sub->remaining()); }; });
}

}  // namespace drywell::tools
