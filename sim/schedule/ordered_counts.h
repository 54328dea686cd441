// The instructions of a launch's clusters, added in the order of the clusters' numbers, whatever order host threads end them in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "drywell/core/types.h"

namespace drywell::sim {

class OrderedCounts {
 public:
  struct Count {
    uint64_t instructions = 0;
    Dim3 cta;  // the cluster's first
  };
  /// `gaps`: clusters end in order, and those that are cancelled leave gaps. Otherwise a cluster waits for all before it.
  void begin(bool gaps) { gaps_ = gaps; }
  /// Clusters behind `cluster` do not count any more. What may still be called must have been running.
  void end_at(uint64_t cluster) { last_ = std::min(last_, cluster); }
  /// Adds a cluster that ended. Calls next(cluster, count, sum) for each that is now added, with the sum up to it.
  template <class Next>
  void add(uint64_t cluster, const Count& count, const Next& next) {
    ahead_.emplace(cluster, count);
    while (!ahead_.empty() && (gaps_ || ahead_.begin()->first == next_) && ahead_.begin()->first <= last_) {
      const auto [index, of] = *ahead_.begin();
      ahead_.erase(ahead_.begin());
      next_ = index + 1;
      sum_ += of.instructions;
      next(index, of, sum_);
    }
  }
  /// The sum up to the last cluster that counts.
  uint64_t total() const {
    uint64_t n = sum_;
    for (const auto& [cluster, count] : ahead_) n += cluster <= last_ ? count.instructions : 0;
    return n;
  }

 private:
  bool gaps_ = false;
  uint64_t sum_ = 0, next_ = 0, last_ = ~uint64_t{0};
  std::map<uint64_t, Count> ahead_;  // of clusters that ended before one before them did
};

}  // namespace drywell::sim
