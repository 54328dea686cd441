#include "cudart/lz4.h"

namespace drywell::cudart {

std::optional<std::vector<uint8_t>> lz4_block(std::span<const uint8_t> block, size_t bytes) {
  // A literal takes one byte, and a byte of a match at least 1/255 byte of input: a larger size is damage and would
  // only allocate memory.
  if (bytes / 256 > block.size()) return std::nullopt;
  std::vector<uint8_t> out;
  out.reserve(bytes);
  size_t at = 0;
  // A length of 15 continues in the following bytes, until one is not 255.
  const auto length = [&](size_t first) -> std::optional<size_t> {
    size_t n = first;
    for (uint8_t more = 255; first == 15 && more == 255; n += more) {
      if (at == block.size()) return std::nullopt;
      more = block[at++];
    }
    return n;
  };
  while (at < block.size()) {
    const uint8_t token = block[at++];
    const auto literals = length(token >> 4);
    if (!literals || *literals > block.size() - at || *literals > bytes - out.size()) return std::nullopt;
    out.insert(out.end(), block.begin() + static_cast<ptrdiff_t>(at), block.begin() + static_cast<ptrdiff_t>(at + *literals));
    at += *literals;
    if (at == block.size()) break;  // the last sequence has no match
    if (block.size() - at < 2) return std::nullopt;
    const size_t offset = block[at] | block[at + 1] << 8;
    at += 2;
    const auto match = length(token & 15);
    if (!match || offset == 0 || offset > out.size() || *match + 4 > bytes - out.size()) return std::nullopt;
    for (size_t i = 0; i < *match + 4; ++i) out.push_back(out[out.size() - offset]);  // may overlap itself
  }
  if (out.size() != bytes) return std::nullopt;
  return out;
}

}  // namespace drywell::cudart
