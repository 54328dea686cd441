// Which instructions may use a register that a tcgen05.ld has not been waited for to have.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/state/program.h"

namespace drywell::sim::check {

/// By pc.
std::vector<uint8_t> uses_of_loads(const Program& p);

}  // namespace drywell::sim::check
