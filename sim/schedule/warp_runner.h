// Runs a number of one warp's instructions: guards, divergence, reconvergence, pending register results. All drivers use it.
#pragma once

#include "sim/state/cta.h"
#include "sim/state/program.h"

namespace drywell::sim {

enum class RunStop : uint8_t {
  budget,
  blocked,
  finished,
  enqueued,
  yielded,
  fault
};

/// Prepares a warp to run `program` with the lanes of `alive`.
void start_warp(Warp& w, Cta& cta, uint32_t index, const Program& program, LaneMask alive);

/// Merges groups of lanes at the same place and makes the group that runs next the active one. Afterwards Warp::pc is the
/// instruction that run_warp would execute.
void pick_lanes(Warp& w);

/// Some of the running lanes, not all, stay where they are until the others cannot run.
void hold_back(Warp& w, LaneMask lanes);

/// Executes up to `budget` instructions and decrements `budget` for each; RunStop is the reason of an earlier stop.
/// `enqueued`: the warp issued an asynchronous operation, which the driver must schedule.
RunStop run_warp(Warp& w, const Program& program, uint64_t& budget);

/// run_warp with a budget of one.
RunStop run_one(Warp& w, const Program& program);

/// False only for a blocked warp whose condition cannot have changed.
inline bool may_wake(const Warp& w) { return w.block.reason == BlockReason::none || w.timed_out || w.block.epoch != w.cta->wake_epoch; }

}  // namespace drywell::sim
