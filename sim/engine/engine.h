// The asynchronous units as functions on operations, one function for each moment. A driver chooses when to call them.
#pragma once

#include <optional>

#include "sim/state/async_op.h"
#include "sim/state/cta.h"
#include "sim/events/mbarrier_ops.h"

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
EngineResult read_operands(Cluster&, AsyncOp&, TensorCopy&);
EngineResult write_result(Cluster&, AsyncOp&, TensorCopy&);
EngineResult read_operands(Cluster&, AsyncOp&, Umma&);
EngineResult write_result(Cluster&, AsyncOp&, Umma&);
EngineResult read_operands(Cluster&, AsyncOp&, TmemCopy&);
EngineResult write_result(Cluster&, AsyncOp&, TmemCopy&);
EngineResult read_operands(Cluster&, AsyncOp&, TmemShift&);
EngineResult write_result(Cluster&, AsyncOp&, TmemShift&);
EngineResult read_operands(Cluster&, AsyncOp&, Commit&);
EngineResult write_result(Cluster&, AsyncOp&, Commit&);
EngineResult read_operands(Cluster&, AsyncOp&, TmemLdSt&);
EngineResult write_result(Cluster&, AsyncOp&, TmemLdSt&);
EngineResult read_operands(Cluster&, AsyncOp&, BulkCopy&);
EngineResult write_result(Cluster&, AsyncOp&, BulkCopy&);
EngineResult read_operands(Cluster&, AsyncOp&, RemoteStore&);
EngineResult write_result(Cluster&, AsyncOp&, RemoteStore&);
EngineResult read_operands(Cluster&, AsyncOp&, RemoteArrive&);
EngineResult write_result(Cluster&, AsyncOp&, RemoteArrive&);
EngineResult read_operands(Cluster&, AsyncOp&, AsyncCopy&);
EngineResult write_result(Cluster&, AsyncOp&, AsyncCopy&);
EngineResult read_operands(Cluster&, AsyncOp&, Wgmma&);
EngineResult write_result(Cluster&, AsyncOp&, Wgmma&);
EngineResult read_operands(Cluster&, AsyncOp&, TryCancel&);
EngineResult write_result(Cluster&, AsyncOp&, TryCancel&);

/// Host pointer to shared memory at rank << 24 | offset, or nullptr.
uint8_t* shared_bytes(Cluster& c, uint32_t address, uint64_t bytes);
/// Records that one operation of a thread's bulk (or cp.async) group has read its operands or written its result.
void group_read_done(Cluster& c, const Issuer& who, uint32_t serial, bool bulk);
void group_write_done(Cluster& c, const Issuer& who, uint32_t serial, bool bulk);

}  // namespace drywell::sim
