// A piece of memory that an operation reads or writes.
#pragma once

#include <cstdint>

namespace drywell::sim {

/// Memories that spans are of.
enum class Memory : uint8_t {
  shared,
  tmem,
  global
};

/// A run of bytes, or a rectangle of tensor memory cells.
struct Span {
  Memory memory = Memory::shared;    // which
  uint32_t cta = 0;                  // rank of the CTA it belongs to (shared, tmem)
  uint64_t begin = 0;                // shared: offset in the CTA's window; global: address
  uint64_t bytes = 0;                // shared, global: how many
  uint32_t lane = 0, lanes = 0;      // tmem
  uint32_t column = 0, columns = 0;  // tmem
  bool operator==(const Span&) const = default;
};

}  // namespace drywell::sim
