// Host memory for the state of a launch, in huge pages where the host has them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace drywell::sim {

/// Asks the host for huge pages in the part of [at, at + bytes) that consists of whole ones.
void prefer_huge_pages(void* at, size_t bytes);

/// Blocks of few different sizes, cut from huge pages one behind the other and used again. Any thread may take and give back.
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
