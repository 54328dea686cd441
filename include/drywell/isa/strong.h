// Which accesses of memory are strong (PTX ISA 8.3): those through which threads exchange values while a kernel runs.
#pragma once

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// True if the instruction has .volatile, .relaxed, .acquire, .release or .mmio. Atomic operations and reductions without one of them are
/// .relaxed and answer false here: their row says that they are atomic.
bool is_strong(const Instruction& i);
/// Strong, or .cv: the access takes nothing from a cache that another thread may have changed since.
bool is_uncached(const Instruction& i);

}  // namespace drywell::isa
