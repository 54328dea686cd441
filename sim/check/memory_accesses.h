// The memory that the lanes of an instruction access, and the order that strong accesses make.
#pragma once

#include "sim/check/cluster_parts.h"

namespace drywell::sim::check {

class MemoryAccesses {
 public:
  explicit MemoryAccesses(ClusterParts& parts) : parts_(parts) {}
  /// Each lane of `mask` loads or stores `bytes` bytes.
  void access(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store);

  /// wmma.load and wmma.store: a warp's matrix, line by line.
  void fragments(const Warp& w, const DecodedOp& op, LaneMask mask);
  /// st.bulk: each lane fills its bytes with zeros.
  void fill(const Warp& w, const DecodedOp& op, LaneMask mask);

 private:
  bool mixes_lanes(const Access& a) const;
  /// Returns the lanes that store different values in one place of shared memory, where they are followed to their use.
  LaneMask check_collisions(const Warp& w, const DecodedOp& op, LaneMask mask, Space space);
  void touch_lanes(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store, bool unchanging);
  void touch_bytes(const Warp& w, Space space, uint64_t at, uint64_t bytes, MemoryShadow::Touch& t);
  void note_flag(const Warp& w, const DecodedOp& op, uint64_t place, bool loads, bool store);
  void strong_access(const Warp& w, const DecodedOp& op, uint32_t lane, uint64_t place, bool store);
  /// The strong writes of the place: by all clusters, where they order each other.
  StrongWrites& writes_of(uint64_t place);
  void number(const Warp& w, const LanePlaces& places, const Ordering& o, Access& a);
  StrongWrites read_before(const Warp& w, const LanePlaces& places, LaneMask lanes) const;
  uint32_t number_of_write(const LanePlaces& places, LaneMask lanes);

  ClusterParts& parts_;
};

}  // namespace drywell::sim::check
