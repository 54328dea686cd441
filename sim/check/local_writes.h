// The bytes of local memory that the lanes of a warp have written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
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
  /// Those bytes of these lanes have values.
  void write(uint64_t at, uint32_t bytes, LaneMask lanes) {
    if (lanes_.size() < at + bytes) lanes_.resize(at + bytes);
    for (uint64_t i = at; i < at + bytes; ++i) lanes_[i] |= lanes;
  }
  /// Those of the lanes' bytes at `to` are written that are written at `from`.
  void copy(uint64_t from, uint64_t to, uint32_t bytes, LaneMask lanes) {
    if (lanes_.size() < std::max(from, to) + bytes) lanes_.resize(std::max(from, to) + bytes);
    for (uint32_t i = 0; i < bytes; ++i) lanes_[to + i] = (lanes_[to + i] & ~lanes) | (lanes_[from + i] & lanes);
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

/// A parameter that is a number, or a result: lanes whose value is none, because the register that it came from had none.
struct PassedNumber {
  LaneMask lanes = 0;
  uint16_t origin = 0;  // among AbsentValues' origins
};
using PassedNumbers = std::map<uint64_t, PassedNumber>;  // by place in local memory

inline void pass_number(PassedNumbers& all, uint64_t from, uint64_t to, LaneMask lanes) {
  const auto known = all.find(from);
  const PassedNumber n = known == all.end() ? PassedNumber{} : known->second;
  if ((n.lanes & lanes) == 0 && all.find(to) == all.end()) return;
  PassedNumber& there = all[to];
  there.lanes = (there.lanes & ~lanes) | (n.lanes & lanes);
  there.origin = n.origin;
}

/// What a load that is about to be executed brings from bytes that nothing has written.
struct MemoryHole {
  uint32_t slot = 0;  // the register's offset in the frame
  LaneMask lanes = 0;
  bool shared = false;  // of shared memory, else of the lanes' own
  uint16_t stored = 0;  // UndefinedBytes: a value without a value was stored there; 0: nothing was
  uint16_t passed = 0;  // such a value was passed there: its number among AbsentValues' origins, plus one; 0: none was
  bool tensor = false;  // of tensor memory
};
/// Adds the lanes to the hole of that register.
inline void note_hole(std::vector<MemoryHole>& holes, const MemoryHole& h) {
  for (MemoryHole& known : holes)
    if (known.slot == h.slot && known.shared == h.shared && known.stored == h.stored && known.passed == h.passed) return void(known.lanes |= h.lanes);
  holes.push_back(h);
}

}  // namespace drywell::sim::check
