// The copy engine of one SM (TMA) in time: copies start a fixed time apart and go through a port into shared memory and one out of it.
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

  /// False: too many are in flight; end() tells when its turn has come.
  bool admit(const Copy& copy);
  /// A copy has ended; the one that waited longest has its place.
  std::optional<Copy> end();

  /// A copy that came at `t` begins. `tensor_map`: the first use of one costs more.
  Time start(Time t, std::optional<uint64_t> tensor_map);
  /// Bytes that memory delivers at `t` are in shared memory, and the mbarrier hears of it.
  Time fill(Time t, uint32_t bytes, bool multicast);
  /// Bytes of shared memory have been read.
  Time drain(Time t, uint32_t bytes, bool reduce, bool tensor_active);
  /// All that was to be drained has been read.
  Time drained() const { return ceil_time(drain_.free_at() + arch_->tma.store_overhead); }
  /// Bytes are in the shared memory of another CTA.
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
  std::deque<Copy> waiting_;  // beyond the engine's limit
  std::vector<uint64_t> tensor_maps_;  // seen by this SM
  double bytes_in_ = 0, bytes_out_ = 0;
};

}  // namespace drywell::sim
