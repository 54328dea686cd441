// What may move within a basic block when ptxas schedules it: the motion of each instruction, the registers that it
// reads and writes, and the memory that it names. Passes over the timed driver's module share these
// (sim/timing/block_schedule.h, unrolled_loops.h, merged_loads.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "drywell/isa/instruction.h"
#include "drywell/isa/registers.h"

namespace drywell::sim {

enum class Motion : uint8_t {
  pure,   // registers to registers: may move up if a load needs it
  load,   // moves up
  store,  // stays; loads of other places move over it
  fixed,  // stays; loads move over it
  wall,   // stays, and nothing moves over it
};
Motion motion_of(const isa::Function& f, const isa::Instruction& i);

using isa::Registers;

/// The memory that an instruction names: a base, and bytes from an offset on.
struct Place {
  isa::Mod space = isa::Mod::none;  // none: generic
  isa::Operand::Base base = isa::Operand::Base::none;
  uint32_t index = 0;  // register or symbol
  int64_t offset = 0;
  uint32_t bytes = 0;
  std::optional<uint32_t> root;  // the variable that the address is in, if it is known
  bool constant = false;         // nothing writes there while the kernel runs

  bool is_shared() const;
};

class Places {
 public:
  Places(const isa::Function& f, const std::vector<Registers>& registers);

  Place of(const isa::Instruction& i) const;
  /// May a store to `s` write what `l` reads? The base register has the same value at both.
  static bool may_meet(const Place& l, const Place& s, bool same_base_value);
  /// The largest power of two, 16 at most, that the address is known to be a multiple of; variables are taken to start at
  /// multiples of 16, as ptxas lays them out. Not for several threads at once.
  uint32_t alignment(const Place& p) const;

 private:
  std::optional<uint32_t> root(isa::RegId r, unsigned depth) const;
  uint32_t alignment_of_register(isa::RegId r, unsigned depth) const;
  uint32_t alignment_of_result(const isa::Instruction& i, unsigned depth) const;
  uint32_t alignment_of_operand(const isa::Operand& o, unsigned depth) const;

  const isa::Function& f_;
  std::vector<std::vector<uint32_t>> definitions_;  // of each register: positions in the body
  mutable std::vector<isa::RegId> followed_;
};

/// From the target of a branch back to the branch.
struct Loop {
  uint32_t first, last;
};
std::vector<Loop> loops_of(const isa::Function& f);

/// Positions at which a block starts, and the end: after a label, and after an instruction that may go elsewhere.
std::vector<uint32_t> block_starts(const isa::Function& f);

}  // namespace drywell::sim
