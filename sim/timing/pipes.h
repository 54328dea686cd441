// The units that an instruction uses when it issues: when they accept it, and when its service begins.
#pragma once

#include "sim/timing/sm.h"
#include "sim/timing/timed_program.h"

namespace drywell::sim {

class Pipes {
 public:
  explicit Pipes(const ArchConfig& arch) : arch_(arch) {}

  /// Earliest cycle from `t` on at which the instruction's unit accepts it.
  Time admits(const SmUnits& sm, const Partition& p, const OpInfo& x, Time t) const;
  /// What admits() reads of an instruction: equal instructions are accepted at the same cycles.
  using Admission = std::array<double, 4>;
  static Admission admission(const OpInfo& x);
  /// Delays stores to global memory until then: the L2 has no clean line left for them.
  void hold_stores(Time until) { store_gate_ = until; }

  /// Returns the start of service of an instruction that issues at `t`: in a pipe of the sub-partition,
  double begin(Partition& p, const OpInfo& x, Time t) const;
  /// in the load/store unit,
  double begin_lsu(SmUnits& sm, Partition& p, Time t, double wavefronts) const;
  /// in the load/store unit, a load of which a sub-partition starts one in so many cycles,
  double begin_load(SmUnits& sm, Partition& p, Time t, double wavefronts) const;
  /// and in the load/store unit and then shared memory's read stage.
  double begin_smem(SmUnits& sm, Partition& p, Time t, double wavefronts) const;
  /// A store to shared memory: the sub-partition's port into the unit takes `interval` for a wavefront.
  double begin_store(SmUnits& sm, Partition& p, Time t, double wavefronts, double interval) const;
  /// Arrival at the named-barrier unit.
  double arrive(SmUnits& sm, const OpInfo& x, Time t) const;

 private:
  template <class P>
  static auto& pipe_of(P& p, const OpInfo& x);
  static double occupied(const OpInfo& x);
  // Cycles until a sub-partition's load/store unit takes its next load.
  double lone_load(double wavefronts) const;

  const ArchConfig& arch_;
  Time store_gate_ = 0;
};

}  // namespace drywell::sim
