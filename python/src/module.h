// A parsed PTX module, as Python holds it.
#pragma once

#include "drywell/isa/instruction.h"
#include "python/src/binding.h"

namespace drywell::python {

struct ParsedModule {
  isa::Module module;
};

}  // namespace drywell::python
