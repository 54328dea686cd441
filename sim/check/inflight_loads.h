// Instructions that may read a register while the tcgen05.ld that writes it is in flight, or access a copy of such a register.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/state/program.h"

namespace drywell::sim::check {

/// By pc.
std::vector<uint8_t> uses_of_loads(const Program& p);

}  // namespace drywell::sim::check
