// The bytes of local memory that the lanes of a warp have written.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "drywell/core/types.h"

namespace drywell::sim::check {

class LocalWrites {
 public:
  void set(uint32_t lane, uint64_t at, uint32_t bytes, bool written) {
    if (lanes_.size() < at + bytes) lanes_.resize(at + bytes);
    for (uint64_t i = at; i < at + bytes; ++i) lanes_[i] = (lanes_[i] & ~(1u << lane)) | (LaneMask{written} << lane);
  }
  /// Whether the lane has written one of the bytes.
  bool any(uint32_t lane, uint64_t at, uint32_t bytes) const {
    LaneMask all = 0;
    for (uint64_t i = at; i < at + bytes && i < lanes_.size(); ++i) all |= lanes_[i];
    return (all >> lane & 1) != 0;
  }

 private:
  std::vector<LaneMask> lanes_;  // by address
};

/// What a load that is about to be executed brings from bytes that nothing has written.
struct MemoryHole {
  uint32_t slot = 0;  // the register's offset in the frame
  LaneMask lanes = 0;
  bool shared = false;  // of shared memory, else of the lanes' own
  uint16_t stored = 0;  // UndefinedBytes: a value without a value was stored there; 0: nothing was
};
/// Adds the lanes to the hole of that register.
inline void note_hole(std::vector<MemoryHole>& holes, const MemoryHole& h) {
  for (MemoryHole& known : holes)
    if (known.slot == h.slot && known.shared == h.shared && known.stored == h.stored) return void(known.lanes |= h.lanes);
  holes.push_back(h);
}

}  // namespace drywell::sim::check
