#include "sim/timing/residency.h"

#include <algorithm>

#include "drywell/core/bits.h"
#include "sim/state/program.h"

namespace drywell::sim {

namespace {

// ptxas orders instructions so that values live shorter, most of all to come down to 32 registers, which let every thread of an SM be
// resident: 36 kernels of tests/corpus/timing (the half that is fitted) against ptxas 13.0.
uint32_t allocated(uint32_t estimate) {
  constexpr uint32_t kAllThreads = 32, kNear = 64;
  constexpr double kOfMany = 0.82;
  if (estimate <= kAllThreads) return estimate;
  return estimate <= kNear ? kAllThreads : std::max<uint32_t>(kNear / 2, static_cast<uint32_t>(round_up(static_cast<uint64_t>(kOfMany * estimate), 8)));
}

}  // namespace

uint32_t registers_of_directives(const Launch& launch) { return launch.program->function->directives.maxnreg.value_or(0); }

uint32_t registers_at_launch(const Launch& launch) {
  const isa::Directives& d = launch.program->function->directives;
  if (d.maxnreg.has_value()) return *d.maxnreg;
  const uint64_t threads = round_up(launch.block.count(), kWarpSize) * d.minnctapersm.value_or(1);
  const auto share = static_cast<uint32_t>(static_cast<uint64_t>(launch.arch->sm.registers) / std::max<uint64_t>(1, threads) / 8 * 8);
  const uint32_t most = launch.program->most_registers;
  return std::min(share, most != 0 ? most : allocated(launch.estimated_registers));
}

Residency residency(const ArchConfig& arch, const Launch& launch, uint32_t registers) {
  const auto threads = static_cast<uint64_t>(launch.block.count());
  const uint64_t warps = (threads + kWarpSize - 1) / kWarpSize;
  Residency r;
  uint64_t best = ~uint64_t{0};
  const auto limit = [&](const char* what, uint64_t of_cta, uint64_t of_sm) {
    const uint64_t n = of_cta == 0 ? of_sm : of_sm / of_cta;
    r.limits.push_back({what, n, of_cta, of_sm});
    if (n >= best) return;
    best = n;
    r.limit = what;
  };
  limit("CTAs", 1, arch.sm.ctas);
  limit("threads", threads, arch.sm.threads);
  limit("warps", warps, arch.sm.warps);
  limit("shared memory", round_up(launch.smem_bytes, arch.smem.allocation_unit), arch.smem.bytes);
  if (registers != 0) limit("registers", round_up(uint64_t{registers} * kWarpSize, arch.sm.register_unit) * warps, arch.sm.registers);
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
