// Registers that a tcgen05.ld writes, until the warp waits for the load, and copies of them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/check/access.h"

namespace drywell::sim::check {

class LoadedRegisters {
 public:
  struct Load {
    uint32_t number = 0;  // from 1; 0: none
    AccessId id = 0;
  };
  bool empty() const { return slots_.empty(); }
  /// `slot`: offset in the register file.
  void add(uint32_t slot, Load load) {
    const uint32_t r = slot / kSlot;
    if (r >= loads_.size()) loads_.resize(r + 1);
    if (loads_[r].number == 0) slots_.push_back(r);
    loads_[r] = load;
  }
  /// The load that writes the register.
  Load load_of(uint32_t slot) const { return slot / kSlot < loads_.size() ? loads_[slot / kSlot] : Load{}; }
  /// The register has another value.
  void drop(uint32_t slot) {
    if (slot / kSlot < loads_.size()) loads_[slot / kSlot] = {};
  }
  void clear() {
    for (const uint32_t r : slots_) loads_[r] = {};
    slots_.clear();
  }

 private:
  static constexpr uint32_t kSlot = 128;  // bytes of a register of 32-bit lanes
  std::vector<Load> loads_;
  std::vector<uint32_t> slots_;
};

}  // namespace drywell::sim::check
