// Pictures of shared memory as a descriptor addresses it: the elements of an MMA operand, the rows of a tensor copy.
#pragma once

#include <string>
#include <vector>

#include "drywell/isa/layout/picture.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tensor_tile.h"

namespace drywell::isa {

/// Bytes [first, last) of shared memory.
struct ByteRun {
  uint64_t first = 0, last = 0;  // in bytes; `last` is not one of them
  bool operator==(const ByteRun&) const = default;
};

/// The bytes an operand touches, whole 16-byte units, merged and in order.
std::vector<ByteRun> operand_bytes(const SmemDescriptor& d, const OperandTile& tile);
/// "0x400..0xbff, 0x1000..0x13ff (3072 bytes)"
std::string to_string(const std::vector<ByteRun>& runs);

/// Memory in address order, 128 bytes a row: the elements in each 16-byte unit.
layout::Grid operand_memory(const SmemDescriptor& d, const OperandTile& tile, const layout::PictureOptions& options = {});
/// The operand, one of its lines a row: the address of each 16-byte unit.
layout::Grid operand_addresses(const SmemDescriptor& d, const OperandTile& tile, const layout::PictureOptions& options = {});

/// Shared memory after a tensor copy with `request`: the row of the box, and the bytes of it, in each 16-byte unit.
/// Offsets count from a destination aligned to the swizzle's period.
layout::Grid tensor_memory(const TensorMapFields& f, const TensorRequest& request, const layout::PictureOptions& options = {});

/// `rows` x `row_bytes` bytes stored row after row with a swizzle: the 16-byte unit, and its row, at each address. The
/// first byte is at address `base`.
layout::Grid swizzled_tile(Swizzle s, uint32_t rows, uint32_t row_bytes, uint32_t base, uint32_t element_bits,
                           const layout::PictureOptions& options = {});

}  // namespace drywell::isa
