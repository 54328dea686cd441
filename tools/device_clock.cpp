#include "tools/device_clock.h"

#include <fmt/format.h>

namespace drywell::tools {
namespace {

using kernels::Accelerator;
using kernels::microbench::Caches;
using kernels::microbench::Stopwatch;

/// A wrapper of an Accelerator that a kernel's host code may own; it does not own the wrapped one.
class Borrowed : public Accelerator {
 public:
  explicit Borrowed(Accelerator& a) : a_(a) {}
  const sim::ArchConfig& arch() const override { return a_.arch(); }
  uint32_t sm_count() const override { return a_.sm_count(); }
  GmemAddr allocate(uint64_t bytes, std::string name) override { return a_.allocate(bytes, std::move(name)); }
  void release(GmemAddr a) override { a_.release(a); }
  void write(GmemAddr to, const void* from, uint64_t bytes) override { a_.write(to, from, bytes); }
  void read(void* to, GmemAddr from, uint64_t bytes) override { a_.read(to, from, bytes); }
  isa::TensorMap encode(const isa::TensorMapFields& fields) override { return a_.encode(fields); }
  using Accelerator::load;
  void load(isa::Module module, std::string_view text) override { a_.load(std::move(module), text); }
  sim::RunResult launch(std::string_view kernel, const sim::LaunchConfig& config, const sim::Args& args, const sim::RunOptions& options) override {
    return a_.launch(kernel, config, args, options);
  }

 private:
  Accelerator& a_;
};

std::vector<kernels::microbench::Elapsed> clocked(const kernels::Kernel& kernel, kernels::RunContext context, Accelerator& device, unsigned repeats) {
  std::vector<kernels::microbench::Elapsed> out;
  Stopwatch watch(device, out, repeats, Caches::cold);
  context.machine = [&] { return std::make_unique<kernels::ForwardingAccelerator>(watch); };
  kernel.run(context);
  return out;
}

}  // namespace

ClockedRuns clock_kernel(const kernels::Kernel& kernel, kernels::RunContext context, Accelerator& gpu, unsigned repeats) {
  context.keep_outputs = false;
  ClockedRuns r;
  r.gpu = clocked(kernel, context, gpu, repeats);
  r.simulated = clock_simulated(kernel, context, std::string(gpu.arch().name));
  return r;
}

std::vector<kernels::microbench::Elapsed> clock_simulated(const kernels::Kernel& kernel, kernels::RunContext context, const std::string& arch) {
  context.keep_outputs = false;
  context.options.driver = sim::DriverKind::timed;
  context.options.values = false;
  kernels::SimulatedDevice simulator({.arch = arch});
  return clocked(kernel, context, simulator, 0);
}

std::string clock_text(double simulated_cycles, double gpu_cycles) {
  return fmt::format("{:.0f} cycles, {:+.1f} %", simulated_cycles, 100 * (simulated_cycles / gpu_cycles - 1));
}

}  // namespace drywell::tools
