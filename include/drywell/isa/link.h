// Several translation units become one module, as objects compiled with `nvcc -rdc=true` do in nvlink.
#pragma once

#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Joins modules by PTX's linkage (PTX ISA 10, linking directives): what one declares .extern another defines; of .weak and
/// .common definitions the first is kept unless one is .visible; what is internal stays apart, under another name where two
/// units use the same. Target and version are the first unit's. Throws InputError E4604 if a name is defined twice.
Module link(std::vector<Module> units);

}  // namespace drywell::isa
