// An operand in shared memory against the layout that its author expects.
#pragma once

#include <vector>

#include "drywell/isa/layout/composed.h"
#include "drywell/sim/inspect/smem_history.h"

namespace drywell::sim {

/// The words (lane: line of the window, column: bank) in which the layout has other elements than the form, or one of the two has none.
/// The layout starts at the form's first byte; its two modes are rows and elements of a row, or its mode 0 has these two, as CuTe's
/// layouts of an MMA's operand. Its swizzle acts on addresses, as the hardware's. Throws InputError E1804 for a layout of another form,
/// E1808 for one larger than a CTA's shared memory.
std::vector<isa::TmemCells> differing_cells(const layout::ComposedLayout& expected, const SmemForm& form);

}  // namespace drywell::sim
