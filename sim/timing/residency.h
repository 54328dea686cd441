// How many CTAs fit on an SM, and which SMs a cluster can use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drywell/sim/arch_config.h"
#include "drywell/sim/report.h"
#include "sim/state/cta.h"

namespace drywell::sim {

struct Residency {
  uint32_t ctas_per_sm = 1;
  std::string limit;                   // "shared memory", "threads", "registers", "CTAs"
  std::vector<ResidencyLimit> limits;  // of each resource
};

/// Registers of each thread that the kernel's directives give; 0: none does.
uint32_t registers_of_directives(const Launch& launch);
/// `registers`: per thread, 0 if unknown.
Residency residency(const ArchConfig& arch, const Launch& launch, uint32_t registers);

/// The GPC of each SM; SMs are numbered GPC by GPC.
std::vector<uint32_t> gpc_of_sms(const ArchConfig& arch, uint32_t sm_count);

/// First SM of every place where a cluster of `size` CTAs can run; a cluster stays inside a GPC. SMs are numbered
/// GPC by GPC.
std::vector<uint32_t> cluster_places(const ArchConfig& arch, uint32_t sm_count, uint32_t size);

}  // namespace drywell::sim
