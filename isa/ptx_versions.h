// Versions of PTX (.version). Private to isa.
#pragma once

#include "drywell/isa/target.h"

namespace drywell::isa {

/// The newest one that Drywell knows.
PtxVersion newest_version();
/// False for a number that PTX has never had, 8.9 for example. Nothing is known about those above newest_version(): true.
bool is_version(PtxVersion v);
/// The oldest one that has the target.
PtxVersion oldest_version(Target t);

}  // namespace drywell::isa
