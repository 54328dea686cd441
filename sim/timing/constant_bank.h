// Which loads of constant memory are at an address that `ptxas` knows: an operand of another instruction then, no load.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/isa/instruction.h"

namespace drywell::sim {

class ConstantBank {
 public:
  explicit ConstantBank(const isa::Function& f);
  /// Is the address in a register that may differ from launch to launch, or from lane to lane?
  bool is_indexed(const isa::Function& f, const isa::Instruction& i) const;

 private:
  std::vector<uint8_t> known_;  // by register
};

}  // namespace drywell::sim
