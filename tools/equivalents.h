// Mutants that nothing need report: what they change has no effect, and why. docs/hazards.md lists them by kernel.
#pragma once

#include <string>

#include "tools/mutation.h"

namespace drywell::tools {

/// Why a mutant that survived every schedule is equivalent to the kernel; empty: no reason is known. The reasons hold because the
/// checker, which judges by what happens before what, found nothing that relied on what was taken out. `no_news`: the mutant is of a
/// wait that, in every run of the kernel as it is, asked for phases its warp already knew to be complete.
std::string equivalence(const Mutant& m, bool no_news);

}  // namespace drywell::tools
