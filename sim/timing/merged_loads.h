// Which loads of shared memory ptxas merges: neighbouring words of one aligned piece of 8 or 16 bytes, in one block, become
// one load, and what is loaded again costs nothing. The SASS of tests/corpus/timing shows it (docs/lab/calibration.md, "What ptxas does in between"). Only the cost
// changes; every load still executes.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::sim {

/// A load's part in a merged one.
struct MergedLoad {
  uint32_t leader = 0;  // position in the body of the load that is billed
  uint16_t bytes = 0;   // of the merged load, for each lane; 0: the load stays as it is
};

/// One entry per instruction of the body.
std::vector<MergedLoad> merged_shared_loads(const isa::Function& f);

}  // namespace drywell::sim
