// What ptxas cannot know to be the same for all lanes of a warp: values, and whether they are together. Where lanes may be apart, ptxas moves no load
// over a block's first exchange between lanes (decode of tests/corpus/timing), and marks the place where they meet again (jump_lane_* of
// tests/corpus/timing/mechanisms/jumps.toml). Values that are the same have registers of their own, one for the warp.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/isa/instruction.h"
#include "drywell/isa/registers.h"

namespace drywell::sim {

struct LanesApart {
  std::vector<uint8_t> varies;  // of each register: 1 if its value may differ between lanes
  std::vector<uint8_t> apart;   // of each instruction: 1 if only some lanes may execute it, and others later
  std::vector<uint8_t> parts;   // of each instruction: 1 if it is a branch from which lanes go different ways, and meet again
  std::vector<uint8_t> meets;   // of each instruction: 1 if lanes that went different ways meet again before it
};
LanesApart lanes_apart(const isa::Function& f, const std::vector<isa::Registers>& registers);

}  // namespace drywell::sim
