// Warp state: registers as structures of arrays (32 lanes), predicates as lane masks, divergence as groups of lanes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drywell/core/code.h"
#include "drywell/core/types.h"
#include "drywell/sim/block_reason.h"
#include "sim/state/state_vector.h"

namespace drywell::sim {

struct Cta;

/// A set of lanes that share a program counter.
struct LaneGroup {
  uint32_t pc = 0;
  LaneMask lanes = 0;
  uint32_t frame = 0;     // index into Warp::frames
  uint32_t backward = 0;  // backward branches since the group was last selected; spinning groups yield
};

/// Registers and local memory of one function on one call path of a warp. All lanes that reach a function along the same
/// path share a frame, at any time and from any call site: a lane executes in one frame at a time, so lanes do not
/// conflict in it, and lanes that diverged before the call can run together inside. Frames exist as long as the warp.
struct CallFrame {
  uint32_t registers = 0;  // byte offset in Warp::register_file
  uint32_t preds = 0;      // index in Warp::predicate_file
  uint32_t local = 0;      // base in every lane's local memory
  uint32_t local_end = 0;
  uint32_t function = 0;  // index into Program::functions
  uint32_t parent = 0;    // frame of the caller
  uint32_t depth = 0;     // call depth; 0 = the kernel
};

/// The event that a blocked warp waits for.
struct BlockInfo {
  BlockReason reason = BlockReason::none;
  uint32_t address = 0;  // mbarrier (rank << 24 | offset), named-barrier id, …
  uint32_t parity = 0;   // phase waited for
  uint64_t detail = 0;
  uint64_t epoch = 0;  // cluster wake epoch when it blocked
};

/// Bulk and cp.async groups of one thread.
struct ThreadGroups {
  struct Group {
    uint32_t serial = 0;
    uint32_t reads = 0, writes = 0;  // operations that have not reached that moment
  };
  uint32_t lane = 0;
  uint32_t open_serial = 1;
  std::vector<Group> groups;  // oldest first; back() is the uncommitted one if its serial == open_serial
};

/// The groups of a lane; nullptr if it has none. Where all lanes have some, they are in the order of the lanes.
inline ThreadGroups* find_groups(std::vector<ThreadGroups>& all, uint32_t lane) {
  if (lane < all.size() && all[lane].lane == lane) return &all[lane];
  const auto found = std::find_if(all.begin(), all.end(), [lane](const ThreadGroups& t) { return t.lane == lane; });
  return found == all.end() ? nullptr : &*found;
}

/// State of a bar.warp.sync whose lanes are not at the same instruction.
struct WarpSync {
  LaneMask members = 0;   // the mask operand
  LaneMask arrived = 0;   // lanes that wait
  LaneMask released = 0;  // lanes whose instance is complete and that have not continued yet
};

/// What a thread has taken by alloca.
struct ThreadStack {
  struct Taken {
    uint32_t depth = 0;   // call depth of the function that took it
    uint32_t before = 0;  // bytes.size() before
  };
  std::vector<uint8_t> bytes;
  std::vector<Taken> taken;  // oldest first
};

struct Warp {
  // Defined in cta.cpp, which is compiled for speed: at -O1, as cold code is, the destructor visits every byte of the register file, and the linker
  // keeps one copy of an inline function.
  Warp();
  Warp(const Warp&);
  Warp(Warp&&) noexcept;
  Warp& operator=(const Warp&);
  Warp& operator=(Warp&&) noexcept;
  ~Warp();

  // Hot: fields that every instruction accesses.
  uint8_t* bank[2] = {nullptr, nullptr};  // [0] this frame's registers, [1] the program's constants
  uint32_t* preds = nullptr;              // preds[0] is constant true
  uint32_t pc = 0;
  LaneMask active = 0;  // lanes of the running group
  Cta* cta = nullptr;
  uint32_t index = 0;       // in the CTA
  uint32_t frame = 0;       // index of the running group's frame
  uint32_t frame_base = 0;  // its byte offset in register_file
  uint32_t backward = 0;

  LaneMask alive = 0;              // launched and not exited
  std::vector<LaneGroup> waiting;  // the other groups
  LaneMask held_back = 0;          // lanes that the schedule keeps from running, until the others cannot run
  BlockInfo block;
  uint64_t instructions = 0;       // warp instructions executed
  uint32_t timeouts = 0;           // try_wait timeouts since the cluster last made progress
  bool timed_out = false;          // the next try_wait returns false
  bool waits_on_mbarrier = false;  // a group of lanes is suspended at a try_wait, whatever the other groups wait for

  StateVector<uint8_t> register_file;  // of all frames
  std::vector<uint32_t> predicate_file;
  std::vector<CallFrame> frames;            // [0] is the kernel's
  std::vector<std::vector<uint8_t>> local;  // per lane, allocated on first use
  std::vector<ThreadStack> stacks;          // per lane, from the first alloca on

  std::vector<WarpSync> warp_syncs;
  bool barrier_wait = false;  // arrived at a named barrier, waiting for its instance to complete
  uint64_t barrier_generation = 0;
  LaneMask cluster_arrived = 0;             // lanes that arrived in the incomplete instance of barrier.cluster
  LaneMask cluster_unwaited = 0;            // lanes that arrived and have not waited since
  uint32_t pending_ld = 0, pending_st = 0;  // tcgen05.ld / st in flight
  std::vector<uint64_t> pending_regs;       // bit per register slot written by a tcgen05.ld in flight
  uint32_t pending_wgmma = 0;               // wgmma.mma_async in flight; their registers are in pending_regs too
  std::vector<ThreadGroups> bulk_groups, async_groups;
  std::vector<ThreadGroups> wgmma_groups;  // of the warp: one entry
  int32_t pair_result = -1;                // tcgen05.alloc.cta_group::2 completed by the peer: column
  uint32_t max_registers = 0;              // setmaxnreg
  Code fault_code{};                       // set by fault()
  std::string fault_message;

  bool finished() const { return alive == 0; }
  /// Makes the frame with this index the running one: bank[0] and preds point into it.
  void enter_frame(uint32_t frame_index) {
    const CallFrame& f = frames[frame_index];
    frame = frame_index;
    frame_base = f.registers;
    bank[0] = register_file.data() + f.registers;
    preds = predicate_file.data() + f.preds;
  }
};

}  // namespace drywell::sim
