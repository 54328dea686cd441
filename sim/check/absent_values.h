// Values of a warp's registers and predicates that PTX leaves undefined: those that came, in a shuffle, from a lane that does not execute it
// (an H200 gives 0, docs/deviations.md), and those from memory of a thread or a CTA and from registers that nothing has written, which are anything.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/core/types.h"
#include "sim/check/access.h"

namespace drywell::sim::check {

/// The lanes whose value in one register or predicate is such a value, or was made of one. Of one that nothing has written: harmless as long as it is only
/// copied.
struct AbsentMarks {
  LaneMask wrong = 0;            // and the 0 of today's hardware decides it
  LaneMask harmless = 0;         // and on today's hardware it is what it would be without the lane: a sum with that 0
  LaneMask fresh = 0;            // of the harmless: by the last instruction; an address that 0 was added to is a place all the same
  uint16_t origin = 0;           // the shuffle or load, among AbsentValues::origins
  uint64_t bits = ~uint64_t{0};  // of the value, in some of these lanes: bytes that are put into a word one by one leave fewer and fewer without a value
  LaneMask any() const { return wrong | harmless; }
  AbsentMarks of(LaneMask lanes) const { return {wrong & lanes, harmless & lanes, fresh & lanes, origin, bits}; }
  void add(const AbsentMarks& o) {
    if (o.any() == 0) return;
    bits = any() == 0 ? o.bits : bits | o.bits;
    origin = o.origin;
    wrong |= o.wrong;
    harmless = (harmless | o.harmless) & ~wrong;
    fresh = (fresh | o.fresh) & harmless;
  }
};

class AbsentValues {
 public:
  /// Some register or predicate has a mark.
  bool any() const { return marked_ != 0; }

  /// `slot`: a register's offset in the register file; a predicate's index in the predicate file.
  const AbsentMarks& of_register(uint32_t slot) const { return at(registers_, slot / kSlot); }
  const AbsentMarks& of_predicate(uint32_t index) const { return at(predicates_, index); }
  void set_register(uint32_t slot, LaneMask lanes, const AbsentMarks& m) { set(registers_, slot / kSlot, lanes, m); }
  void set_predicate(uint32_t index, LaneMask lanes, const AbsentMarks& m) { set(predicates_, index, lanes, m); }

  /// The number of a shuffle whose `a.lanes` read lanes that do not take part, or of a read of what nothing has written; the first such access of
  /// an instruction stays.
  uint16_t origin(const Access& a) {
    for (size_t i = 0; i < origins_.size(); ++i)
      if (origins_[i].pc == a.pc && origins_[i].agent == a.agent) return static_cast<uint16_t>(i);
    if (origins_.size() == kMostOrigins) return kMostOrigins - 1;
    origins_.push_back(a);
    return static_cast<uint16_t>(origins_.size() - 1);
  }
  const Access& origin_at(uint16_t number) const { return origins_[number]; }
  /// Nothing has written it, or nobody knows what: Agent::hole, unset, blank, vacant or contested.
  bool from_nothing(const AbsentMarks& m) const { return m.any() != 0 && origins_[m.origin].agent != Agent::shuffle; }

 private:
  static constexpr uint32_t kSlot = 128;  // bytes of a register of 32-bit lanes
  static constexpr size_t kMostOrigins = 4096;

  static const AbsentMarks& at(const std::vector<AbsentMarks>& all, uint32_t i) {
    static constexpr AbsentMarks kNone;
    return i < all.size() ? all[i] : kNone;
  }
  void set(std::vector<AbsentMarks>& all, uint32_t i, LaneMask lanes, const AbsentMarks& m) {
    if (i >= all.size()) {
      if (m.of(lanes).any() == 0) return;
      all.resize(i + 1);
    }
    const bool before = all[i].any() != 0;
    all[i] = all[i].of(~lanes);
    all[i].add(m.of(lanes));
    marked_ += size_t{all[i].any() != 0} - size_t{before};
  }

  std::vector<AbsentMarks> registers_, predicates_;  // of all frames, in the warp's layout
  std::vector<Access> origins_;
  size_t marked_ = 0;
};

}  // namespace drywell::sim::check
