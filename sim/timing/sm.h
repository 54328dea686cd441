// The units of one SM as queues in time. Values never come here.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "drywell/sim/arch_config.h"
#include "sim/state/tmem.h"
#include "sim/timing/l1_cache.h"
#include "sim/timing/server.h"

namespace drywell::sim {

/// Pipes that exist in each sub-partition: Pipe::alu … Pipe::mma.
inline constexpr size_t kLocalPipes = static_cast<size_t>(Pipe::lsu);

/// One of the SM's sub-partitions: an issue slot, pipes, a way into the load/store unit and a TMEM port.
struct Partition {
  // Resident warps: what the issue slot looks at. `at` is the cycle a warp could issue, kNever if it waits.
  std::vector<uint32_t> warps;
  std::vector<Time> at, last;
  Time next_issue = 0;
  Time candidate = kNever;  // next cycle something issues
  uint32_t pick = 0;        // index in `warps`
  Time last_shared = 0;     // last issue to a unit all sub-partitions share: they take turns

  std::array<Server, kLocalPipes> pipes;
  Server lsu;   // half a wavefront a cycle per sub-partition (docs/facts/timing.md §6)
  Server tmem;  // ld and st share the port
  std::vector<double>
      mma_slots;  // when the last tensor instructions issued from here leave the queue: credits
  size_t mma_next = 0;
  uint64_t issued = 0;
};

struct SmUnits {
  explicit SmUnits(const ArchConfig& arch) : partitions(arch.sm.partitions) {
    for (Partition& p : partitions) p.mma_slots.assign(std::max<uint64_t>(1, arch.umma.queue), 0.0);
  }
  uint32_t id = 0;  // %smid
  std::vector<Partition> partitions;
  Server lsu;        // one wavefront a cycle
  Server dsmem;      // loads and stores of other CTAs' shared memory
  Server barrier;    // named-barrier unit
  Server tensor;     // array
  Server tmem_copy;  // tcgen05.cp
  Server tma_issue;  // spacing of tensor copies
  Server tma_fill;   // bytes into SMEM
  Server tma_drain;  // bytes out of SMEM
  SmemPort smem;
  L1Cache l1;
  std::unique_ptr<Tmem> tensor_memory;  // its CTAs share the columns (PTX ISA 9.7.16.7)
  double last_mma_start = -1;  // for the first of a batch
  bool in_batch = false;
  double last_mma_done = 0;
  uint32_t tma_in_flight = 0;
  std::deque<std::pair<uint32_t, uint64_t>> tma_waiting;  // resident, operation: beyond the engine's limit
  std::vector<uint64_t> tensor_maps;                      // seen by this SM
  Time params_there = kNever;                              // the launch's parameters are in the constant cache from then on
  // Work done, for the report.
  double lsu_wavefronts = 0, tensor_instructions = 0, tmem_busy = 0, tma_bytes_in = 0, tma_bytes_out = 0;
  double tensor_macs = 0;
  bool used = false;
};

}  // namespace drywell::sim
