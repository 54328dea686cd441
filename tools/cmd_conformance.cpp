// drywell conformance: the programs that compare Drywell (or a device) with independent expected values.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/programs/program.h"
#include "drywell/core/files.h"
#include "drywell/core/terminal.h"
#include "drywell/isa/print.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/inspect/progress_line.h"
#include "launch/cuda_driver/cuda_device.h"
#include "launch/golden.h"
#include "tools/common/command.h"
#include "tools/common/command_guard.h"
#include "tools/common/filter.h"
#include "tools/common/limit_flags.h"
#include "tools/common/output_file.h"

namespace drywell::tools {
namespace {

using kernels::conformance::Outcome;
using kernels::conformance::Program;
using kernels::conformance::ProgramSpec;

struct Options {
  std::string filter, family, driver = "eager", arch = "sm_100a", emit, json;
  bool list = false, verbose = false, on_device = false;
  sim::RunLimits limits;
};

struct Tally {
  size_t passed = 0, failed = 0, skipped = 0, not_run = 0;
  uint64_t compared = 0;
};

std::vector<ProgramSpec> chosen(const Options& o) {
  const Pattern pattern = filter_of(o.filter, "conformance");
  std::vector<ProgramSpec> out;
  for (ProgramSpec& s : kernels::conformance::suite()) {
    if (!o.family.empty() && s.family != o.family) continue;
    if (pattern.finds(s.name)) out.push_back(std::move(s));
  }
  if (out.empty()) throw UsageError("no program of that name or family; --list shows them", "conformance");
  return out;
}

/// The device's own target; programs of the other Blackwells run on machines of their own, if the device is simulated.
std::vector<isa::Target> targets(const Options& o, isa::Target target) {
  std::vector<isa::Target> all = {target};
  if (!o.on_device && target == isa::Target::sm_100a) all.insert(all.end(), {isa::Target::sm_103a, isa::Target::sm_120a});
  return all;
}

std::string file_name(const std::string& program) {
  std::string n = program;
  for (char& c : n) {
    if (c == '/' || c == ':' || c == ' ') c = '_';
  }
  return n + ".ptx";
}

void emit(const Options& o, const std::vector<ProgramSpec>& programs, std::span<const isa::Target> targets) {
  std::filesystem::create_directories(o.emit);
  size_t written = 0;
  for (const ProgramSpec& s : programs) {
    const std::optional<Program> p = kernels::conformance::make_for(s, targets);
    if (!p.has_value()) continue;
    write_file_atomically((std::filesystem::path(o.emit) / file_name(s.name)).string(), isa::print_module(p->module));
    ++written;
  }
  print(fmt::format("{} programs written to {}\n", written, o.emit));
}

void report(const CommandContext& c, const Options& o, const ProgramSpec& s, const Outcome& r, Tally& t, sim::ProgressLine& line) {
  t.compared += r.compared;
  if (r.passed()) {
    ++t.passed;
    if (o.verbose) line.print(fmt::format("{} {} ({} values)\n", paint("ok  ", Colour::green, c.colour_out), s.name, r.compared));
    return;
  }
  ++t.failed;
  line.print(fmt::format("{} {}: {}\n", paint("FAIL", Colour::red, c.colour_out), s.name,
                    r.status == Outcome::Status::faulted ? r.detail : fmt::format("{} of {} differ; {}", r.mismatches, r.compared, r.detail)));
}

std::unique_ptr<kernels::Accelerator> open(const Options& o, const std::string& arch) {
  if (o.on_device) return std::make_unique<kernels::CudaDevice>();
  return std::make_unique<kernels::SimulatedDevice>(sim::DeviceOptions{.arch = arch, .max_memory = o.limits.memory.empty() ? 0 : sim::parse_bytes(o.limits.memory)});
}

bool time_is_up(const sim::RunOptions& options) { return options.deadline.has_value() && std::chrono::steady_clock::now() >= *options.deadline; }

ExitCode conformance(const CommandContext& c, const Options& o) {
  const std::vector<ProgramSpec> programs = chosen(o);
  if (o.list) {
    for (const ProgramSpec& s : programs) print(fmt::format("{:<12} {}\n", s.family, s.name));
    return ExitCode::ok;
  }
  std::map<isa::Target, std::unique_ptr<kernels::Accelerator>> others;
  std::unique_ptr<kernels::Accelerator> device = open(o, o.arch);
  const isa::Target target = device->arch().target;
  const auto machine_of = [&](const Program& p) -> kernels::Accelerator& {
    if (o.on_device || isa::loads_on(p.module.target, target)) return *device;
    auto& other = others[p.module.target];
    if (other == nullptr) other = open(o, std::string(isa::target_name(p.module.target)));
    return *other;
  };
  const std::vector<isa::Target> possible = targets(o, target);
  if (!o.emit.empty()) {
    emit(o, programs, possible);
    return ExitCode::ok;
  }
  sim::RunOptions options;
  kernels::parse_driver(o.driver, options);
  sim::set_limits_of_driver(o.limits, options);
  const CommandGuard guard(options);
  CommandFiles files("conformance");
  files.reads("the machine", o.arch);
  files.writes("--json", o.json);
  expect_writable({o.json});
  sim::ProgressLine line;
  Tally t;
  nlohmann::json results = nlohmann::json::array();
  bool lost = false;  // a GPU accepts no launches from a process after one of its kernels has failed (CUDA driver API)
  for (const ProgramSpec& s : programs) {
    line.phase(fmt::format("program {} of {}", &s - programs.data() + 1, programs.size()));
    if (lost || time_is_up(options)) {
      ++t.not_run;
      continue;
    }
    Outcome r;
    try {
      const std::optional<Program> p = kernels::conformance::make_for(s, possible);
      if (!p.has_value()) {
        ++t.skipped;
        continue;
      }
      r = kernels::conformance::run(*p, machine_of(*p), options);
    } catch (const InputError& e) {  // a program that does not build must not hide the others
      r.status = Outcome::Status::faulted;
      r.detail = e.what();
    }
    lost = o.on_device && r.launch_failed;
    report(c, o, s, r, t, line);
    if (!o.json.empty())
      results.push_back({{"program", s.name}, {"family", s.family}, {"passed", r.passed()}, {"compared", r.compared}, {"mismatches", r.mismatches}, {"detail", r.detail}});
  }
  if (!o.json.empty()) write_file_atomically(o.json, results.dump(1) + "\n");
  line.end();
  print(fmt::format("{} programs passed, {} failed, {} not for {}; {} bytes compared\n", t.passed, t.failed, t.skipped, isa::target_name(target), t.compared));
  if (time_is_up(options)) {
    print_error(fmt::format("drywell: error F3605: the time is up; {} programs were not run\n", t.not_run));
    return ExitCode::guest_fault;
  }
  if (t.not_run != 0) print(fmt::format("{} not run: a kernel failed, and the GPU takes no more launches from this process; --filter runs them alone\n", t.not_run));
  return t.failed == 0 ? ExitCode::ok : ExitCode::verification_failed;
}

}  // namespace

void register_conformance(Command& app, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "conformance");
  sub->add_option("--filter", o->filter, "only programs whose name this regular expression finds");
  sub->add_option("--family", o->family, "only this family");
  sub->add_flag("--list", o->list, "names only");
  sub->add_flag("-v,--verbose", o->verbose, "programs that pass, too");
  sub->add_option("--driver", o->driver, "eager, lazy, shuffled[:seed] or timed")->capture_default_str()->suggest(driver_names());
  sub->add_option("--arch", o->arch, "architecture; programs it has not the instructions for are skipped")->capture_default_str();
  sub->add_flag("--device", o->on_device, "on this machine's GPU instead of the simulator");
  sub->add_option("--emit", o->emit, "write the programs' PTX into this folder instead of running them");
  sub->add_option("--json", o->json, "write results to this file");
  add_limit_flags(*sub, o->limits);
  sub->callback([o, &context] { context.action = [o, &context] { return conformance(context, *o); }; });
}

}  // namespace drywell::tools
