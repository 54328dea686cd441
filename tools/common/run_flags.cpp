#include "tools/common/run_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "drywell/core/whole_number.h"
#include "drywell/isa/target.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/driver_words.h"
#include "launch/golden.h"
#include "launch/words.h"
#include "tools/common/output_file.h"

namespace drywell::tools {
namespace {

/// The word behind .target in PTX text; empty if there is none.
std::string_view target_word(std::string_view text) {
  const size_t at = text.find(".target");
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + std::string_view(".target").size());
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t")));
  return text.substr(0, text.find_first_of(", \t\r\n;/"));
}

/// Splits "NAME=REST".
std::pair<std::string, std::string> named(const std::string& word, std::string_view option) {
  const size_t equals = word.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw UsageError(fmt::format("--{} {}: not NAME=…{}", option, word, option == "save" ? ": of a file's run it saves one buffer, as in --save d=d.npy" : ""), "run");
  return {word.substr(0, equals), word.substr(equals + 1)};
}

Dim3 extent(const std::string& text, std::string_view option, Dim3 otherwise) {
  Dim3 d = otherwise;
  if (!text.empty() && !kernels::parse_dim3(text, d))
    throw UsageError(fmt::format("--{} {}: not one to three positive numbers, as in 4,2,1", option, text), "run");
  return d;
}

/// --expect and --save, which a launch file may have, too.
void add_results(const RunFlags& f, kernels::LaunchPlan& plan, Diagnostics& problems) {
  for (const std::string& word : f.plan.expects) {
    const auto [name, spec] = named(word, "expect");
    kernels::ExpectSpec e;
    if (kernels::parse_expect(name, spec, e, problems)) plan.expects.push_back(std::move(e));
  }
  for (const std::string& word : f.save) plan.saves.push_back(named(word, "save"));
}

kernels::LaunchPlan plan_of_file(const RunFlags& f) {
  PlanFlags launch = f.plan;
  launch.expects.clear();
  if (launch.any()) throw UsageError("a launch file names its own kernel, sizes, buffers and arguments; --expect and --save are added to its own", "run");
  kernels::LaunchPlan plan = kernels::read_launch_file(f.subject);
  Diagnostics problems;
  add_results(f, plan, problems);
  if (problems.has_errors()) throw InputError(std::move(problems));
  return plan;
}

kernels::LaunchPlan plan_of_flags(const RunFlags& f) {
  kernels::LaunchPlan plan;
  plan.ptx_path = f.subject;
  Diagnostics problems;
  for (const std::string& word : f.plan.buffers) {
    const auto [name, spec] = named(word, "buffer");
    kernels::BufferSpec b;
    if (kernels::parse_buffer(name, spec, b, problems)) plan.buffers.push_back(std::move(b));
  }
  for (const std::string& word : f.plan.maps) {
    const auto [name, spec] = named(word, "map");
    kernels::MapSpec m;
    if (kernels::parse_map(name, spec, m, problems)) plan.maps.push_back(std::move(m));
  }
  kernels::LaunchSpec launch;
  launch.entry = f.plan.entry;
  launch.config.grid = extent(f.plan.grid, "grid", launch.config.grid);
  launch.config.block = extent(f.plan.block, "block", launch.config.block);
  launch.config.cluster = extent(f.plan.cluster, "cluster", launch.config.cluster);
  launch.config.dynamic_smem = f.plan.smem;
  for (const std::string& word : f.plan.args) {
    kernels::ArgSpec a;
    if (kernels::parse_arg(word, plan, a, problems)) launch.args.push_back(std::move(a));
  }
  plan.launches.push_back(std::move(launch));
  add_results(f, plan, problems);
  if (problems.has_errors()) throw InputError(std::move(problems));
  return plan;
}

}  // namespace

bool PlanFlags::any() const {
  return !entry.empty() || !grid.empty() || !block.empty() || !cluster.empty() || smem != 0 || !buffers.empty() ||
         !maps.empty() || !args.empty() || !expects.empty();
}

void add_plan_flags(Command& sub, PlanFlags& p) {
  constexpr const char* kGroup = "PTX files (docs/running-ptx.md)";
  const auto each = [&](const char* name, std::vector<std::string>& into, const char* doc) {
    sub.add_option(name, into, doc)->allow_extra_args(false)->group(kGroup);
  };
  sub.add_option("--entry", p.entry, "kernel to launch; may be left out if the file has one kernel")->group(kGroup);
  sub.add_option("--grid", p.grid, "CTAs, e.g. 4,2,1; default 1")->group(kGroup);
  sub.add_option("--block", p.block, "threads per CTA; default .reqntid, else 1")->group(kGroup);
  sub.add_option("--cluster", p.cluster, "CTAs per cluster; default .reqnctapercluster, else 1")->group(kGroup);
  sub.add_option("--smem", p.smem, "dynamic shared memory in bytes")->group(kGroup);
  each("--buffer", p.buffers, "NAME=f32[64,128]:zeros|ones|iota|random|poison[,seed=N], or NAME=FILE.npy");
  each("--map", p.maps, "NAME=BUFFER,box=64x8,swizzle=128B,…: a tensor map");
  each("--arg", p.args, "next argument: u32:5, f32:0.5, @BUFFER, @BUFFER+64, map:NAME, hex:00ff, file:RAW, block:SIZE;OFFSET=ARG");
  each("--expect", p.expects, "BUFFER=FILE.npy[,abs=…][,rel=…]: the expected result");
}

bool names_a_file(const std::string& subject) { return subject.ends_with(".ptx") || subject.ends_with(".toml"); }

sim::RunOptions run_options(const RunFlags& f) {
  sim::RunOptions o;
  kernels::parse_driver(f.driver, o);
  o.threads = f.threads;
  sim::set_limits_of_driver(f.limits, o);
  o.values = !f.no_values;
  o.caches = sim::parse_caches(f.caches);
  o.clock = sim::parse_clock(f.clock);
  if (f.no_values && (o.driver != sim::DriverKind::timed || f.verify || !f.save.empty() || !f.plan.expects.empty())) {
    throw UsageError(
        "--no-values is for --driver=timed without --verify, --expect and --save: there are no results to look at",
        "run");
  }
  return o;
}

namespace {

Dim3 parse_report_cta(const std::string& text) {
  const auto words = kernels::split(text, ',');
  std::array<uint32_t, 3> index{};
  bool good = words.size() <= index.size();
  for (size_t i = 0; good && i < words.size(); ++i) {
    const std::optional<uint32_t> n = whole_number<uint32_t>(words[i]);
    good = n.has_value();
    index[i] = n.value_or(0);
  }
  if (!good) throw UsageError(fmt::format("--report-cta {}: not a CTA such as 4,2,0", text), "run");
  return {index[0], index[1], index[2]};
}

}  // namespace

std::vector<Dim3> report_ctas(const RunFlags& f) {
  if (run_options(f).driver != sim::DriverKind::timed) throw UsageError("--report needs --driver=timed: other drivers have no clock", "run");
  std::vector<Dim3> out;
  for (const std::string& text : f.report_ctas) out.push_back(parse_report_cta(text));
  if (out.empty()) out.push_back({0, 0, 0});
  return out;
}

sim::TraceOptions trace_options(const RunFlags& f, const sim::RunOptions& options, std::string run) {
  sim::TraceOptions t;
  const bool timed = options.driver == sim::DriverKind::timed;
  if (f.trace_profile == "cycle" && !timed)
    throw UsageError("--trace-profile=cycle needs --driver=timed: other drivers have no clock", "run");
  t.profile = f.trace_profile == "cycle" || (f.trace_profile.empty() && timed) ? sim::TraceProfile::cycle
                                                                               : sim::TraceProfile::arch;
  t.values = f.trace_values;
  t.run = std::move(run);
  t.arch = f.arch;
  t.seed = options.seed;
  return t;
}

ExitCode fault_exit(const sim::RunResult& r) {
  if (r.ok()) return ExitCode::ok;
  return code_kind(r.fault->code) == 'U' ? ExitCode::unsupported : ExitCode::guest_fault;
}

kernels::LaunchPlan make_plan(const RunFlags& f) {
  return f.subject.ends_with(".toml") ? plan_of_file(f) : plan_of_flags(f);
}

void add_machine_flag(Command& sub, RunFlags& f) {
  sub.add_option("--arch", f.arch, "architecture: a name of `drywell arch` or a .toml file; default for a PTX file that it cannot run: the machine of the file's target")
      ->capture_default_str()
      ->check([&f](const std::string&) {
        f.arch_given = true;
        return std::string();
      });
}

std::string machine_of(const RunFlags& f) {
  if (f.arch_given || f.arch != kDefaultMachine || !names_a_file(f.subject)) return f.arch;
  const kernels::LaunchPlan plan = make_plan(f);
  isa::Target target;
  if (!isa::parse_target(target_word(read_text_file(plan.ptx_path)), target)) return f.arch;
  if (isa::loads_on(target, sim::load_arch(f.arch).target)) return f.arch;
  for (const std::string_view name : sim::builtin_arch_names()) {
    if (isa::loads_on(target, sim::load_arch(std::string(name)).target)) return std::string(name);
  }
  return f.arch;
}

void write_run_outputs(const RunFlags& f, CommandFiles& files) {
  const OutputOption outputs[] = {{"--json", f.json}, {"--trace", f.trace}, {"--report", f.report}, {"--sarif", f.check.sarif}, {"--hang-picture", f.check.hang_picture}};
  for (const auto& [option, path] : outputs) files.writes(option, path);
}

void read_run_inputs(const RunFlags& f, CommandFiles& files) {
  files.reads("the machine", f.arch);
  files.reads("--input", f.input);
  if (!names_a_file(f.subject)) return;
  const kernels::LaunchPlan plan = make_plan(f);
  files.reads("the file to run", f.subject);
  files.reads("the module", plan.ptx_path);
  for (const kernels::BufferSpec& b : plan.buffers) files.reads("buffer " + b.name, b.path);
  for (const std::string& path : plan.raw_files) files.reads("an argument", path);
  for (const kernels::ExpectSpec& e : plan.expects) files.reads("what is expected of " + e.buffer, e.path);
}

RunOutputs::RunOutputs(const RunFlags& f) {
  const OutputOption trace{"--trace", f.trace}, report{"--report", f.report}, sarif{"--sarif", f.check.sarif},
      picture{"--hang-picture", f.check.hang_picture};
  for (const OutputOption& o : {trace, report, sarif, picture}) {
    if (o.path == "-") throw UsageError(fmt::format("{}=-: only --json can go to standard output", o.option), "run");
  }
  CommandFiles files("run");
  read_run_inputs(f, files);
  write_run_outputs(f, files);
  if (!f.json.empty() && f.json != "-") json_.emplace(f.json);
  if (!f.trace.empty()) trace_.emplace(f.trace);
  if (!f.report.empty()) report_.emplace(f.report);
}

void RunOutputs::report(const std::string& page) {
  if (!report_.has_value()) return;
  report_->write(page);
  report_->commit();
}

void RunOutputs::json(const std::string& text) {
  if (!json_.has_value()) return;
  json_->write(text);
  json_->commit();
}

}  // namespace drywell::tools
