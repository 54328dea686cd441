// The data of a copy for the copy engine and the memory: bytes, and their runs of sectors in global memory.
#pragma once

#include <optional>
#include <vector>

#include "drywell/sim/access.h"
#include "sim/state/async_op.h"

namespace drywell::sim {

struct TmaTransfer {
  enum class Way : uint8_t {
    in,
    out,
    within_cluster
  } way = Way::in;
  uint32_t bytes = 0;
  bool reduce = false;
  std::vector<ByteRange> ranges;  // whole sectors, in the order of the requests
  float more = 0;                 // bytes whose time the requests take at the L2, beside those of the ranges (copy_requests.h)
};

/// A wrong map or wrong coordinates move nothing: the engine reports them.
TmaTransfer transfer_of(const AsyncOp& op);

bool is_load(const AsyncOp& op);
bool is_multicast(const AsyncOp& op);
/// cp.async.mbarrier.arrive: happens when the copies that it tracks are complete.
bool is_copy_arrival(const AsyncOp& op);
/// cp.async: its data come as those of a load do, not through the copy engine.
bool is_cp_async(const AsyncOp& op);
/// Whether the copy engine executes the operation.
bool is_tma(const AsyncOp& op);
/// The tensor map that the operation uses.
std::optional<uint64_t> tensor_map_of(const AsyncOp& op);

}  // namespace drywell::sim
