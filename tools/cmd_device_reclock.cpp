// drywell device reclock: repeats the simulated side of a record of `drywell device run --clock`; the GPU's side stays.
#include <fmt/format.h>

#include <iterator>
#include <regex>
#include <sstream>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "tools/common/command.h"
#include "tools/common/parameters.h"
#include "tools/device_clock.h"

namespace drywell::tools {
namespace {

struct Options {
  std::string kernel, file, arch = "sm_90a";
};

std::vector<kernels::microbench::Elapsed> clock_words(const Options& o, const std::string& words) {
  std::istringstream in(words);
  const std::vector<std::string> list{std::istream_iterator<std::string>(in), {}};
  const kernels::Kernel& k = kernels::find_kernel(o.kernel);
  kernels::RunContext context;
  context.params = kernels::Params(k.name, k.parameters, parse_parameters(k, list, "device reclock"));
  context.arch = o.arch;
  return clock_simulated(k, context, o.arch);
}

ExitCode reclock(const Options& o) {
  static const std::regex kGpu("  clock, GPU +([0-9]+) cycles.*"), kTimed("(  clock, timed +)([0-9]+) cycles.*");
  std::istringstream in(read_text_file(o.file));
  std::string out;
  std::vector<kernels::microbench::Elapsed> simulated;
  double gpu = 0;
  size_t launch = 0, changed = 0, lines = 0;
  for (std::string line; std::getline(in, line); out += line + '\n') {
    std::smatch m;
    if (line.starts_with("== ")) {
      simulated = clock_words(o, line.substr(3));
      launch = 0;
    } else if (std::regex_match(line, m, kGpu)) {
      gpu = std::stod(m[1]);
    } else if (std::regex_match(line, m, kTimed)) {
      if (launch >= simulated.size() || gpu == 0) throw InputError(Code::E4506, fmt::format("'{}': no launch and GPU figure belong to it", line));
      const std::string now = m[1].str() + clock_text(simulated[launch++].cycles, gpu);
      ++lines;
      changed += now != line;
      line = now;
    }
  }
  if (lines == 0) throw InputError(Code::E4506, fmt::format("{}: no line 'clock, timed'", o.file), "a record is '== WORDS' and what `drywell device run KERNEL WORDS --clock=N` printed");
  write_file_atomically(o.file, out);
  print(fmt::format("{}: {} of {} figures changed\n", o.file, changed, lines));
  return ExitCode::ok;
}

}  // namespace

void register_device_reclock(Command& device, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* sub = add_subcommand(device, "reclock");
  sub->add_option("KERNEL", o->kernel, "the kernel that was run")->required();
  sub->add_option("FILE", o->file, "the record: '== WORDS' before what each run printed")->required();
  sub->add_option("--arch", o->arch, "the GPU's architecture")->capture_default_str();
  sub->callback([o, &context] { context.action = [o] { return reclock(*o); }; });
}

}  // namespace drywell::tools
