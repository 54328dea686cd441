// Producer/consumer rings over pairs of mbarriers, with the phase protocol of CUTLASS's pipelines (docs/facts/tma-mbarrier.md
// §7). All functions emit plain instructions into a KernelBuilder, so they follow its rule: one thread at a time.
#pragma once

#include "drywell/core/source_location.h"
#include "drywell/isa/builder.h"

namespace drywell::isa {

/// Position in a ring: stage index and phase parity, two registers that change as the kernel runs. A producer starts with
/// phase 1 (the previous phase of an empty barrier counts as complete), a consumer with phase 0.
class PipelineState {
 public:
  /// Decides the phase to begin with.
  enum class Role : uint8_t {
    consumer,
    producer
  };
  /// At stage 0 of `stages`; emits the two registers' first values.
  PipelineState(KernelBuilder& k, uint32_t stages, Role role, SourceLocation w = SourceLocation::current());
  /// Register of the stage, from 0.
  Reg index() const { return index_; }
  /// Register of the parity, 0 or 1.
  Reg phase() const { return phase_; }
  /// Of the ring.
  uint32_t stages() const { return stages_; }
  /// Advances to the next stage; after the last stage it continues at stage 0 with the other phase.
  void advance(SourceLocation w = SourceLocation::current());
  /// Returns a copy in new registers, which later changes of this state do not affect.
  PipelineState snapshot(SourceLocation w = SourceLocation::current()) const;

 private:
  PipelineState(KernelBuilder& k, uint32_t stages) : k_(&k), stages_(stages) {}
  KernelBuilder* k_;
  uint32_t stages_;
  Reg index_, phase_;
};

/// `stages` full barriers followed by `stages` empty barriers (8 bytes each) in shared memory at `base` + `offset` bytes.
class MbarrierRing {
 public:
  using Where = SourceLocation;  // the author's line

  /// `base`: a 32-bit shared address; the barriers are 8-byte aligned.
  MbarrierRing(KernelBuilder& k, Reg base, int64_t offset, uint32_t stages) : k_(&k), base_(base), offset_(offset), stages_(stages) {}

  /// Pairs of barriers.
  uint32_t stages() const { return stages_; }
  /// Size of the barriers in bytes.
  uint32_t bytes() const { return 16 * stages_; }
  /// Emits mbarrier.init for all barriers. One thread runs this code; then fence and synchronise the CTA.
  void init(uint32_t full_arrivals, uint32_t empty_arrivals, Where w = Where::current());

  /// Returns the shared address of the full (empty) barrier of the state's stage.
  Reg full(const PipelineState& s, Where w = Where::current());
  /// The same of the empty barrier.
  Reg empty(const PipelineState& s, Where w = Where::current());

  /// Emits one try_wait on the empty (full) barrier; the returned predicate is true if the phase is complete.
  Reg try_acquire(const PipelineState& s, Where w = Where::current());
  /// The same on the full barrier, for the consumer.
  Reg try_wait(const PipelineState& s, Where w = Where::current());
  /// Emits the wait on the empty (full) barrier; skipped at run time if predicate `token` is true.
  void acquire(const PipelineState& s, Reg token, Where w = Where::current());
  /// Without a token.
  void acquire(const PipelineState& s, Where w = Where::current());
  /// The same on the full barrier, for the consumer.
  void wait(const PipelineState& s, Reg token, Where w = Where::current());
  /// Without a token.
  void wait(const PipelineState& s, Where w = Where::current());
  /// Producer's tail: waits until the consumers have released all stages.
  void tail(PipelineState& s, Where w = Where::current());

 private:
  Reg address(const PipelineState& s, int64_t offset, Where w);
  KernelBuilder* k_;
  Reg base_;
  int64_t offset_;
  uint32_t stages_;
};

/// Emits a wait until the phase with parity `parity` of the barrier at `address` is complete (try_wait in a loop).
void mbarrier_wait(KernelBuilder& k, Reg address, Arg parity, SourceLocation w = SourceLocation::current());

}  // namespace drywell::isa
