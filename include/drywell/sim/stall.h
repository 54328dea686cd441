// Why a warp did not issue in a cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace drywell::sim {

/// State of a warp in a cycle: a closed list.
enum class Stall : uint8_t {
  issued,               // issued an instruction
  not_selected,         // could issue; its sub-partition issued another warp
  register_dependency,  // an operand of a fixed-latency instruction was not available yet
  memory,               // an operand comes from a load or atomic in flight
  pipe_busy,            // the pipe, its queue or an engine's queue was full
  branch,               // refetch after a taken branch: no instruction
  issue_cost,           // delay of its own instruction (issue of a copy, fences, arrivals)
  mbarrier,             // mbarrier.try_wait
  named_barrier,        // bar.sync
  cluster_barrier,      // barrier.cluster.wait
  warp_sync,            // lanes of its own warp that are at other instructions
  tmem_wait,            // tcgen05.wait, or a register that a tcgen05.ld in flight will write
  tmem_alloc,           // tcgen05.alloc
  bulk_wait,            // bulk and cp.async groups
  sleep,                // nanosleep, setmaxnreg, griddepcontrol
  finished,             // the warp had ended, its CTA still ran
  count_
};
/// Number of states.
inline constexpr size_t kStallCount = static_cast<size_t>(Stall::count_);
/// "issued", "register_dependency", …: stable names for tables and JSON.
std::string_view stall_name(Stall s);

}  // namespace drywell::sim
