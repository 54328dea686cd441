// The units that execute asynchronous tensor operations, in time: an SM's tensor core, its tensor memory's ports and copies into it
// (docs/facts/timing.md §4 and §5). For an operation they return the cycles at which it reads operands and its results are ready.
#pragma once

#include <vector>

#include "sim/state/async_op.h"
#include "sim/timing/sm.h"

namespace drywell::sim {

struct Service {
  Time read = 0, done = 0;
};

/// The tensor units of the SMs of one group. `sm` below is the CTA's SM, `peer` that of the other CTA of its pair.
class TensorUnits {
 public:
  TensorUnits(const ArchConfig& arch, std::vector<SmUnits>& sms) : arch_(arch), sms_(sms) {}

  /// tcgen05.mma, issued at `t`; `after`: when the copies and shifts that it depends on are complete. Earlier MMAs only keep their order.
  Service mma(const Issuer& who, const Umma& u, Time t, Time after);
  Service copy(const Issuer& who, const TmemCopy& c, Time t, Time after);
  Service access(const Issuer& who, const TmemLdSt& l, Time t);
  /// One wgmma of a whole warpgroup.
  Service wgmma(const Issuer& who, const Wgmma& m, Time t);
  /// tcgen05.shift and tcgen05.commit, after the operations that are complete at `after`.
  Time shift(Time t, Time after) const;
  Time commit(Time t, Time after) const;

 private:
  SmUnits& sm_of(const Issuer& who) { return sms_[who.cta % sms_.size()]; }
  SmUnits& peer_of(const Issuer& who) { return sms_[(who.cta ^ 1) % sms_.size()]; }
  Partition& partition_of(const Issuer& who);
  double arrival(Time t, Time after) const;

  const ArchConfig& arch_;
  std::vector<SmUnits>& sms_;
};

}  // namespace drywell::sim
