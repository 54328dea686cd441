// Host threads that run a window's groups.
#pragma once

#include <atomic>
#include <barrier>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "sim/timing/group.h"
#include "sim/timing/sharing.h"

namespace drywell::sim {

/// Groups do not touch each other inside a window, so the assignment of groups to threads, and their order, do not affect the result. They do
/// affect the host's caches, which hold the state of few groups: each thread has a share of its own, and runs it forward in one
/// window and backward in the next, so that it begins with the groups that it ran last.
class WindowWorkers {
 public:
  /// `in_order`: groups exchange values while they run, or a listener is attached: always forward.
  WindowWorkers(std::vector<std::unique_ptr<Group>>& groups, unsigned threads, bool in_order);
  ~WindowWorkers();
  WindowWorkers(const WindowWorkers&) = delete;
  WindowWorkers& operator=(const WindowWorkers&) = delete;

  /// Runs the groups named by `active` up to cycle `until`. Throws what a group has thrown, when all have ended.
  void run(const std::vector<uint32_t>& active, Time until);

 private:
  /// The rest of a thread's share of `active`. A thread that has finished its own takes groups from the far end of another's.
  struct alignas(64) Share {
    std::atomic<uint64_t> left{0};  // first << 32 | last
    double busy = 0;                // seconds that its thread worked in the last window
    void set(uint32_t first, uint32_t last) { left.store(uint64_t{first} << 32 | last, std::memory_order_relaxed); }
    std::optional<uint32_t> take(bool from_front);
  };
  void work(unsigned thread);
  void work_together();
  void keep_exception();

  std::vector<std::unique_ptr<Group>>& groups_;
  std::vector<Share> shares_;
  Sharing sharing_;
  std::barrier<> barrier_;
  bool in_order_, forward_ = true;
  bool end_ = false;
  std::mutex mutex_;
  std::exception_ptr thrown_;
  const std::vector<uint32_t>* active_ = nullptr;
  Time until_ = 0;
  std::vector<std::thread> pool_;
};

}  // namespace drywell::sim
