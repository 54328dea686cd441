// Registers that a tcgen05.ld writes, until the warp waits for the load.
#pragma once

#include <cstdint>
#include <vector>

namespace drywell::sim::check {

class LoadedRegisters {
 public:
  bool empty() const { return slots_.empty(); }
  /// `slot`: offset in the register file.
  void add(uint32_t slot, uint32_t load) {
    const uint32_t r = slot / kSlot;
    if (r >= load_.size()) load_.resize(r + 1);
    if (load_[r] == 0) slots_.push_back(r);
    load_[r] = load;
  }
  /// The number, from 1, of the load that writes the register; 0: none.
  uint32_t load_of(uint32_t slot) const { return slot / kSlot < load_.size() ? load_[slot / kSlot] : 0; }
  void clear() {
    for (const uint32_t r : slots_) load_[r] = 0;
    slots_.clear();
  }

 private:
  static constexpr uint32_t kSlot = 128;  // bytes of a register of 32-bit lanes
  std::vector<uint32_t> load_, slots_;
};

}  // namespace drywell::sim::check
