// Vectors of simulated state: shared and tensor memory, registers. A timed launch accesses the state of all SMs every few hundred
// cycles; with ordinary pages, this exceeds the host's TLB.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace drywell::sim {

class StateMemory;  // sim/state/state_memory.h
void* take_state(StateMemory& from, size_t bytes);
void give_back_state(StateMemory& to, void* at, size_t bytes);

/// Allocates from a launch's StateMemory, or from the heap if there is none.
template <class T>
class StateAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  StateAllocator() = default;
  StateAllocator(StateMemory* memory) : memory_(memory) {}
  template <class U>
  StateAllocator(const StateAllocator<U>& o) : memory_(o.memory()) {}

  T* allocate(size_t n) {
    return memory_ != nullptr ? static_cast<T*>(take_state(*memory_, n * sizeof(T))) : std::allocator<T>().allocate(n);
  }
  void deallocate(T* at, size_t n) {
    if (memory_ != nullptr) give_back_state(*memory_, at, n * sizeof(T));
    else std::allocator<T>().deallocate(at, n);
  }
  /// Copies may outlive the launch.
  StateAllocator select_on_container_copy_construction() const { return {}; }
  StateMemory* memory() const { return memory_; }
  bool operator==(const StateAllocator& o) const { return memory_ == o.memory_; }

 private:
  StateMemory* memory_ = nullptr;
};

template <class T>
using StateVector = std::vector<T, StateAllocator<T>>;

}  // namespace drywell::sim
