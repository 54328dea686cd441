#include "sim/timing/residency.h"

#include <algorithm>

#include "drywell/core/bits.h"
#include "sim/state/program.h"

namespace drywell::sim {

uint32_t registers_of_directives(const Launch& launch) { return launch.program->function->directives.maxnreg.value_or(0); }

namespace {

// Each sub-partition has its part of the file, and takes whole warps (cuda_occupancy.h).
uint64_t warps_by_registers(const ArchConfig& arch, uint64_t of_warp) {
  const auto partitions = static_cast<uint64_t>(arch.sm.partitions);
  return static_cast<uint64_t>(arch.sm.registers) / partitions / of_warp * partitions;
}

}  // namespace

Residency residency(const ArchConfig& arch, const Launch& launch, uint32_t registers) {
  const auto threads = static_cast<uint64_t>(launch.block.count());
  const uint64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  Residency r;
  uint64_t best = ~uint64_t{0};
  const auto limit = [&](const char* what, uint64_t of_cta, uint64_t of_sm, uint64_t n) {
    r.limits.push_back({what, n, of_cta, of_sm});
    if (n >= best) return;
    best = n;
    r.limit = what;
  };
  const auto share = [&](const char* what, uint64_t of_cta, uint64_t of_sm) { limit(what, of_cta, of_sm, of_cta == 0 ? of_sm : of_sm / of_cta); };
  share("CTAs", 1, arch.sm.ctas);
  share("threads", threads, arch.sm.threads);
  share("warps", warps, arch.sm.warps);
  share("shared memory", round_up(launch.smem_bytes, arch.smem.allocation_unit), arch.smem.bytes);
  if (registers != 0) {
    const uint64_t of_warp = round_up(uint64_t{registers} * kWarpSize, arch.sm.register_unit);
    limit("registers", of_warp * warps, static_cast<uint64_t>(arch.sm.registers), std::max<uint64_t>(1, warps_by_registers(arch, of_warp) / warps));  // an estimate refuses no CTA
  }
  r.ctas_per_sm = static_cast<uint32_t>(std::max<uint64_t>(1, best));
  return r;
}

namespace {

// TPCs are spread over the GPCs as evenly as possible: 74 over 8 are two of 10 and six of 9 (docs/facts/timing.md §9).
std::vector<uint32_t> sms_of_gpcs(const ArchConfig& arch, uint32_t sm_count) {
  const auto per_tpc = static_cast<uint32_t>(arch.chip.sms_per_tpc), gpcs = static_cast<uint32_t>(arch.chip.gpcs);
  const uint32_t tpcs = (sm_count + per_tpc - 1) / per_tpc;
  std::vector<uint32_t> sms;
  for (uint32_t g = 0, first = 0; g < gpcs; first += sms[g++]) sms.push_back(std::min(sm_count - first, (tpcs / gpcs + (g < tpcs % gpcs ? 1 : 0)) * per_tpc));
  return sms;
}

}  // namespace

std::vector<uint32_t> gpc_of_sms(const ArchConfig& arch, uint32_t sm_count) {
  std::vector<uint32_t> gpcs;
  const std::vector<uint32_t> sms = sms_of_gpcs(arch, sm_count);
  for (uint32_t g = 0; g < sms.size(); ++g) gpcs.insert(gpcs.end(), sms[g], g);
  return gpcs;
}

std::vector<uint32_t> cluster_places(const ArchConfig& arch, uint32_t sm_count, uint32_t size) {
  std::vector<uint32_t> places;
  if (size <= 1) {
    for (uint32_t s = 0; s < sm_count; ++s) places.push_back(s);
    return places;
  }
  uint32_t first = 0;
  for (const uint32_t sms : sms_of_gpcs(arch, sm_count)) {
    for (uint32_t s = 0; s + size <= sms; s += size) places.push_back(first + s);
    first += sms;
  }
  // A chip too small for GPCs of that size (sm_count was set by hand) still runs the cluster.
  if (places.empty()) {
    for (uint32_t s = 0; s + size <= sm_count; s += size) places.push_back(s);
  }
  if (places.empty()) places.push_back(0);
  return places;
}

}  // namespace drywell::sim
