// Host memory for the state of a launch, in huge pages if the host has them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace drywell::sim {

/// Requests huge pages from the host for the whole huge pages inside [at, at + bytes).
void prefer_huge_pages(void* at, size_t bytes);

/// Blocks of a few different sizes, cut from huge pages consecutively and reused. Any thread may call take and give_back.
class StateMemory {
 public:
  void* take(size_t bytes);
  void give_back(void* at, size_t bytes);

 private:
  struct Free {
    void operator()(void* at) const;
  };
  std::mutex mutex_;
  std::vector<std::unique_ptr<void, Free>> chunks_;
  std::byte* next_ = nullptr;  // of the last chunk
  size_t left_ = 0;
  std::map<size_t, std::vector<void*>> unused_;  // by size
};

}  // namespace drywell::sim
