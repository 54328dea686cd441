// The rows themselves, as constants. Included by the table's queries and by the decoder, which needs each row's status at
// compile time to know which semantics must exist.
#pragma once

#include "drywell/isa/opcode.h"
#include "drywell/isa/spec.h"
#include "isa/legality/legality.h"
#include "isa/slots.h"

namespace drywell::isa {

inline constexpr InstrSpec kSpecs[] = {
#define INSTR(OP_, ...) InstrSpec{__VA_ARGS__},
#include "drywell/isa/table/all.inc"
#undef INSTR
};

}  // namespace drywell::isa
