// Places of memory that threads release into and acquire from, across CTAs: strong loads, stores and atomics.
#pragma once

#include <map>
#include <unordered_map>

#include "sim/check/launch_state.h"

namespace drywell::sim::check {

class Flags {
 public:
  explicit Flags(bool several_ctas) : several_ctas_(several_ctas) {}

  /// A lane of a warp of that CTA reads the place.
  void load(uint64_t place, uint16_t cta, uint32_t lane, Ordering o, WarpClock& clock);
  /// A lane of a warp of that CTA writes the place.
  void store(uint64_t place, uint16_t cta, uint32_t lane, Ordering o, WarpClock& clock);
  StrongWrites& writes(uint64_t place) { return flags_[place].writes; }
  void clear() { flags_.clear(); }

 private:
  struct Flag {
    Message message;
    StrongWrites writes;
    std::map<uint16_t, Clock> wide_in;  // by CTA: released by its own threads, at any scope
  };
  bool several_ctas_;
  std::unordered_map<uint64_t, Flag> flags_;
};

}  // namespace drywell::sim::check
