// Registers that instructions read and write.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Of one instruction, its guard included. A guarded instruction also reads what it writes: if the guard is false, the old value stays.
struct Registers {
  std::vector<RegId> reads, writes;  // in the order of the operands; a register may be there twice
};
/// Registers of an instruction of `f`.
Registers registers_of(const Function& f, const Instruction& i);
/// Registers of each instruction of the body.
std::vector<Registers> registers_of(const Function& f);

/// For each instruction: 1 if all it does is to write registers that nothing reads but such instructions. ptxas makes no code for these.
std::vector<uint8_t> unused_instructions(const Function& f, const std::vector<Registers>& registers);

/// For each instruction: 1 if it writes registers that no other instruction reads.
std::vector<uint8_t> unread_results(const Function& f, const std::vector<Registers>& registers);

}  // namespace drywell::isa
