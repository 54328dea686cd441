// Maps PTX's type tokens and targets to the rows of sim/numeric.
#pragma once

#include "drywell/isa/mods.h"
#include "drywell/isa/target.h"
#include "drywell/sim/numeric/mma.h"

namespace drywell::sim {

numeric::Format format_of(isa::Mod type);
numeric::MmaKind mma_kind(isa::Mod type_of_a);
numeric::MmaArch mma_arch(isa::Target target);
/// Index in numeric::mma_rows() of the row for `query`; throws Unsupported if no public source describes such a row.
uint32_t find_row(const numeric::MmaQuery& query);
uint32_t half_to_float_bits(uint32_t half);

}  // namespace drywell::sim
