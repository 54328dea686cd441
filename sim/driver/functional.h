// Functional driver: no clock. Runs clusters one after the other (or one per host thread) to their end, and decides by
// policy when asynchronous operations happen.
#pragma once

#include <memory>
#include <optional>

#include "drywell/sim/device.h"
#include "sim/state/cta.h"
#include "sim/state/mbarrier_ops.h"

namespace drywell::sim {

/// Makes cluster `index` of a launch with all its CTAs ready to run, at clock `now`.
std::unique_ptr<Cluster> make_cluster(const Launch& launch, uint64_t index, uint64_t now = 0);

/// Place of a warp for messages.
GuestPlace place_of(const Warp& w, uint32_t pc, LaneMask lanes);
Fault fault_of(const Warp& w);
/// Place of the instruction that issued an operation.
Fault fault_of(const Cluster& c, const AsyncOp& op, const GuestError& e);

/// Who waits for what in a cluster that cannot go on.
std::string describe_deadlock(const Cluster& c);
/// Checks at the end of a CTA: leaked TMEM, operations in flight.
std::optional<Fault> check_finished(Cluster& c);

RunResult run_functional(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
