// Operations of one unit for one thread that complete together or in order: bulk stores, cp.async, loads and stores of tensor memory,
// products. They are numbered at issue; a clock that has a number at the queue's component has that operation complete.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "sim/check/access.h"
#include "sim/check/components.h"

namespace drywell::sim::check {

class OperationQueue {
 public:
  /// Opens the queue at its first use. `reads`: the reading of sources is signalled apart from the end.
  void open(Components& components, bool reads = false) {
    if (done == 0) done = components.next();
    if (read == 0 && reads) read = components.next();
  }
  uint32_t issue() { return ++issued; }
  /// The latest operation has that source, and reads it before it is complete.
  void add_source(AccessId id) { sources_.push_back({id, issued}); }

  /// The operations issued since the last commit are one more group.
  void commit_group() { groups_.push_back(issued); }
  bool in_a_group(uint32_t number) const { return !groups_.empty() && number <= groups_.back(); }
  /// The thread waited until at most `allowed` groups are in flight, or have unread sources.
  void wait_groups(uint64_t allowed, bool reads_only, Clock& seen);
  /// The thread waited for all operations.
  void wait_all(Clock& seen) const {
    if (issued != 0) seen.raise(done, issued);
  }
  /// Calls f(id) for the sources that are not read in a thread's clock.
  template <class F>
  void each_unread(const Clock& seen, F f) const {
    for (const Source& s : sources_) {
      if (seen[read] < s.number) f(s.id);
    }
  }

  Component done = 0, read = 0;
  uint32_t issued = 0;
  uint32_t committed = 0;  // tcgen05: operations a commit tracks
  AccessId last = 0;       // the latest operation
  /// The thread's latest wait for groups: the instruction, and how many operations had been issued.
  struct Wait {
    uint32_t pc, issued;
  };
  std::optional<Wait> waited;

 private:
  struct Source {
    AccessId id;
    uint32_t number;
  };
  std::vector<uint32_t> groups_;  // operations issued when each group was committed
  std::vector<Source> sources_;
};

/// One queue for each lane that issues.
class LaneQueues {
 public:
  explicit LaneQueues(bool reads) : reads_(reads) {}
  OperationQueue& of(uint32_t lane, Components& components) {
    OperationQueue& q = all_[lane];
    q.open(components, reads_);
    return q;
  }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  bool reads_;
  std::map<uint32_t, OperationQueue> all_;
};

}  // namespace drywell::sim::check
