// Destination CTAs of loads into shared memory and the mbarriers that they signal (docs/facts/tma-mbarrier.md §2.8).
#pragma once

#include "sim/engine/engine.h"

namespace drywell::sim {

inline constexpr uint32_t kMaxClusterCtas = 16;

struct LoadTarget {
  uint32_t smem = 0;       // rank << 24 | offset
  uint32_t mbar = 0;       // likewise
  uint16_t multicast = 0;  // CTA mask; 0 = none: the CTA that owns `smem`
  uint8_t cta_group = 0;   // 0 = unspecified
  /// Bit per rank of the CTAs that receive the data.
  uint32_t ctas() const { return multicast != 0 ? multicast : 1u << shared_rank(smem); }
};

/// F3503 for CTAs that the cluster does not have, F3309 for an mbarrier in a CTA that is not allowed.
EngineResult check_target(const Cluster& c, const LoadTarget& t);
/// Performs complete-tx of `bytes` for every CTA that receives the data.
EngineResult signal_target(Cluster& c, const LoadTarget& t, uint32_t bytes);

}  // namespace drywell::sim
