// Components of a cluster's vector clocks.
#pragma once

#include "sim/check/clock.h"

namespace drywell::sim::check {

class Components {
 public:
  static constexpr Component kGridWait = 1;  // at 1: the launches before this one are complete
  Component next() { return next_++; }

 private:
  Component next_ = kGridWait + 1;  // 0: none
};

}  // namespace drywell::sim::check
