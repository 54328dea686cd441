// drywell device run: the same launch on a GPU and in the simulator, compared bit by bit.
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "drywell/core/terminal.h"
#include "launch/cuda_driver/cuda_device.h"
#include "launch/golden.h"
#include "tools/clock_record.h"
#include "tools/common/command.h"
#include "tools/common/command_guard.h"
#include "tools/common/limit_flags.h"
#include "tools/common/parameters.h"
#include "tools/common/report_parts.h"
#include "tools/common/run_flags.h"
#include "tools/device_clock.h"

namespace drywell::tools {
namespace {

using Json = nlohmann::ordered_json;

struct OutputComparison {
  std::string name;
  uint64_t bytes = 0, differing = 0, first = 0;
};

/// Results of one launch, or of one plan's launches together, on both machines.
struct BothRuns {
  std::string subject, gpu;
  std::vector<OutputComparison> outputs;
  std::vector<sim::RunResult> on_gpu, simulated;
  ClockedRuns clock;

  bool faulted() const {
    const auto bad = [](const std::vector<sim::RunResult>& r) { return !r.empty() && !r.back().ok(); };
    return bad(on_gpu) || bad(simulated);
  }
  uint64_t differing() const {
    uint64_t n = 0;
    for (const OutputComparison& o : outputs) n += o.differing;
    return n;
  }
};

double seconds(const std::vector<sim::RunResult>& runs) {
  double s = 0;
  for (const sim::RunResult& r : runs) s += r.host_seconds;
  return s;
}

OutputComparison compare(std::string name, std::span<const std::byte> gpu, std::span<const std::byte> simulated) {
  OutputComparison c{std::move(name), gpu.size(), 0, 0};
  if (gpu.size() != simulated.size()) c.differing = std::max(gpu.size(), simulated.size());
  for (size_t i = 0; i < std::min(gpu.size(), simulated.size()); ++i) {
    if (gpu[i] == simulated[i]) continue;
    if (c.differing++ == 0) c.first = i;
  }
  return c;
}

/// The simulator's architecture: the GPU's; UsageError if the user requested another.
std::string arch_name(const RunFlags& f, const kernels::CudaDevice& gpu) {
  if (!f.arch.empty() && f.arch != gpu.arch().name)
    throw UsageError(fmt::format("--arch={}: this machine's GPU is {}", f.arch, gpu.arch().name), "device run");
  return std::string(gpu.arch().name);
}

BothRuns run_kernel(const RunFlags& f, const sim::RunOptions& options, const std::vector<std::string>& words, unsigned clock_repeats) {
  const kernels::Kernel& k = kernels::find_kernel(f.subject);
  if (f.plan.any() || !f.save.empty()) throw UsageError("--entry, --grid, --buffer, … are for PTX files", "device run");
  kernels::RunContext context;
  context.params = kernels::Params(k.name, k.parameters, parse_parameters(k, words, "device run"));
  context.options = options;
  context.input = f.input;
  context.keep_outputs = true;
  BothRuns both{.subject = std::string(k.name)};
  bool opened = false;
  context.machine = [&]() -> std::unique_ptr<kernels::Accelerator> {
    auto gpu = std::make_unique<kernels::CudaDevice>();
    both.gpu = gpu->describe();
    opened = true;
    return gpu;
  };
  {
    const kernels::CudaDevice gpu;  // first, so that nothing is computed if there is no GPU
    context.arch = arch_name(f, gpu);
  }
  const kernels::KernelReport real = k.run(context);
  if (!opened) throw Unsupported(fmt::format("the host side of '{}' drives the simulator only", k.name));
  context.machine = nullptr;
  const kernels::KernelReport simulated = k.run(context);
  both.on_gpu = {real.run};
  both.simulated = {simulated.run};
  if (both.faulted()) return both;
  for (size_t i = 0; i < real.outputs.size(); ++i)
    both.outputs.push_back(compare(real.outputs[i].first, real.outputs[i].second.data, simulated.outputs[i].second.data));
  if (clock_repeats != 0) {
    kernels::CudaDevice gpu;
    both.clock = clock_kernel(k, context, gpu, clock_repeats);
  }
  return both;
}

BothRuns run_plan_on_both(const RunFlags& f, const sim::RunOptions& run, const std::vector<std::string>& words, unsigned clock_repeats) {
  if (clock_repeats != 0) throw UsageError("--clock is for kernels of drywell list", "device run");
  expect_no_parameters(words, "device run");
  const kernels::LaunchPlan plan = make_plan(f);
  const kernels::PlanOptions options{.run = run};
  kernels::CudaDevice gpu;
  kernels::SimulatedDevice simulator({.arch = arch_name(f, gpu), .max_memory = run.max_memory});
  const kernels::PlanResult real = kernels::run_plan(plan, gpu, options);
  if (!real.buffers.empty()) kernels::save_buffers(plan, real);  // the GPU's results, independent of the simulator's
  const kernels::PlanResult simulated = kernels::run_plan(plan, simulator, options);
  BothRuns both{.subject = f.subject, .gpu = gpu.describe(), .on_gpu = real.runs, .simulated = simulated.runs};
  if (both.faulted()) return both;
  for (size_t i = 0; i < real.buffers.size(); ++i)
    both.outputs.push_back(compare(real.buffers[i].name, std::as_bytes(std::span(real.buffers[i].bytes)), std::as_bytes(std::span(simulated.buffers[i].bytes))));
  return both;
}

std::string summary(const BothRuns& b, const sim::RunOptions& options, bool colour) {
  std::string out = paint(b.subject, Colour::bold, colour) + "\n";
  const auto line = [&](std::string_view name, const std::string& text) { out += fmt::format("  {:<13} {}\n", name, text); };
  line("GPU", b.gpu);
  if (b.faulted()) line("result", paint("not compared: a kernel faulted", Colour::yellow, colour));
  for (const OutputComparison& o : b.outputs) {
    line(o.name, o.differing == 0 ? fmt::format("{}: {} bytes", paint("identical", Colour::green, colour), with_commas(o.bytes))
                                  : fmt::format("{}: {} of {} bytes, first at {:#x}", paint("DIFFERENT", Colour::red, colour),
                                                with_commas(o.differing), with_commas(o.bytes), o.first));
  }
  line("time, GPU", fmt::format("{:.3f} ms", seconds(b.on_gpu) * 1e3));
  line("time, CPU", fmt::format("{:.3f} ms, simulated with driver {}", seconds(b.simulated) * 1e3, kernels::print_driver(options)));
  for (size_t i = 0; i < b.clock.gpu.size(); ++i) {
    const auto &gpu = b.clock.gpu[i], &simulated = b.clock.simulated.at(i);
    line("clock, GPU", fmt::format("{:.0f} cycles, {:.2f} us at {:.3f} GHz", gpu.cycles, gpu.nanoseconds * 1e-3, gpu.gigahertz()));
    line("clock, timed", clock_text(simulated.cycles, gpu.cycles));
  }
  for (const auto* runs : {&b.on_gpu, &b.simulated}) {
    for (const sim::RunResult& r : *runs)
      if (r.fault.has_value()) out += fmt::format("\n{}\n", paint(r.fault->to_string(), Colour::red, colour));
  }
  return out;
}

/// What depends on this machine and its GPU.
Json host_report(const BothRuns& b) {
  Json j = host_json(seconds(b.simulated));
  j["gpu"] = b.gpu;
  j["gpu_seconds"] = seconds(b.on_gpu);
  if (b.clock.any()) j["clock"] = Json::array();
  for (const auto& c : b.clock.gpu) j["clock"].push_back({{"cycles", c.cycles}, {"nanoseconds", c.nanoseconds}});
  return j;
}

std::string json_report(const BothRuns& b) {
  Json j = {{"drywell", DRYWELL_VERSION}, {"subject", b.subject}};
  j["identical"] = !b.faulted() && b.differing() == 0;
  j["outputs"] = Json::object();
  for (const OutputComparison& o : b.outputs) j["outputs"][o.name] = {{"bytes", o.bytes}, {"differing", o.differing}};
  if (b.clock.any()) j["clock"] = Json::array();
  for (const auto& c : b.clock.simulated) j["clock"].push_back({{"cycles", c.cycles}});
  j["gpu_fault"] = b.on_gpu.empty() ? Json(nullptr) : fault_json(b.on_gpu.back());
  j["simulator_fault"] = b.simulated.empty() ? Json(nullptr) : fault_json(b.simulated.back());
  j["host"] = host_report(b);
  return print_json(j);
}

ExitCode device_run(const CommandContext& c, const RunFlags& f, const std::vector<std::string>& words, unsigned clock_repeats) {
  if (f.subject.empty()) throw UsageError("which kernel? (drywell list), or a .ptx or .toml file", "device run");
  sim::RunOptions options = run_options(f);
  const CommandGuard guard(options);
  RunOutputs outputs(f);
  const BothRuns both = names_a_file(f.subject) ? run_plan_on_both(f, options, words, clock_repeats) : run_kernel(f, options, words, clock_repeats);
  const std::string json = f.json.empty() ? "" : json_report(both);
  outputs.json(json);
  print(f.json == "-" ? json : summary(both, options, c.colour_out));
  if (both.faulted()) return ExitCode::guest_fault;
  return both.differing() == 0 ? ExitCode::ok : ExitCode::verification_failed;
}

void add_run(Command& device, CommandContext& context) {
  auto f = std::make_shared<RunFlags>();
  f->arch.clear();
  Command* sub = add_subcommand(device, "run");
  sub->add_option("KERNEL|FILE", f->subject, kSubjectHelp);
  sub->add_option("--arch", f->arch, "must be the GPU's; default: the GPU's");
  sub->add_option("--driver", f->driver, "of the simulator: eager, lazy, shuffled:SEED or timed")->capture_default_str()->suggest(driver_names());
  sub->add_option("--input", f->input, "input array (.npy) instead of a generated one");
  sub->add_option("--json", f->json, "write the report as JSON (- for standard output)");
  sub->add_option("--save", f->save, "PTX file: NAME=FILE.npy, the buffer after the GPU's run")->allow_extra_args(false);
  sub->add_option("--threads", f->threads, "host threads; 0 = all cores")->capture_default_str();
  add_limit_flags(*sub, f->limits);
  auto clock = std::make_shared<unsigned>(0);
  sub->add_option("--clock", *clock, "also take cycles, by stamps in the kernel: the fastest of N launches with a cold L2, and the timed driver's");
  add_plan_flags(*sub, f->plan);
  sub->allow_extras();
  sub->callback([f, clock, sub, &context] { context.action = [f, clock, sub, &context] { return device_run(context, *f, sub->remaining(), *clock); }; });
}

}  // namespace

void register_device(Command& app, CommandContext& context) {
  Command* device = add_command(app, "device");
  device->require_subcommand(1);
  add_run(*device, context);
  register_device_survey(*device, context);
  register_device_record(*device, context);
  register_device_time(*device, context);
  register_device_reclock(*device, context);
}

}  // namespace drywell::tools
