// Operands of products whose rows overlap: the strides of the descriptor are smaller than what they step over.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "drywell/isa/smem_descriptor.h"
#include "sim/state/async_op.h"

namespace drywell::sim::check {

/// Answers are kept by descriptor without its start address, and tile: a main loop has few of them.
class OperandStrides {
 public:
  /// Describes the first operand of which some bytes are more than one of its elements; empty: there is none.
  std::string overlap(const Umma& u);
  std::string overlap(const Wgmma& p);

 private:
  std::string describe(const char* name, uint64_t word, isa::SmemDescriptorFormat format, const isa::OperandTile& tile);

  using Key = std::tuple<uint64_t, isa::Major, isa::SmemElement, uint32_t, uint32_t>;
  std::map<Key, bool> known_;
};

}  // namespace drywell::sim::check
