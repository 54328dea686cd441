// Registers that instructions read and write.
#pragma once

#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Of one instruction, its guard included. A guarded instruction also reads what it writes: without the guard the old value stays.
struct Registers {
  /// In the order of the operands; a register may be there twice.
  std::vector<RegId> reads, writes;
};
/// Registers of an instruction of `f`.
Registers registers_of(const Function& f, const Instruction& i);
/// Registers of each instruction of the body.
std::vector<Registers> registers_of(const Function& f);

}  // namespace drywell::isa
