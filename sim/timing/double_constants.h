// The constants of double-precision arithmetic. A machine instruction holds the upper word of one; of others ptxas moves both words into registers
// first, once in a loop or after a call (sincos, exp and horner of f64.toml of tests/corpus/timing/mechanisms, by ptxas 13.0 for sm_90a).
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "drywell/isa/instruction.h"

namespace drywell::sim {

class DoubleConstants {
 public:
  explicit DoubleConstants(const isa::Function& f);

  /// Machine instructions that bring the instruction's constants, less those that are there already.
  uint8_t new_words(const isa::Function& f, const isa::Instruction& i);
  /// What was brought before is lost.
  void forget() { there_.clear(); }

 private:
  std::map<isa::RegId, uint64_t> of_register_;  // registers that hold a constant
  std::set<uint64_t> there_;
};

}  // namespace drywell::sim
