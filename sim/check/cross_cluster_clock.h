// The clock of other clusters of the launch: how far their components are. In few launches do clusters order each other through
// global memory; in those, this clock is part of every message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "sim/check/strong_writes.h"

namespace drywell::sim::check {

/// The entries are shared: copies are cheap, and warps that acquire the same clock hold the same entries.
class CrossClusterClock {
 public:
  using Key = std::pair<uint64_t, uint32_t>;  // serial of the cluster, component
  using Entry = std::pair<Key, uint32_t>;

  CrossClusterClock() = default;
  /// `entries` by ascending key.
  explicit CrossClusterClock(std::vector<Entry> entries) : entries_(std::make_shared<const std::vector<Entry>>(std::move(entries))) {}

  uint32_t operator[](const Key& k) const {
    if (entries_ == nullptr) return 0;
    const auto at = std::lower_bound(entries_->begin(), entries_->end(), k, [](const Entry& e, const Key& key) { return e.first < key; });
    return at != entries_->end() && at->first == k ? at->second : 0;
  }
  void join(const CrossClusterClock& o) {
    if (o.entries_ == nullptr || entries_ == o.entries_) return;
    if (entries_ == nullptr) {
      entries_ = o.entries_;
      return;
    }
    std::vector<Entry> all = merged(*entries_, *o.entries_);
    if (all == *o.entries_) {
      entries_ = o.entries_;
    } else if (all != *entries_) {
      entries_ = std::make_shared<const std::vector<Entry>>(std::move(all));
    }
  }
  void clear() { entries_ = nullptr; }
  bool same(const CrossClusterClock& o) const { return entries_ == o.entries_; }

 private:
  static std::vector<Entry> merged(const std::vector<Entry>& x, const std::vector<Entry>& y) {
    std::vector<Entry> all;
    all.reserve(x.size() + y.size());
    std::merge(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(all));
    // Of two entries with one key the later has the larger value.
    const auto last = std::unique(all.rbegin(), all.rend(), [](const Entry& a, const Entry& b) { return a.first == b.first; });
    all.erase(all.begin(), last.base());
    return all;
  }

  std::shared_ptr<const std::vector<Entry>> entries_;
};

/// What clusters have released into a place of memory.
struct CrossClusterFlag {
  CrossClusterClock released;
  StrongWrites writes;
  CrossClusterClock fenced;  // covered by fences of other threads, which a barrier then put before the store
};

/// A warp's clocks of other clusters.
struct CrossClusterKnowledge {
  CrossClusterClock known;     // acquired by releases and acquires whose scopes reach the warp
  CrossClusterClock observed;  // released by another cluster, and read without an acquire; or fenced, and then stored by another thread
  void join(const CrossClusterKnowledge& o) {
    known.join(o.known);
    observed.join(o.observed);
  }
  void clear() {
    known.clear();
    observed.clear();
  }
  bool same(const CrossClusterKnowledge& o) const { return known.same(o.known) && observed.same(o.observed); }
};

}  // namespace drywell::sim::check
