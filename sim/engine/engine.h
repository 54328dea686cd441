// The asynchronous units as functions on operations, one function for each moment. A driver chooses when to call them.
#pragma once

#include <optional>

#include "sim/events/mbarrier_ops.h"
#include "sim/state/async_op.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// True if every operation that must complete before `op` has completed.
bool is_ready(const Cluster& c, const AsyncOp& op);

/// Performs the next moment of pending operation `index` (operand read, then result write and signal). After the last
/// moment the operation leaves the queue. Returns the guest's error if the operation is wrong.
struct StepResult {
  bool completed = false;
  std::optional<GuestError> error;
};
StepResult step(Cluster& c, size_t index);
/// Performs all remaining moments.
StepResult run_to_end(Cluster& c, size_t index);

// One pair per payload; read fills op.staging, write stores and signals.
using EngineResult = std::optional<GuestError>;
#define ASYNC_KIND(KIND_, PAYLOAD_, UNIT_)                   \
  EngineResult read_operands(Cluster&, AsyncOp&, PAYLOAD_&); \
  EngineResult write_result(Cluster&, AsyncOp&, PAYLOAD_&);
#include "drywell/sim/async_kinds.inc"
#undef ASYNC_KIND

/// Host pointer to shared memory at rank << 24 | offset, or nullptr.
uint8_t* shared_bytes(Cluster& c, uint32_t address, uint64_t bytes);
/// Records that one operation of a thread's bulk (or cp.async) group has read its operands or written its result.
void group_read_done(Cluster& c, const Issuer& who, uint32_t serial, bool bulk);
void group_write_done(Cluster& c, const Issuer& who, uint32_t serial, bool bulk);

}  // namespace drywell::sim
