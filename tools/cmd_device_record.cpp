// drywell device record, drywell device check: memory of a device after each probe, and the simulator's compared with
// it.
#include <fmt/format.h>

#include <map>

#include "conformance/silicon/probes.h"
#include "conformance/silicon/record.h"
#include "conformance/survey/survey.h"
#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "kernels/support/record_text.h"
#include "launch/cuda_driver/cuda_device.h"
#include "launch/cuda_driver/series.h"
#include "launch/golden.h"
#include "tools/common/command.h"
#include "tools/common/filter.h"
#include "tools/common/toolkit.h"

namespace drywell::tools {
namespace {

namespace silicon = kernels::silicon;

struct Options {
  std::string file, filter, driver = "eager", note, commit;
  std::vector<std::string> files;
};

/// Returns the full commit id (forty digits) of the probes: the option's value, or git's for this directory. A machine with a
/// copy of the files only has no git, hence the option.
std::string commit_of(const Options& o) {
  std::string commit = o.commit;
  if (commit.empty()) {
    const ProcessResult git = run_program("/usr/bin/env", {"git", "rev-parse", "HEAD"});
    if (git.exit_code == 0) commit = git.output.substr(0, git.output.find('\n'));
  }
  if (commit.size() == 40 && commit.find_first_not_of("0123456789abcdef") == std::string::npos) return commit;
  Diagnostics d;
  d.error(Code::E4506, {"--commit", 0, 0}, "a record names the commit of its probes in full", "--commit $(git rev-parse HEAD)");
  throw InputError(std::move(d));
}

/// False if the instruction table does not have an instruction of the probe.
bool can_be_made(const silicon::Probe& p) {
  try {
    p.make();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

silicon::RecordLine observe(const silicon::Probe& p, kernels::CudaDevice& gpu) {
  try {
    return silicon::observe(p, gpu, {});
  } catch (const InputError& e) {
    silicon::RecordLine line{.program = p.digest, .fault = std::string(code_name(e.code())) + ": " + e.what()};
    std::replace(line.fault.begin(), line.fault.end(), '\n', ' ');
    return line;
  }
}

kernels::Stretch stretch(const Options& o, const std::string& commit, const std::vector<silicon::Probe>& probes, size_t first) {
  kernels::CudaDevice gpu;
  silicon::Record r;
  r.provenance = kernels::provenance(gpu.describe(), "drywell " DRYWELL_VERSION " device record", o.note);
  r.provenance.push_back("commit: " + commit);
  size_t i = first;
  for (; i < probes.size() && !gpu.lost(); ++i) r.lines.emplace_back(probes[i].name, observe(probes[i], gpu));
  return {silicon::print_record(r), i, gpu.lost()};
}

ExitCode record(const Options& o) {
  const std::string commit = commit_of(o);
  const Pattern pattern = filter_of(o.filter, "device record");
  std::vector<silicon::Probe> probes = silicon::probes();
  std::erase_if(probes, [&](const silicon::Probe& p) { return !pattern.finds(p.name); });
  const size_t skipped = std::erase_if(probes, [](const silicon::Probe& p) { return !can_be_made(p); });
  silicon::Record r;
  for (const std::string& text : kernels::run_series([&](size_t first) { return stretch(o, commit, probes, first); })) {
    const silicon::Record more = silicon::parse_record(text, "the GPU's record");
    r.provenance = more.provenance;
    r.lines.insert(r.lines.end(), more.lines.begin(), more.lines.end());
  }
  const auto faulted = std::count_if(r.lines.begin(), r.lines.end(), [](const auto& line) { return !line.second.fault.empty(); });
  write_file_atomically(o.file, silicon::print_record(r));
  print(fmt::format("{}: {} probes recorded, {} of them faulted, {} skipped\n", o.file, r.lines.size(), faulted, skipped));
  return ExitCode::ok;
}

struct Tally {
  size_t same = 0, different = 0, stale = 0;
};

void check_file(const CommandContext& c, const Options& o, const std::string& file, Tally& t) {
  const silicon::Record r = silicon::parse_record(kernels::survey::part_of(read_text_file(file), "probes"), file);
  sim::RunOptions options;
  kernels::parse_driver(o.driver, options);
  std::map<std::string, silicon::Probe> known;
  for (silicon::Probe& p : silicon::probes()) known.emplace(p.name, p);
  for (const auto& [name, line] : r.lines) {
    const auto it = known.find(name);
    if (it == known.end() || it->second.digest != line.program || !can_be_made(it->second)) {
      ++t.stale;
      continue;
    }
    kernels::SimulatedDevice device({.arch = "sm_90a"});
    const std::string why = silicon::difference(line, silicon::observe(it->second, device, options));
    ++(why.empty() ? t.same : t.different);
    if (!why.empty()) print(fmt::format("{} {}: {}\n", paint("DIFFERENT", Colour::red, c.colour_out), name, why));
  }
}

ExitCode check(const CommandContext& c, const Options& o) {
  Tally t;
  for (const std::string& file : o.files) check_file(c, o, file, t);
  print(fmt::format("{} probes as on the device, {} different, {} recorded from another program\n", t.same, t.different, t.stale));
  return t.different == 0 ? ExitCode::ok : ExitCode::verification_failed;
}

}  // namespace

void register_device_record(Command& device, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* made = add_subcommand(device, "record");
  made->add_option("FILE", o->file, "the record to write")->required();
  made->add_option("--filter", o->filter, "only probes whose name this regular expression finds");
  made->add_option("--commit", o->commit, "the commit the probes are of, in full (default: git's, here)");
  made->add_option("--note", o->note, "a line for the record's head");
  made->callback([o, &context] { context.action = [o] { return record(*o); }; });

  Command* checked = add_subcommand(device, "check");
  checked->add_option("FILE", o->files, "records (traces/hw)")->required();
  checked->add_option("--driver", o->driver, "eager, lazy, shuffled:SEED or timed")->capture_default_str()->suggest(driver_names());
  checked->callback([o, &context] { context.action = [o, &context] { return check(context, *o); }; });
}

}  // namespace drywell::tools
