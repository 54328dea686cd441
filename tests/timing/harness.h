// Small kernels on the timed driver, and where their cycles went: a listener that writes down when
// instructions execute.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "drywell/core/error.h"
#include "drywell/isa/builder.h"
#include "drywell/sim/arch_config.h"
#include "drywell/sim/device.h"
#include "sim/events/hub.h"

namespace drywell::sim {

/// Cycle at which each instruction executed, in order; a wait executes when it returns.
class IssueLog : public Listener {
 public:
  struct Entry {
    std::string_view mnemonic;
    uint32_t warp, cta;
    uint64_t cycle;
  };
  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override {
    if (mask == 0) return;
    const Cluster& c = *w.cta->cluster;
    entries.push_back({isa::spec(op.opcode).mnemonic, w.index, static_cast<uint32_t>(w.cta->serial), c.now});
  }
  /// Cycles of the instructions of one warp with that mnemonic.
  std::vector<uint64_t> of(std::string_view mnemonic, uint32_t warp = 0, uint32_t cta = 0) const {
    std::vector<uint64_t> out;
    for (const Entry& e : entries) {
      if (e.mnemonic == mnemonic && e.warp == warp && e.cta == cta) out.push_back(e.cycle);
    }
    return out;
  }
  std::vector<Entry> entries;
};

struct TimedKernel {
  LaunchConfig launch{.grid = {1}, .block = {32}};
  std::string arch = "sm_100a";
  uint64_t global_bytes = 1 << 20;   // parameter 0 points to an allocation of this size, filled with zeros
  std::vector<isa::TensorMap> maps;  // parameters 1…
  unsigned threads = 1;
  bool values = true;
  bool listen = true;
  DriverKind driver = DriverKind::timed;
};

struct TimedOutcome {
  RunResult result;
  IssueLog log;
  std::vector<uint8_t> memory;
};

using KernelBody =
    std::function<void(isa::KernelBuilder&, isa::Symbol pointer, const std::vector<isa::Symbol>& maps)>;

inline isa::Module build_timed_kernel(const TimedKernel& k, const KernelBody& body) {
  isa::KernelBuilder b("probe", load_arch(k.arch).target);
  const isa::Symbol pointer = b.param(isa::Mod::u64, "pointer");
  std::vector<isa::Symbol> maps;
  for (size_t i = 0; i < k.maps.size(); ++i)
    maps.push_back(b.param_bytes("map" + std::to_string(i), 128, 128));
  body(b, pointer, maps);
  return b.finish();
}

/// Builds the kernel `body` emits and runs it; a fault is a test failure that names it. Tensor maps are given
/// with addresses relative to the allocation.
inline TimedOutcome run_timed_kernel(
    const TimedKernel& k, const KernelBody& body,
    const std::function<std::vector<isa::TensorMap>(uint64_t)>& make_maps = {}) {
  Device device({.arch = k.arch});
  const GmemAddr memory = device.allocate(k.global_bytes, "memory");
  device.fill(memory, 0, k.global_bytes);
  TimedKernel kernel = k;
  if (make_maps) kernel.maps = make_maps(memory.value());
  Args args;
  args.add(memory);
  for (const isa::TensorMap& m : kernel.maps) args.add(m);
  const LoadedModule m = device.load(build_timed_kernel(kernel, body));
  TimedOutcome out;
  RunOptions o;
  o.driver = k.driver;
  o.threads = k.threads;
  o.values = k.values;
  if (k.listen) o.listeners.push_back(&out.log);
  out.result = device.launch(m, "probe", k.launch, args, o);
  if (!out.result.ok()) throw InternalError(out.result.fault->to_string());
  out.memory.resize(k.global_bytes);
  device.read(out.memory.data(), memory, k.global_bytes);
  return out;
}

/// Mean distance of neighbours.
inline double spacing(const std::vector<uint64_t>& cycles) {
  return cycles.size() < 2
             ? 0
             : static_cast<double>(cycles.back() - cycles.front()) / static_cast<double>(cycles.size() - 1);
}

}  // namespace drywell::sim
