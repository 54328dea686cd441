// drywell python: a Python script whose kernels (Triton, Gluon, CuTe DSL, …) run in the simulator.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tools/exec_program.h"

namespace drywell::tools {
namespace {

/// Returns the interpreter that a shell would start: `python`, or `python3` where there is no other.
std::string interpreter() {
  const char* path = std::getenv("PATH");
  for (const char* name : {"python", "python3"}) {
    std::istringstream in(path != nullptr ? path : "");
    for (std::string folder; std::getline(in, folder, ':');) {
      if (::access((std::filesystem::path(folder) / name).c_str(), X_OK) == 0) return name;
    }
  }
  throw InputError(Code::E4610, "there is no python or python3 in PATH", "--python=PATH names one");
}

ExitCode run(ExecFlags flags, std::string python, const std::vector<std::string>& words) {
  if (words.empty())
    throw UsageError("which script? drywell python [options] script.py arguments…", "python");
  flags.words = {python.empty() ? interpreter() : std::move(python)};
  flags.words.insert(flags.words.end(), words.begin(), words.end());
  fmt::print(stderr,
             "drywell: this program's GPU kernels run in the simulator ({}, driver {}); all other code runs "
             "on this machine\n",
             flags.options.arch, flags.options.driver);
  return exec_program(std::move(flags));
}

}  // namespace

void register_python(Command& app, CommandContext& context) {
  auto f = std::make_shared<ExecFlags>();
  auto python = std::make_shared<std::string>();
  f->command = "python";
  Command* sub = add_command(app, "python");
  add_exec_options(*sub, *f);
  sub->add_option("--python", *python, "the interpreter; default: python of PATH, or else python3");
  sub->prefix_command();
  sub->callback([f, python, sub, &context] {
    context.action = [f, python, sub] { return run(*f, *python, sub->remaining()); };
  });
}

}  // namespace drywell::tools
