// mbarrier waits whose answer the program never tests: they may answer false, and the program goes on all the
// same.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/check/registers.h"

namespace drywell::sim::check {

/// By pc: whether the instruction is a wait, and no guard, store or call behind it depends on its answer.
std::vector<uint8_t> untested_waits(const Program& p);

}  // namespace drywell::sim::check
