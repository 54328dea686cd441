// The copy engine of one SM (TMA) in time: copies start a fixed time apart and use one port into shared memory and one out of it.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "drywell/sim/arch_config.h"
#include "sim/timing/server.h"

namespace drywell::sim {

class TmaEngine {
 public:
  struct Copy {
    uint32_t resident = 0;
    uint64_t op = 0;
  };
  explicit TmaEngine(const ArchConfig& arch) : arch_(&arch) {}

  /// Returns false if too many copies are in flight; end() later returns the copy when a place is free.
  bool admit(const Copy& copy);
  /// A copy is complete; returns the copy that has waited longest, which takes its place.
  std::optional<Copy> end();

  /// A copy that arrived at `t` begins. `tensor_map`: the first use of a map costs more.
  Time start(Time t, std::optional<uint64_t> tensor_map);
  /// Returns when bytes that memory delivers at `t` are in shared memory, and the mbarrier receives their count.
  Time fill(Time t, uint32_t bytes, bool multicast);
  /// Returns when bytes of shared memory have been read.
  Time drain(Time t, uint32_t bytes, bool reduce, bool tensor_active);
  /// Returns when all bytes to drain have been read.
  Time drained() const { return ceil_time(drain_.free_at() + arch_->tma.store_overhead); }
  /// Returns when the bytes are in the shared memory of another CTA.
  Time send(Time t, uint32_t bytes);

  const Server& issue() const { return issue_; }
  const Server& fill_port() const { return fill_; }
  const Server& drain_port() const { return drain_; }
  double bytes_in() const { return bytes_in_; }
  double bytes_out() const { return bytes_out_; }
  void count_in(uint32_t bytes) { bytes_in_ += bytes; }

 private:
  const ArchConfig* arch_;
  Server issue_;  // spacing of copies
  Server fill_, drain_;
  uint32_t in_flight_ = 0;
  std::deque<Copy> waiting_;           // beyond the engine's limit
  std::vector<uint64_t> tensor_maps_;  // used on this SM before
  double bytes_in_ = 0, bytes_out_ = 0;
};

}  // namespace drywell::sim
