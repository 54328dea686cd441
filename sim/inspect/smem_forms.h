// Elements of shared memory: of the box of a tensor copy through its swizzle, and of an operand of tcgen05.mma through its descriptor.
#pragma once

#include "drywell/isa/smem_descriptor.h"
#include "drywell/sim/inspect/smem_history.h"
#include "sim/engine/tensor_plan.h"

namespace drywell::sim {

/// The blocks of `bytes` contiguous bytes at `address` of the window that hold elements from (row, index) on: `bits` of value each, packed.
void add_blocks(std::vector<isa::TmemBlock>& out, uint32_t address, uint32_t bytes, uint32_t row, uint32_t index, uint32_t bits);

/// A tile of elements that starts at `smem` of the window: rows of the box from 0 on, elements of a row from 0 on.
std::vector<isa::TmemBlock> box_blocks(const TensorPlan& plan, uint32_t smem);
/// An operand's rows from `first_row` on.
std::vector<isa::TmemBlock> operand_blocks(const isa::SmemDescriptor& d, const isa::OperandTile& tile, uint32_t first_row);

/// "bf16": how the bytes of the tensor's elements read.
std::string element_name(isa::TensorType t);

}  // namespace drywell::sim
