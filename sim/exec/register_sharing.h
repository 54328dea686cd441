// Registers that are never needed at the same time in one place. PTX names thousands of registers and uses each a few times: a warp
// whose registers lie one behind the other walks through its whole register file once per iteration, and the host's caches hold few warps.
#pragma once

#include <memory>

#include "sim/exec/decode.h"

namespace drywell::sim {

/// Gives the registers of a function without calls offsets (reg_offset, frame_bytes; not the predicates) such that two of them share storage only where no lane can
/// tell: from its first to its last use in the text, loops included, a register is alone. Apart from all others are registers read
/// before they are written, those of wgmma, which are read and written later, and those of shuffles.
void share_registers(FunctionCode& code);

/// As decode(), for launches nobody looks into: the registers of a kernel without calls share storage.
std::unique_ptr<Program> decode_unwatched(const isa::Module& m, const isa::Function& f, const ModuleImage& image);

}  // namespace drywell::sim
