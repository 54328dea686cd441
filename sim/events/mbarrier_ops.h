// Operations on the mbarriers of a cluster, shared by instructions (sim/exec) and asynchronous units (sim/engine).
#pragma once

#include <optional>
#include <string>

#include "drywell/core/code.h"
#include "sim/state/cta.h"

namespace drywell::sim {

struct GuestError {
  Code code{};
  std::string message;
};

/// Applies `op` with `amount` (arrivals or bytes) to the barrier at rank << 24 | offset. Wakes waiters when a phase
/// completes. Returns the guest's error, if any (H200: error 719 for each, docs/facts/tma-mbarrier.md §1.1).
std::optional<GuestError> apply_mbarrier(Cluster& c, uint32_t address, MbarrierOp op, uint32_t amount);

/// The barrier at rank << 24 | offset, or nullptr with the reason in `why`.
Mbarrier* find_mbarrier(Cluster& c, uint32_t address, GuestError& why);

/// BlockInfo::detail of a warp suspended on an mbarrier: the phase it waits for has completed.
inline constexpr uint64_t kPhaseSeen = 1;

}  // namespace drywell::sim
