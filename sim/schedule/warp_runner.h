// Runs one warp for a while: guards, divergence, reconvergence, pending register results. Shared by all drivers.
#pragma once

#include "sim/state/program.h"
#include "sim/state/cta.h"

namespace drywell::sim {

enum class RunStop : uint8_t { budget, blocked, finished, enqueued, yielded, fault };

/// Prepares a warp to run `program` with the lanes of `alive`.
void start_warp(Warp& w, Cta& cta, uint32_t index, const Program& program, LaneMask alive);

/// Brings groups of lanes that are at the same place together and makes the one that is to run the active one: afterwards
/// Warp::pc is the instruction run_warp would execute.
void pick_lanes(Warp& w);

/// Executes up to `budget` instructions, counted down; stops early as RunStop says. `enqueued`: asynchronous work was
/// issued and the driver should look at it.
RunStop run_warp(Warp& w, const Program& program, uint64_t& budget);

/// run_warp with a budget of one.
RunStop run_one(Warp& w, const Program& program);

/// True if a blocked warp may find its condition changed.
inline bool may_wake(const Warp& w) { return w.block.reason == BlockReason::none || w.timed_out || w.block.epoch != w.cta->wake_epoch; }

}  // namespace drywell::sim
