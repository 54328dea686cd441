// The clock of other clusters of the launch: how far their components are. In few launches do clusters order each other through
// global memory; in those, this clock is part of every message.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "sim/check/strong_writes.h"

namespace drywell::sim::check {

/// A tree of the clusters' clocks, by the digits of their serials. Nodes never change, and clocks share them: what two clocks share is not
/// joined. At a barrier of the grid every warp reads a place that every cluster has released into: the states of that place are numbered, and
/// of two of them the later one is their join.
class CrossClusterClock {
 public:
  using Key = std::pair<uint64_t, uint32_t>;  // serial of the cluster, component

  CrossClusterClock() = default;
  /// How far one cluster is, by component.
  CrossClusterClock(uint64_t serial, const std::vector<uint32_t>& values);

  uint32_t operator[](const Key& k) const;
  void join(const CrossClusterClock& o);
  /// As join, of a place's own clock: call nothing else that changes it.
  void grow(const CrossClusterClock& o);
  void clear() { state_ = nullptr; }
  bool same(const CrossClusterClock& o) const { return state_ == o.state_; }

 private:
  struct Node;
  struct State;
  struct Place;  // its address is its name

  /// The later of both, if they are states of one place.
  bool take_later(const CrossClusterClock& o);

  std::shared_ptr<const State> state_;
};

/// What clusters have released into a place of memory.
struct CrossClusterFlag {
  CrossClusterClock released;
  StrongWrites writes;
  CrossClusterClock fenced;  // covered by fences of other threads, which a barrier then put before the store
  CrossClusterClock proxy;   // ordinary accesses that a fence.proxy.async covers
  CrossClusterClock maps;    // edits of tensor maps that a release of the tensormap proxy covers
};

/// A warp's clocks of other clusters.
struct CrossClusterKnowledge {
  CrossClusterClock known;                         // acquired by releases and acquires whose scopes reach the warp
  CrossClusterClock observed;                      // released by another cluster, and read without an acquire
  CrossClusterClock fenced;                        // fenced by a thread of another cluster, and then stored by another thread
  CrossClusterClock proxy;                         // ordinary accesses that a fence.proxy.async covers, before the release or behind the acquire
  CrossClusterClock maps_released, maps_acquired;  // edits of tensor maps: covered by a release of the tensormap proxy, and by an acquire behind it
  void join(const CrossClusterKnowledge& o) {
    for (const auto part : kParts) (this->*part).join(o.*part);
  }
  void clear() {
    for (const auto part : kParts) (this->*part).clear();
  }
  bool same(const CrossClusterKnowledge& o) const {
    return std::all_of(std::begin(kParts), std::end(kParts), [&](auto part) { return (this->*part).same(o.*part); });
  }

 private:
  static const std::array<CrossClusterClock CrossClusterKnowledge::*, 6> kParts;
};

inline constexpr std::array<CrossClusterClock CrossClusterKnowledge::*, 6> CrossClusterKnowledge::kParts{
    &CrossClusterKnowledge::known, &CrossClusterKnowledge::observed, &CrossClusterKnowledge::fenced, &CrossClusterKnowledge::proxy, &CrossClusterKnowledge::maps_released, &CrossClusterKnowledge::maps_acquired};

}  // namespace drywell::sim::check
