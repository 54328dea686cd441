// Shared storage for registers that are not live at the same time. PTX names thousands of registers and uses each a few times. Without
// sharing, a warp reads and writes its whole register file once per iteration, and the host's caches hold the registers of few warps.
#pragma once

#include <memory>

#include "sim/exec/decode.h"

namespace drywell::sim {

/// Assigns register offsets (reg_offset, frame_bytes; not for predicates) in a function without calls. Two registers share storage only if no lane's
/// results change: a register has its storage alone from its first to its last use in the text, loops included. Three kinds never share:
/// registers that are read before they are written, those of wgmma (the operation reads and writes them later), and those of shuffles.
void share_registers(FunctionCode& code);

/// Like decode(), for launches without listeners and without a runner option: the registers of a kernel without calls share storage.
std::unique_ptr<Program> decode_unwatched(const isa::Module& m, const isa::Function& f, const ModuleImage& image);

}  // namespace drywell::sim
