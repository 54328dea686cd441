// Asynchronous operations: the memory that they access is checked at their issue; their mbarrier, commit, group or wait
// determines the clocks in which they are complete.
#pragma once

#include <memory>

#include "sim/check/cluster_parts.h"
#include "sim/check/flights.h"

namespace drywell::sim::check {

class AsyncOperations {
 public:
  /// `known`: the memory that earlier clusters' operations accessed.
  AsyncOperations(ClusterParts& parts, std::unique_ptr<KnownFootprints> known) : parts_(parts), footprints_(std::move(known)) {}

  void moment(const AsyncOp& op, AsyncMoment m);
  /// An operation on an mbarrier. Returns false if an instruction does it, and not an operation that writes and signals now.
  bool signal(uint32_t address, MbarrierEvent what, int64_t amount);

  std::unique_ptr<KnownFootprints> take_footprints() { return std::move(footprints_); }
  void clear() { flights_.clear(); }

 private:
  struct Issue;
  void issue(const AsyncOp& op);
  void land(Flight& f, uint32_t address);
  void arrive_of_commit(const Flight& f, uint32_t address);

  ClusterParts& parts_;
  std::unique_ptr<KnownFootprints> footprints_;
  Flights flights_;
  uint64_t running_ = 0;  // operation that writes and signals now
};

}  // namespace drywell::sim::check
