// Layout of a program's shared variables.
#pragma once

#include <vector>

#include "sim/state/program.h"

namespace drywell::sim {

struct SharedVariable {
  static constexpr uint32_t kModule = ~uint32_t{0};
  const isa::Variable* variable = nullptr;
  uint32_t function = kModule;  // in Program::functions; kModule: a variable of the module
  uint32_t index = 0;           // among the variables of its owner
  uint32_t offset = 0;          // in the shared memory of its CTA
  bool dynamic = false;         // the launch's dynamic block begins here
};

struct SharedLayout {
  std::vector<SharedVariable> variables;
  uint32_t static_bytes = 0;  // after the reserved part
  uint32_t dynamic_align = 1;
};

/// Static shared variables follow the reserved part, in this order: the module's variables that these functions name, in declaration
/// order; the variables of the functions; the dynamic block.
SharedLayout lay_out_shared(const isa::Module& m, const std::vector<FunctionCode>& functions);

}  // namespace drywell::sim
