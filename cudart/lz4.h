// LZ4 blocks, as in compressed images of fat binaries: only the block format (lz4_Block_format.md of the LZ4 project),
// which is stable and small.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace drywell::cudart {

/// Decompresses a block to `bytes` bytes; nothing if the block is damaged.
std::optional<std::vector<uint8_t>> lz4_block(std::span<const uint8_t> block, size_t bytes);

}  // namespace drywell::cudart
