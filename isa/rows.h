// The table's rows as constants, for the table's queries and for the decoder, which needs each row's status at compile
// time to require the semantics of covered rows.
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
