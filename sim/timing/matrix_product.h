// The machine instructions of a product by mma.sync. The figures of the class are for a product whose rows of A have 32 bytes; types that the matrix
// pipe lacks are products of others, between instructions that make their operands (ptxas 13.0 for sm_90a, sm_100a and sm_120a;
// emulated.toml of tests/corpus/timing/mechanisms, traces/hw/h200-2026-11-28-emulated.csv).
#pragma once

#include <cstdint>
#include <set>

#include "drywell/isa/instruction.h"
#include "drywell/isa/target.h"

namespace drywell::sim {

struct MatrixProduct {
  double times = 1;       // the time of the matrix pipe, in products of the class
  uint16_t slots = 1;     // issue cycles
  uint16_t sequence = 0;  // cycles of a sequence that stays in its place; 0: none
};

class MatrixProducts {
 public:
  explicit MatrixProducts(isa::Target target) : target_(target) {}

  MatrixProduct of(const isa::Function& f, const isa::Instruction& i);
  /// The instruction writes registers: 8-bit floats in them are not yet halves.
  void writes(const isa::Function& f, const isa::Instruction& i);
  /// What was made before is lost.
  void forget() { halves_.clear(); }

 private:
  MatrixProduct of_floats8(const isa::Function& f, const isa::Instruction& i, double times);
  MatrixProduct of_bits(const isa::Function& f, const isa::Instruction& i, double times) const;

  isa::Target target_;
  std::set<isa::RegId> halves_;  // registers of 8-bit floats whose halves the block has
};

}  // namespace drywell::sim
