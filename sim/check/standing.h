// Where the lanes of a blocked warp stand, and what each group of them waits for.
#pragma once

#include <string>
#include <vector>

#include "sim/state/cta.h"

namespace drywell::sim::check {

/// Lanes that are at one place of the program.
struct Standing {
  uint32_t pc = 0;
  LaneMask lanes = 0;
  BlockReason reason = BlockReason::none;  // none: another group of the warp stopped first
  uint32_t address = 0, parity = 0;        // of the mbarrier
  bool on_mbarrier() const { return reason == BlockReason::mbarrier; }
};

/// The warp's groups; those that wait on an mbarrier come first, because the other lanes wait for them.
std::vector<Standing> standings(const Warp& w);

/// Name of a place in shared memory: "bars+0x8", or empty if no variable is there.
std::string shared_variable_at(const Program& p, uint32_t offset);

}  // namespace drywell::sim::check
