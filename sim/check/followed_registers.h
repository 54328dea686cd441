// The registers that the checker has to follow to find uses without a value: those that some path reaches unwritten. A compiler's registers mostly
// are written on every path, and instructions that use no others need no event.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/check/registers.h"

namespace drywell::sim::check {

class FollowedRegisters {
 public:
  FollowedRegisters() = default;
  FollowedRegisters(const Program& p, const PredicateUse& predicates);

  /// Whether the instruction reads or writes a register or predicate that is followed.
  bool touches(size_t pc) const { return all_ || pcs_[pc] != 0; }
  /// Whether some register or predicate is.
  bool any() const { return all_ || std::find(pcs_.begin(), pcs_.end(), 1) != pcs_.end(); }
  /// By the register's slot, or the predicate's index, in the kernel's frame.
  bool has_register(uint32_t slot) const { return all_ || registers_[slot]; }
  bool has_predicate(uint32_t index) const { return all_ || predicates_[index]; }

 private:
  bool all_ = true;  // functions that are called, or a kernel too large to look at
  std::vector<uint8_t> pcs_;
  std::vector<bool> registers_, predicates_;
};

}  // namespace drywell::sim::check
