#include "sim/exec/special.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "drywell/core/bits.h"
#include "drywell/sim/arch_config.h"
#include "sim/exec/environment.h"

namespace drywell::sim {
namespace {

// Bytes of the reserved shared memory that are in use, on an H200; cooperative groups assume the same number
// (cooperative_groups/details/memory.h).
constexpr uint32_t kReservedUsed = 288;

uint64_t clocks(const Cluster& c) { return c.launch->clocks + c.now; }

// The global timer in nanoseconds, from the nominal clock.
uint64_t nanoseconds(const Cluster& c) { return static_cast<uint64_t>(static_cast<double>(clocks(c)) / c.launch->arch->chip.clock); }

Dim3 cluster_grid(const Launch& l) { return {l.grid.x / l.cluster.x, l.grid.y / l.cluster.y, l.grid.z / l.cluster.z}; }

uint64_t uniform_special(const Warp& w, isa::SpecialReg r) {
  using S = isa::SpecialReg;
  const Cta& c = *w.cta;
  const Launch& l = *c.cluster->launch;
  switch (r) {
    case S::ntid_x: return l.block.x;
    case S::ntid_y: return l.block.y;
    case S::ntid_z: return l.block.z;
    case S::ctaid_x: return c.index.x;
    case S::ctaid_y: return c.index.y;
    case S::ctaid_z: return c.index.z;
    case S::nctaid_x: return l.grid.x;
    case S::nctaid_y: return l.grid.y;
    case S::nctaid_z: return l.grid.z;
    case S::clusterid_x: return c.index.x / l.cluster.x;
    case S::clusterid_y: return c.index.y / l.cluster.y;
    case S::clusterid_z: return c.index.z / l.cluster.z;
    case S::nclusterid_x: return cluster_grid(l).x;
    case S::nclusterid_y: return cluster_grid(l).y;
    case S::nclusterid_z: return cluster_grid(l).z;
    case S::cluster_ctaid_x: return c.index.x % l.cluster.x;
    case S::cluster_ctaid_y: return c.index.y % l.cluster.y;
    case S::cluster_ctaid_z: return c.index.z % l.cluster.z;
    case S::cluster_nctaid_x: return l.cluster.x;
    case S::cluster_nctaid_y: return l.cluster.y;
    case S::cluster_nctaid_z: return l.cluster.z;
    case S::cluster_ctarank: return c.rank;
    case S::cluster_nctarank: return l.cluster.count();
    case S::is_explicit_cluster: return l.cluster.count() > 1 ? 1 : 0;
    case S::warpid: return w.index;
    case S::nwarpid: return c.warps.size();
    case S::smid: return c.sm;
    case S::nsmid: return l.sm_count;
    case S::clock: return static_cast<uint32_t>(clocks(*c.cluster));
    case S::clock_hi: return clocks(*c.cluster) >> 32;
    case S::clock64: return clocks(*c.cluster);
    case S::globaltimer: return nanoseconds(*c.cluster);
    case S::globaltimer_lo: return static_cast<uint32_t>(nanoseconds(*c.cluster));
    case S::globaltimer_hi: return nanoseconds(*c.cluster) >> 32;
    // As on an H200: total_smem_size is rounded up to units of allocation, aggr_smem_size is exact.
    case S::total_smem_size: return round_up(l.program->static_smem + l.dynamic_smem, static_cast<uint32_t>(l.arch->smem.allocation_unit));
    case S::aggr_smem_size: return kSmemReserved + l.program->static_smem + l.dynamic_smem;
    case S::dynamic_smem_size: return l.dynamic_smem;
    case S::reserved_smem_offset_begin: return 0;
    case S::reserved_smem_offset_end: return kReservedUsed;
    case S::reserved_smem_offset_cap: return kSmemReserved;
    // The 64-bit address of the grid's workspace (cooperative_groups/details/driver_abi.h).
    case S::envreg1: return grid_workspace(l) >> 32;
    case S::envreg2: return static_cast<uint32_t>(grid_workspace(l));
    default: return 0;
  }
}

// The next thread of the block: x runs fastest.
void advance(Dim3& thread, Dim3 block) {
  if (++thread.x < block.x) return;
  thread.x = 0;
  if (++thread.y < block.y) return;
  thread.y = 0;
  ++thread.z;
}
template <uint32_t Dim3::*Axis>
void thread_index(const Warp& w, uint64_t (&out)[kWarpSize]) {
  const Dim3 block = w.cta->cluster->launch->block;
  Dim3 thread = block.at(w.index * kWarpSize);
  for (uint64_t& v : out) {
    v = thread.*Axis;
    advance(thread, block);
  }
}
// f(bit of the lane)
template <class F>
void lane_mask(F f, uint64_t (&out)[kWarpSize]) {
  for (uint32_t i = 0; i < kWarpSize; ++i) out[i] = f(uint64_t{1} << i) & kFullMask;
}

}  // namespace

void read_special(const Warp& w, isa::SpecialReg r, uint64_t (&out)[kWarpSize]) {
  using S = isa::SpecialReg;
  switch (r) {
    case S::tid_x: return thread_index<&Dim3::x>(w, out);
    case S::tid_y: return thread_index<&Dim3::y>(w, out);
    case S::tid_z: return thread_index<&Dim3::z>(w, out);
    case S::laneid: return std::iota(std::begin(out), std::end(out), uint64_t{0});
    case S::lanemask_eq: return lane_mask([](uint64_t bit) { return bit; }, out);
    case S::lanemask_lt: return lane_mask([](uint64_t bit) { return bit - 1; }, out);
    case S::lanemask_le: return lane_mask([](uint64_t bit) { return bit | (bit - 1); }, out);
    case S::lanemask_gt: return lane_mask([](uint64_t bit) { return ~(bit | (bit - 1)); }, out);
    case S::lanemask_ge: return lane_mask([](uint64_t bit) { return ~(bit - 1); }, out);
    default: return std::fill(std::begin(out), std::end(out), uniform_special(w, r));
  }
}

}  // namespace drywell::sim
