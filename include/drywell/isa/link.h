// Links several translation units into one module, as nvlink does for objects of `nvcc -rdc=true`.
#pragma once

#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::isa {

/// Joins modules by PTX's linkage (PTX ISA 10, linking directives). An .extern declaration refers to the definition in
/// another unit; of several .weak and .common definitions the result keeps the first, unless one is .visible; internal
/// names stay separate and are renamed where two units use the same name. Target and version are the newest of the units.
/// Throws InputError E4604 if a name has two definitions. May be called at the same time.
Module link(std::vector<Module> units);

}  // namespace drywell::isa
