// Text that the guest printed (vprintf), separate per cluster so that its order does not depend on host threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace drywell::sim {

class OutputLog {
 public:
  explicit OutputLog(uint64_t limit) : limit_(limit) {}
  /// Appends; text beyond the limit is dropped (`truncated` then returns true).
  void append(uint64_t cluster, std::string_view text) {
    const std::lock_guard lock(mutex_);
    const uint64_t room = limit_ - size_;
    truncated_ = truncated_ || text.size() > room;
    text = text.substr(0, room);
    size_ += text.size();
    by_cluster_[cluster] += text;
  }
  bool truncated() const { return truncated_; }
  /// All text, one cluster after the other.
  std::string text() const {
    std::string all;
    for (const auto& [cluster, text] : by_cluster_) all += text;
    return all;
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, std::string> by_cluster_;
  uint64_t limit_;
  uint64_t size_ = 0;
  bool truncated_ = false;
};

}  // namespace drywell::sim
