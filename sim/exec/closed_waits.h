// Loops that only the answer of an mbarrier wait, or a value of shared memory, can end: found in a program once, so that a driver knows that a
// warp in one of them goes on for ever if nothing else happens.
#pragma once

#include <vector>

#include "sim/state/program.h"

namespace drywell::sim {

/// The instruction changes registers only, and no other thread sees that it was executed. Loads, waits and fences are among these.
bool changes_registers_only(const DecodedOp& op);

/// Such a loop changes nothing but registers, and each way out of it depends on registers that it does not write, on answers of its waits and on
/// values of its loads alone: on no clock, no count of attempts and no other lane. So it ends only if an answer or a value changes.
std::vector<ClosedWait> closed_waits(const Program& p);
/// Loops with ordinary loads count, too, and not only those with an mbarrier wait or a load that sees what others store meanwhile.
std::vector<ClosedWait> closed_waits_by_any_load(const Program& p);
/// Loops with atomics count, too, which are among `loads`: such a loop is closed while they leave the memory as it is.
std::vector<ClosedWait> closed_waits_by_atomics(const Program& p);

/// By pc: one more than the index of the smallest loop of `all` around it; 0: none. Empty if `all` is.
std::vector<uint32_t> closed_wait_at(const Program& p, const std::vector<ClosedWait>& all);

}  // namespace drywell::sim
