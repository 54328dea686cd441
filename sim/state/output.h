// Text that the guest printed (vprintf), separate per cluster so that its order does not depend on host threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace drywell::sim {

class OutputLog {
 public:
  explicit OutputLog(uint64_t limit) : limit_(limit) {}
  /// Appends text. Of all text, one cluster after the other, the part beyond the limit is dropped; truncated() is true from then on.
  void append(uint64_t cluster, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (cluster >= full_) {
      truncated_ = truncated_ || !text.empty();
      return;
    }
    size_ += text.size();
    by_cluster_[cluster] += text;
    while (size_ > limit_) drop_the_last();
  }
  bool truncated() const { return truncated_; }
  /// All text, one cluster after the other.
  std::string text() const {
    std::string all;
    for (const auto& [cluster, text] : by_cluster_) all += text;
    return all;
  }
  /// Forgets what clusters behind this one have printed.
  void end_at(uint64_t cluster) { by_cluster_.erase(by_cluster_.upper_bound(cluster), by_cluster_.end()); }

 private:
  /// Drops text of the last cluster that has any: it and those behind it print no more.
  void drop_the_last() {
    auto& [cluster, text] = *by_cluster_.rbegin();
    const uint64_t beyond = std::min<uint64_t>(size_ - limit_, text.size());
    text.resize(text.size() - beyond);
    size_ -= beyond;
    full_ = cluster;
    truncated_ = true;
    if (text.empty()) by_cluster_.erase(cluster);
  }

  std::mutex mutex_;
  std::map<uint64_t, std::string> by_cluster_;
  uint64_t limit_;
  uint64_t size_ = 0;
  uint64_t full_ = ~uint64_t{0};  // the first cluster whose text was cut
  bool truncated_ = false;
};

}  // namespace drywell::sim
