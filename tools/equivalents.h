// Mutants that nothing need report: what they change has no effect, and why. docs/hazards.md lists them by kernel.
#pragma once

#include <string>

#include "tools/mutation.h"

namespace drywell::tools {

/// Why a mutant that survived every schedule is equivalent to the kernel; empty: no reason is known. The reasons hold because the
/// checker, which judges by what happens before what, found nothing that relied on what was taken out.
std::string equivalence(const Mutant& m);

}  // namespace drywell::tools
