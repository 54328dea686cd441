// The units an instruction goes through when it issues: when they take it, and when they serve it.
#pragma once

#include "sim/timing/sm.h"
#include "sim/timing/timed_program.h"

namespace drywell::sim {

class Pipes {
 public:
  explicit Pipes(const ArchConfig& arch) : arch_(arch) {}

  /// Earliest cycle from `t` on at which the instruction's unit takes it.
  Time admits(const SmUnits& sm, const Partition& p, const OpInfo& x, Time t) const;
  /// No store to global memory before then: the L2 has no clean line left for it.
  void hold_stores(Time until) { store_gate_ = until; }

  /// Service of an instruction that issues at `t` begins: in a pipe of the sub-partition,
  double begin(Partition& p, const OpInfo& x, Time t) const;
  /// in the load/store unit,
  double begin_lsu(SmUnits& sm, Partition& p, Time t, double wavefronts) const;
  /// and there with shared memory's read stage behind it.
  double begin_smem(SmUnits& sm, Partition& p, Time t, double wavefronts) const;
  /// A store to shared memory: the sub-partition's way into the unit takes `interval` for a wavefront.
  double begin_store(SmUnits& sm, Partition& p, Time t, double wavefronts, double interval) const;
  /// Arrival at the named-barrier unit.
  double arrive(SmUnits& sm, const OpInfo& x, Time t) const;

 private:
  static size_t pipe_of(const Partition& p, const OpInfo& x);

  const ArchConfig& arch_;
  Time store_gate_ = 0;
};

}  // namespace drywell::sim
