#include "cudart/functions.h"

#include <algorithm>

#include "cudart/properties.h"
#include "drywell/core/bits.h"

namespace drywell::cudart {
namespace {

constexpr int kMaxThreads = 1024;  // CUDA C++ Programming Guide, technical specifications

const isa::Function& function_of(Context& c, const Kernel& k) {
  const isa::Function* f = c.loaded(*k.module).module().find_function(k.name);
  require(f != nullptr, CudaError::symbol_not_found);
  return *f;
}

// What the program declared: ptxas keeps a small array in registers, and adds what it spills.
size_t bytes_in(const std::vector<isa::Variable>& variables, isa::Mod space) {
  uint64_t bytes = 0;
  for (const isa::Variable& v : variables) {
    if (v.space == space) bytes = round_up(bytes, uint64_t{v.align}) + v.bytes();
  }
  return bytes;
}

Dim3 cluster_of(const Kernel& k, const RuntimeLaunchConfig& config) {
  Dim3 cluster = k.required_cluster.x != 0 ? k.required_cluster : Dim3{1, 1, 1};
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const LaunchAttribute& a = config.attributes[i];
    if (a.id == kClusterDimension) cluster = {a.cluster.x, a.cluster.y, a.cluster.z};
  }
  return cluster;
}

}  // namespace

uint32_t max_dynamic_smem(sim::Device& device, const Kernel& k, const sim::LoadedModule& m) {
  if (k.max_dynamic_smem.has_value()) return *k.max_dynamic_smem;
  const uint32_t all = static_cast<uint32_t>(device_attribute(device, 8)), fixed = device.static_smem(m, k.name);
  return all > fixed ? all - fixed : 0;
}

FuncAttributes attributes_of(Context& c, Kernel& k) {
  const isa::Function& f = function_of(c, k);
  FuncAttributes a{};
  a.shared_bytes = c.device().static_smem(c.loaded(*k.module), k.name);
  a.const_bytes = bytes_in(c.loaded(*k.module).module().variables, isa::Mod::const_);
  a.local_bytes = bytes_in(f.variables, isa::Mod::local);
  const auto& bound = f.directives.reqntid.has_value() ? f.directives.reqntid : f.directives.maxntid;
  a.max_threads_per_block = bound.has_value() ? std::min(static_cast<int>((*bound)[0] * (*bound)[1] * (*bound)[2]), kMaxThreads) : kMaxThreads;
  a.num_regs = static_cast<int>(c.device().registers(c.loaded(*k.module), k.name));
  a.ptx_version = k.module->ptx_target;
  a.binary_version = compute_capability(c.device());
  a.max_dynamic_shared_bytes = static_cast<int>(max_dynamic_smem(c.device(), k, c.loaded(*k.module)));
  a.preferred_carveout = k.carveout;
  a.non_portable_cluster_allowed = k.non_portable_cluster ? 1 : 0;
  a.cluster_scheduling_policy = k.cluster_policy;
  if (const auto& r = f.directives.reqnctapercluster; r.has_value()) {
    a.cluster_must_be_set = 1;
    a.required_cluster_width = static_cast<int>((*r)[0]);
    a.required_cluster_height = static_cast<int>((*r)[1]);
    a.required_cluster_depth = static_cast<int>((*r)[2]);
  }
  return a;
}

void set_attribute(Context& c, Kernel& k, int attribute, int value) {
  function_of(c, k);
  switch (attribute) {
    case kMaxDynamicSharedMemorySize: {
      const auto fixed = static_cast<int64_t>(c.device().static_smem(c.loaded(*k.module), k.name));
      require_value(value >= 0 && fixed + value <= device_attribute(c.device(), 97));
      k.max_dynamic_smem = static_cast<uint32_t>(value);
      return;
    }
    case kPreferredSharedMemoryCarveout: k.carveout = value; return;
    case kRequiredClusterWidth: k.required_cluster.x = static_cast<uint32_t>(value); return;
    case kRequiredClusterHeight: k.required_cluster.y = static_cast<uint32_t>(value); return;
    case kRequiredClusterDepth: k.required_cluster.z = static_cast<uint32_t>(value); return;
    case kNonPortableClusterSizeAllowed: k.non_portable_cluster = value != 0; return;
    case kClusterSchedulingPolicyPreference: k.cluster_policy = value; return;
    default: throw CallFailed{CudaError::invalid_value};
  }
}

int ctas_per_sm(Context& c, Kernel& k, int threads, size_t dynamic_smem) {
  require_value(threads > 0 && dynamic_smem <= UINT32_MAX);
  sim::LaunchConfig config;
  config.block = {static_cast<uint32_t>(threads), 1, 1};
  config.cluster = {1, 1, 1};
  const auto& f = function_of(c, k);
  if (f.directives.reqntid.has_value()) config.block = {(*f.directives.reqntid)[0], (*f.directives.reqntid)[1], (*f.directives.reqntid)[2]};
  config.dynamic_smem = static_cast<uint32_t>(dynamic_smem);
  if (const auto& r = f.directives.reqnctapercluster; r.has_value()) config.grid = {(*r)[0], (*r)[1], (*r)[2]};
  return static_cast<int>(c.device().estimated_occupancy(c.loaded(*k.module), k.name, config).ctas_per_sm);
}

/// Threads of a block for which an SM has the registers (cuda_occupancy.h).
static int threads_by_registers(Context& c, const Kernel& k) {
  const auto& sm = c.device().arch().sm;
  const uint64_t of_warp = round_up(uint64_t{c.device().registers(c.loaded(*k.module), k.name)} * kWarpSize, sm.register_unit);
  const auto partitions = static_cast<uint64_t>(sm.partitions);
  return static_cast<int>(static_cast<uint64_t>(sm.registers) / partitions / of_warp * partitions * kWarpSize);
}

// As cudaOccupancyMaxPotentialBlockSize does (cuda_runtime.h).
BlockChoice best_block(Context& c, Kernel& k, const std::function<size_t(int)>& dynamic_smem, int limit) {
  const int most = std::min({limit == 0 ? kMaxThreads : limit, attributes_of(c, k).max_threads_per_block, threads_by_registers(c, k)});
  const int sm_threads = device_attribute(c.device(), 39), warp = static_cast<int>(kWarpSize);
  BlockChoice best;
  int resident = 0;
  for (int rounded = (most + warp - 1) / warp * warp; rounded > 0 && resident < sm_threads; rounded -= warp) {
    const int block = std::min(rounded, most), ctas = ctas_per_sm(c, k, block, dynamic_smem(block));
    if (block * ctas <= resident) continue;
    resident = block * ctas;
    best = {block, ctas * static_cast<int>(c.device().sm_count())};
  }
  return best;
}

size_t available_smem(Context& c, Kernel& k, int ctas) {
  require_value(ctas > 0);
  const sim::ArchConfig& a = c.device().arch();
  const uint64_t share = a.smem.bytes / static_cast<uint64_t>(ctas) / a.smem.allocation_unit * a.smem.allocation_unit;
  const uint64_t used = a.smem.reserved + c.device().static_smem(c.loaded(*k.module), k.name);
  return share <= used ? 0 : std::min<uint64_t>(share - used, a.smem.cta_bytes);
}

int max_clusters(Context& c, Kernel& k, const RuntimeLaunchConfig& config) {
  sim::LaunchConfig l;
  l.grid = {config.grid.x, config.grid.y, config.grid.z};
  l.block = {config.block.x, config.block.y, config.block.z};
  l.cluster = cluster_of(k, config);
  l.dynamic_smem = static_cast<uint32_t>(config.dynamic_smem);
  // The grid is one cluster: the result depends on the chip, not on the grid of the launch.
  l.grid = l.cluster;
  if (const auto& r = function_of(c, k).directives.reqnctapercluster; r.has_value()) l.grid = {(*r)[0], (*r)[1], (*r)[2]};
  return static_cast<int>(c.device().estimated_occupancy(c.loaded(*k.module), k.name, l).clusters);
}

int max_cluster_size(Context& c, Kernel& k, const RuntimeLaunchConfig& config) {
  const int most = k.non_portable_cluster ? 16 : 8;  // CUDA C++ Programming Guide, thread block clusters
  for (int size = most; size > 1; size /= 2) {
    LaunchAttribute a{};
    a.id = kClusterDimension;
    a.cluster = {static_cast<unsigned>(size), 1, 1};
    RuntimeLaunchConfig tried = config;
    tried.attributes = &a;
    tried.attribute_count = 1;
    if (max_clusters(c, k, tried) > 0) return size;
  }
  return 1;
}

}  // namespace drywell::cudart
