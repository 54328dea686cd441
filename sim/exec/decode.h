// Decodes a kernel of a module into the program that the simulator runs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/state/program.h"

namespace drywell::sim {

/// Global memory addresses of the module's variables, by index into Module::variables.
struct ModuleImage {
  std::vector<uint64_t> variable_address;
  /// The chip that executes: PTX of an older target runs with its arithmetic.
  isa::Target machine = isa::Target::sm_100a;
};

/// Decodes an entry function and every function it can reach. Throws InputError for illegal programs; unsupported instructions
/// decode to an operation that faults with U-code when reached, naming the instruction.
std::unique_ptr<Program> decode(const isa::Module& m, const isa::Function& f, const ModuleImage& image);

}  // namespace drywell::sim
