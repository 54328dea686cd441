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
#include "drywell/core/whole_number.h"
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
  std::string filter, family, part = "1/1", driver = "eager", arch = "sm_100a", emit, json;
  bool list = false, verbose = false, on_device = false;
  sim::RunLimits limits;
};

struct Tally {
  size_t passed = 0, failed = 0, skipped = 0, not_run = 0, by_ptxas = 0, too_new = 0;
  uint64_t compared = 0;
};

/// One of several equal parts of the programs: every `of`-th from the `number`-th on, so that each part has some of every family.
struct Part {
  size_t number = 1, of = 1;
};

Part part_of(std::string_view text) {
  std::string_view rest = text;
  const size_t number = leading_number<size_t>(rest).value_or(0);
  const size_t of = rest.starts_with('/') ? whole_number<size_t>(rest.substr(1)).value_or(0) : 0;
  if (number == 0 || number > of) throw UsageError(fmt::format("--part={}: a part is K/N with 1 <= K <= N, 2/4 for example", text), "conformance");
  return {number, of};
}

std::vector<ProgramSpec> chosen(const Options& o) {
  const Pattern pattern = filter_of(o.filter, "conformance");
  const Part part = part_of(o.part);
  std::vector<ProgramSpec> out;
  size_t met = 0;
  for (ProgramSpec& s : kernels::conformance::suite()) {
    if (!o.family.empty() && s.family != o.family) continue;
    if (pattern.finds(s.name) && ++met % part.of == part.number % part.of) out.push_back(std::move(s));
  }
  if (out.empty()) throw UsageError("no program of that name, family and part; --list shows them", "conformance");
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

ExitCode list(const std::vector<ProgramSpec>& programs) {
  for (const ProgramSpec& s : programs) print(fmt::format("{:<12} {}\n", s.family, s.name));
  return ExitCode::ok;
}

/// Runs programs one after the other, each on the machine that loads it.
class Suite {
 public:
  Suite(const CommandContext& c, const Options& o) : c_(c), o_(o), device_(open(o, o.arch)), possible_(targets(o, target())) {}

  isa::Target target() const { return device_->arch().target; }
  std::span<const isa::Target> possible() const { return possible_; }

  void run(const std::vector<ProgramSpec>& programs, const sim::RunOptions& options, CommandGuard& guard) {
    for (const ProgramSpec& s : programs) {
      line_.phase(fmt::format("program {} of {}", &s - programs.data() + 1, programs.size()));
      if (lost_ || guard.time_is_up()) {
        ++tally_.not_run;
      } else {
        run_one(s, options, guard);
      }
    }
    line_.end();
  }

  const Tally& tally() const { return tally_; }
  std::string json() const { return results_.dump(1) + "\n"; }

 private:
  kernels::Accelerator& machine_of(const Program& p) {
    if (o_.on_device || isa::loads_on(p.module.target, target())) return *device_;
    auto& other = others_[p.module.target];
    if (other == nullptr) other = open(o_, std::string(isa::target_name(p.module.target)));
    return *other;
  }

  void run_one(const ProgramSpec& s, const sim::RunOptions& options, CommandGuard& guard) {
    if (o_.on_device && s.ptxas_differs) {
      ++tally_.by_ptxas;
      return;
    }
    Outcome r;
    try {
      const std::optional<Program> p = kernels::conformance::make_for(s, possible_);
      if (!p.has_value()) {
        ++tally_.skipped;
        return;
      }
      r = kernels::conformance::run(*p, machine_of(*p), options);
    } catch (const InputError& e) {  // a program that does not build must not hide the others
      if (std::string_view(e.what()).find("CUDA_ERROR_UNSUPPORTED_PTX_VERSION") != std::string_view::npos) {
        ++tally_.too_new;
        return;
      }
      r.status = Outcome::Status::faulted;
      r.detail = e.what();
    }
    if (r.status == Outcome::Status::faulted && guard.time_is_up()) {
      ++tally_.not_run;
      return;
    }
    lost_ = o_.on_device && r.launch_failed;
    report(c_, o_, s, r, tally_, line_);
    results_.push_back({{"program", s.name}, {"family", s.family}, {"passed", r.passed()}, {"compared", r.compared}, {"mismatches", r.mismatches}, {"detail", r.detail}});
  }

  const CommandContext& c_;
  const Options& o_;
  std::unique_ptr<kernels::Accelerator> device_;
  std::vector<isa::Target> possible_;
  std::map<isa::Target, std::unique_ptr<kernels::Accelerator>> others_;
  sim::ProgressLine line_;
  Tally tally_;
  nlohmann::json results_ = nlohmann::json::array();
  bool lost_ = false;  // a GPU accepts no launches from a process after one of its kernels has failed (CUDA driver API)
};

void expect_files(const Options& o) {
  CommandFiles files("conformance");
  files.reads("the machine", o.arch);
  files.writes("--json", o.json);
  expect_writable({o.json});
}

ExitCode verdict(const Tally& t, isa::Target target, bool time_up) {
  print(fmt::format("{} programs passed, {} failed, {} not for {}; {} bytes compared\n", t.passed, t.failed, t.skipped, isa::target_name(target), t.compared));
  if (time_up) {
    print_error(fmt::format("drywell: error F3605: the time is up; {} programs were not run\n", t.not_run));
    return ExitCode::guest_fault;
  }
  if (t.by_ptxas != 0) print(fmt::format("{} not compared: ptxas makes code with other results of them (docs/deviations.md)\n", t.by_ptxas));
  if (t.too_new != 0) print(fmt::format("{} not compared: their PTX is newer than the GPU's driver\n", t.too_new));
  if (t.not_run != 0) print(fmt::format("{} not run: a kernel failed, and the GPU takes no more launches from this process; --filter runs them alone\n", t.not_run));
  return t.failed == 0 ? ExitCode::ok : ExitCode::verification_failed;
}

ExitCode conformance(const CommandContext& c, const Options& o) {
  sim::RunOptions options;
  kernels::parse_driver(o.driver, options);
  sim::set_limits_of_driver(o.limits, options);
  CommandGuard guard(options);
  const std::vector<ProgramSpec> programs = chosen(o);
  if (o.list) return list(programs);
  Suite suite(c, o);
  if (!o.emit.empty()) {
    emit(o, programs, suite.possible());
    return ExitCode::ok;
  }
  expect_files(o);
  suite.run(programs, options, guard);
  if (!o.json.empty()) write_file_atomically(o.json, suite.json());
  return verdict(suite.tally(), suite.target(), guard.time_is_up());
}

}  // namespace

void register_conformance(Command& app, CommandContext& context) {
  auto o = std::make_shared<Options>();
  Command* sub = add_command(app, "conformance");
  sub->add_option("--filter", o->filter, "only programs whose name this regular expression finds");
  sub->add_option("--family", o->family, "only this family");
  sub->add_option("--part", o->part, "K/N: the K-th of N equal parts, for N machines or cores")->capture_default_str();
  sub->add_flag("--list", o->list, "names only");
  sub->add_flag("-v,--verbose", o->verbose, "programs that pass, too");
  sub->add_option("--driver", o->driver, "eager, lazy, shuffled:SEED, parted:SEED or timed")->capture_default_str()->suggest(driver_names());
  sub->add_option("--arch", o->arch, "architecture; programs it has not the instructions for are skipped")->capture_default_str();
  sub->add_flag("--device", o->on_device, "on this machine's GPU instead of the simulator");
  sub->add_option("--emit", o->emit, "write the programs' PTX into this folder instead of running them");
  sub->add_option("--json", o->json, "write results to this file");
  add_limit_flags(*sub, o->limits);
  sub->callback([o, &context] { context.action = [o, &context] { return conformance(context, *o); }; });
}

}  // namespace drywell::tools
