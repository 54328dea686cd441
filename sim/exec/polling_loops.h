// Loops that only wait for a value in memory: found in a program once, so that a driver knows that a warp in one of them waits.
#pragma once

#include <vector>

#include "sim/state/program.h"

namespace drywell::sim {

/// By pc: true in a loop that reads memory by strong loads or atomic operations, and else changes nothing but registers. Barriers and fences
/// in the loop do not count. A loop is what lies between a branch and an earlier target of it. Empty if there is none.
std::vector<bool> polling_loops(const Program& p);

/// By pc: true in a loop that calls functions which read memory by strong loads or atomic operations, and that else changes nothing but
/// registers, and memory by ordinary stores: `nvcc -G` makes a function of each atomic, with objects in memory. Such a loop may wait, or
/// not. Empty if there is none.
std::vector<bool> loops_that_may_poll(const Program& p);

}  // namespace drywell::sim
