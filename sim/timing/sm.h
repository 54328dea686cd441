// The units of one SM as queues in time. No values are stored here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "drywell/sim/arch_config.h"
#include "sim/state/tmem.h"
#include "sim/timing/constant_cache.h"
#include "sim/timing/issue_slot.h"
#include "sim/timing/l1_cache.h"
#include "sim/timing/server.h"
#include "sim/timing/tma_engine.h"
#include "sim/timing/waiting_stores.h"

namespace drywell::sim {

/// Pipes that exist in each sub-partition: Pipe::alu … Pipe::mma.
inline constexpr size_t kLocalPipes = static_cast<size_t>(Pipe::lsu);

/// One of the SM's sub-partitions: an issue slot, pipes, a port into the load/store unit and a TMEM port.
struct Partition {
  IssueSlot slot;
  std::array<Server, kLocalPipes> pipes;
  Server fma_lite;          // the half of the FMA pipe that has no integers; the other one is Pipe::fma
  Server lsu;               // half a wavefront a cycle per sub-partition (docs/facts/timing.md §6)
  Server tmem;              // ld and st share the port
  PlaceQueue tensor_queue;  // tensor instructions issued from this sub-partition that have not left the pipe's queue
};

struct SmUnits {
  explicit SmUnits(const ArchConfig& arch) : partitions(arch.sm.partitions), tma(arch) {
    for (Partition& p : partitions) p.tensor_queue = PlaceQueue(arch.umma.queue);
  }
  uint32_t id = 0;  // %smid
  std::vector<Partition> partitions;
  size_t next_partition = 0;  // of the next CTA's first warp
  Server lsu;                 // one wavefront a cycle
  Server dsmem;               // loads and stores of other CTAs' shared memory
  Server barrier;             // named-barrier unit
  Server tensor;              // array
  Server tmem_copy;           // tcgen05.cp
  TmaEngine tma;
  SmemPort smem;
  L1Cache l1;
  ConstantCache constants;
  WaitingStores stores;
  std::unique_ptr<Tmem> tensor_memory;  // the SM's CTAs share the columns (PTX ISA 9.7.16.7)
  bool in_batch = false;                // tensor core: the instructions before it queued up
  double last_mma_done = 0;
  Time params_there = kNever;  // cycle from which on the launch's parameters are in the constant cache
  double memory_open = -1;     // cycle from which on accesses to global memory leave; -1: there was none
  // Work done, for the report.
  double lsu_wavefronts = 0, tensor_instructions = 0;
  bool used = false;

  /// The first CTA: before it, the SM needs no L1 of `l1_bytes`. Most launches of a program are short, and leave SMs idle.
  void use(uint64_t l1_bytes) {
    if (!used) l1.resize(l1_bytes);
    used = true;
  }
};

/// `count` SMs, numbered from `first`.
inline std::vector<SmUnits> make_sms(const ArchConfig& arch, uint32_t first, uint32_t count) {
  std::vector<SmUnits> sms;
  for (uint32_t i = 0; i < count; ++i) sms.emplace_back(arch).id = first + i;
  return sms;
}

}  // namespace drywell::sim
