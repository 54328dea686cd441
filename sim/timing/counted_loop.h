// Loops that ptxas unrolls: one block, and a test of a register that each pass changes by a constant against a value that no
// pass changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/timing/block_motion.h"

namespace drywell::sim {

/// A register that each pass changes by a constant.
struct Induction {
  int64_t step = 0;
  uint32_t changed_at = 0;  // position of the instruction after which the register has its next value
  bool by_move = false;     // `next = r + step; …; r = next`: the change is the move
};

struct CountedLoop {
  uint32_t first = 0, branch = 0;    // positions of the first instruction and of the branch back
  uint32_t test = 0;                 // of the setp that guards the branch
  isa::RegId counter = isa::kNoReg;  // the induction that the test is of
  isa::Mod compare = isa::Mod::none, type = isa::Mod::none;
  isa::Operand bound;  // register that the loop does not write, or immediate
  std::map<isa::RegId, Induction> inductions;
  std::vector<isa::RegId> temporaries;  // written before they are read in each pass

  const Induction& counted() const { return inductions.at(counter); }
};

/// The loop of the block from `first` to before `end`, if the block is one that ptxas unrolls.
std::optional<CountedLoop> counted_loop(const isa::Function& f, const std::vector<Registers>& registers, uint32_t first, uint32_t end);

}  // namespace drywell::sim
