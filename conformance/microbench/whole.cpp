#include "conformance/microbench/whole.h"

#include <fmt/format.h>

#include <cmath>

#include "kernels/registry.h"
#include "launch/forwarding_accelerator.h"

namespace drywell::kernels::microbench {
namespace {

std::vector<std::pair<std::string, std::string>> sizes(std::initializer_list<std::pair<const char*, unsigned>> list) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, value] : list) out.emplace_back(name, std::to_string(value));
  return out;
}

}  // namespace

std::vector<WholeKernel> whole_kernels() {
  return {
      {"kernel.tma-copy.small", "tma-copy", sizes({{"rows", 1024}, {"columns", 1024}})},
      {"kernel.tma-copy.full", "tma-copy", sizes({{"rows", 8192}, {"columns", 8192}})},
      {"kernel.quantize-fp8.small", "quantize-fp8", sizes({{"rows", 512}, {"columns", 2048}})},
      {"kernel.quantize-fp8.full", "quantize-fp8", sizes({{"rows", 8192}, {"columns", 5120}})},
      {"kernel.gemm-sm90-blockwise.small", "gemm-sm90-blockwise", sizes({{"m", 256}, {"n", 256}, {"k", 1024}, {"scale-m", 1}, {"scale-n", 128}})},
      {"kernel.gemm-sm90-blockwise.full", "gemm-sm90-blockwise", sizes({{"m", 2048}, {"n", 2048}, {"k", 2048}, {"scale-m", 1}, {"scale-n", 128}})},
  };
}

Elapsed measure(const WholeKernel& w, Accelerator& device, const std::string& arch, const sim::RunOptions& options, unsigned repeats, Caches caches) {
  const Kernel& k = find_kernel(w.kernel);
  std::vector<Elapsed> elapsed;
  Stopwatch watch(device, elapsed, repeats, caches);
  RunContext c;
  c.params = Params(k.name, k.parameters, w.params);
  c.arch = arch;
  c.options = options;
  c.machine = [&] { return std::make_unique<ForwardingAccelerator>(static_cast<Accelerator&>(watch)); };
  const KernelReport r = k.run(c);
  if (!r.run.ok() || elapsed.size() != 1) throw InputError(Code::E4505, fmt::format("{}: {}", w.name, r.run.ok() ? "not one launch" : r.run.fault->to_string()));
  return elapsed[0];
}

double WholeComparison::error() const { return std::abs(simulated.cycles / measured.cycles - 1); }

std::vector<WholeComparison> compare(const Record& r, const std::vector<WholeKernel>& known, const std::string& arch) {
  sim::RunOptions options;
  options.driver = sim::DriverKind::timed;
  options.values = false;
  std::vector<WholeComparison> out;
  for (const WholeKernel& w : known) {
    const auto it = r.kernels.find(w.name);
    if (it == r.kernels.end()) continue;
    SimulatedDevice simulator({.arch = arch});
    out.push_back({w.name, it->second, measure(w, simulator, arch, options)});
  }
  return out;
}

}  // namespace drywell::kernels::microbench
