// Loads whose value an atomic of the same thread checks, before anything comes of it. Example: the load ahead of a loop of compare-and-swap.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/state/program.h"

namespace drywell::sim::check {

/// By pc: an ordinary load of a place at which the same function has an atomic further down. Its value is what a compare-and-swap there expects,
/// or decides only what is executed (a test before the atomic).
std::vector<uint8_t> guesses(const Program& p);

}  // namespace drywell::sim::check
