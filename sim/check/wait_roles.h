// What a wait is for, by the instructions behind it: the thread fills a place, or uses what is in one.
#pragma once

#include <cstdint>

#include "sim/state/program.h"

namespace drywell::sim::check {

enum class WaitRole : uint8_t {
  unknown,
  fills,  // starts copies that arrive on an mbarrier, expects bytes, or stores to shared memory
  uses
};  // loads from shared or tensor memory, or multiplies

/// Looks at the instructions behind the wait at `pc`, up to the next wait of any kind.
WaitRole role_of_wait(const Program& p, uint32_t pc);

}  // namespace drywell::sim::check
