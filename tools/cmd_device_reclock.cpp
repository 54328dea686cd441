// drywell device reclock: repeats the simulated side of a record of `drywell device run --clock`; the GPU's side stays.
#include <fmt/format.h>

#include <iterator>
#include <sstream>

#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "tools/clock_record.h"
#include "tools/common/command.h"
#include "tools/common/parameters.h"
#include "tools/device_clock.h"

namespace drywell::tools {
namespace {

struct Options {
  std::string kernel, file, arch = "sm_90a";
};

std::vector<double> clock_words(const Options& o, const std::string& words) {
  std::istringstream in(words);
  const std::vector<std::string> list{std::istream_iterator<std::string>(in), {}};
  const kernels::Kernel& k = kernels::find_kernel(o.kernel);
  kernels::RunContext context;
  context.params = kernels::Params(k.name, k.parameters, parse_parameters(k, list, "device reclock"));
  context.arch = o.arch;
  std::vector<double> cycles;
  for (const auto& launch : clock_simulated(k, context, o.arch)) cycles.push_back(launch.cycles);
  return cycles;
}

ExitCode reclock(const Options& o) {
  const RenewedRecord r = renewed_record(read_text_file(o.file), o.file, [&](const std::string& words) { return clock_words(o, words); });
  write_file_atomically(o.file, r.text);
  print(fmt::format("{}: {} of {} figures changed\n", o.file, r.changed, r.figures));
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
