// One value per cluster of a launch, made when it is first asked for: a grid may have 2^31 clusters of which
// a handful runs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "drywell/core/bits.h"

namespace drywell::sim::check {

/// Threads may ask for the values of different clusters at the same time; begin and forget_before need the
/// table for themselves, except that forget_before may run beside calls for later clusters.
template <class T>
class ByCluster {
 public:
  void begin(uint64_t clusters) {
    chunks_ = std::vector<Chunk>(clusters == 0 ? 0 : ceil_div(clusters, kPerChunk));
  }
  T& at(uint64_t cluster) {
    Chunk& c = chunks_[cluster / kPerChunk];
    if (c.made.load(std::memory_order_acquire) == nullptr) make(c);
    return (*c.made.load(std::memory_order_acquire))[cluster % kPerChunk];
  }
  /// The value, or nullptr if none near it was asked for.
  T* find(uint64_t cluster) {
    if (cluster / kPerChunk >= chunks_.size()) return nullptr;
    Values* const values = chunks_[cluster / kPerChunk].made.load(std::memory_order_acquire);
    return values == nullptr ? nullptr : &(*values)[cluster % kPerChunk];
  }
  /// No cluster before this one is asked for again.
  void forget_before(uint64_t cluster) {
    if (cluster % kPerChunk != 0 || cluster == 0) return;
    Chunk& c = chunks_[cluster / kPerChunk - 1];
    c.made = nullptr;
    c.owned.reset();
  }

 private:
  static constexpr uint64_t kPerChunk = 1024;
  using Values = std::array<T, kPerChunk>;
  struct Chunk {
    std::atomic<Values*> made{nullptr};
    std::unique_ptr<Values> owned;
  };
  void make(Chunk& c) {
    const std::lock_guard lock(mutex_);
    if (c.owned != nullptr) return;
    c.owned = std::make_unique<Values>();
    c.made.store(c.owned.get(), std::memory_order_release);
  }

  std::mutex mutex_;
  std::vector<Chunk> chunks_;
};

}  // namespace drywell::sim::check
