// How many registers ptxas leaves to a block's values. It keeps a kernel that needs few of them to 32, so that an SM holds as many warps as it can,
// and then moves fewer loads and sums up: 42 of the 183 kernels of tests/corpus/timing have 32 registers (ptxas 13.0 for sm_90a), bodies and stencil7
// among them. Values that are the same for all lanes have registers of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "drywell/isa/instruction.h"
#include "sim/timing/lanes_apart.h"

namespace drywell::sim {

/// Registers of a lane that the value takes: none for a predicate or a value that all lanes share.
uint32_t words_of(const isa::Function& f, const LanesApart& lanes, isa::RegId r);

/// The part of the text from the first to the last place that names a register; a value that is needed in a loop is needed until its end.
struct LiveRange {
  uint32_t first = ~0u, last = 0;
  bool used() const { return first != ~0u; }
};
std::vector<LiveRange> live_ranges(const isa::Function& f, const std::vector<isa::Registers>& registers);

/// For each block of `starts` (block_starts): registers that are left beside the values from before it; nothing if the kernel needs many.
std::vector<std::optional<uint32_t>> register_room(const isa::Function& f, const std::vector<LiveRange>& ranges, const LanesApart& lanes,
                                                   const std::vector<uint32_t>& starts);

}  // namespace drywell::sim
