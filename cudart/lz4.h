// LZ4 blocks, as fat binaries compress their images with: nothing but the block format (lz4_Block_format.md of the LZ4
// project), which is stable and small.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace drywell::cudart {

/// The `bytes` bytes `block` stands for, or nothing if it is damaged.
std::optional<std::vector<uint8_t>> lz4_block(std::span<const uint8_t> block, size_t bytes);

}  // namespace drywell::cudart
