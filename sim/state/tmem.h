// Tensor memory of one SM: 128 lanes × 512 columns × 32 bit, and its column allocator (PTX ISA 9.7.16.1, 9.7.16.7).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "drywell/core/types.h"
#include "sim/state/state_vector.h"

namespace drywell::sim {

inline constexpr uint32_t kTmemLanes = 128;
inline constexpr uint32_t kTmemColumns = 512;
inline constexpr uint32_t kTmemUnit = 32;  // columns per allocation unit

class Tmem {
 public:
  explicit Tmem(StateMemory* memory = nullptr) : columns_(memory) {}

  uint32_t* column(uint32_t c) {
    if (columns_.empty()) columns_.assign(kTmemColumns, poisoned());
    return columns_[c].cells.data();
  }
  const uint32_t* column(uint32_t c) const {
    if (!columns_.empty()) return columns_[c].cells.data();
    static const Column unwritten = poisoned();
    return unwritten.cells.data();
  }
  uint32_t& at(uint32_t lane, uint32_t c) { return column(c)[lane]; }
  uint32_t at(uint32_t lane, uint32_t c) const { return column(c)[lane]; }

  /// First free aligned run of `columns` (a power of two ≥ 32), or -1. Lowest address first, as observed on hardware.
  int find_free(uint32_t columns) const {
    const uint32_t units = columns / kTmemUnit;
    for (uint32_t u = 0; u + units <= kUnits; u += units) {
      bool free = true;
      for (uint32_t i = 0; i < units; ++i) free = free && owner_[u + i] == 0;
      if (free) return static_cast<int>(u * kTmemUnit);
    }
    return -1;
  }
  /// True if [column, column + columns) is free.
  bool find_free_at(uint32_t column, uint32_t columns) const {
    for (uint32_t u = column / kTmemUnit; u < (column + columns) / kTmemUnit; ++u) {
      if (owner_[u] != 0) return false;
    }
    return true;
  }
  /// Marks a run as owned by `owner` (non-zero: CTA serial + 1).
  void allocate(uint32_t column, uint32_t columns, uint64_t owner) {
    for (uint32_t u = column / kTmemUnit; u < (column + columns) / kTmemUnit; ++u) {
      owner_[u] = latest_[u] = owner;
      freed_[u] = {};
    }
    size_[column / kTmemUnit] = static_cast<uint16_t>(columns);
  }
  /// Size of the live allocation that starts at `column` and belongs to `owner`; 0 if there is none.
  uint32_t allocation_at(uint32_t column, uint64_t owner) const {
    return column < kTmemColumns && column % kTmemUnit == 0 && owner_[column / kTmemUnit] == owner ? size_[column / kTmemUnit] : 0;
  }
  /// True if `owner` has freed such an allocation, and nobody has allocated its columns since.
  bool was_freed(uint32_t column, uint32_t columns, uint64_t owner) const {
    return column < kTmemColumns && column % kTmemUnit == 0 && freed_[column / kTmemUnit] == Freed{owner, columns};
  }
  void release(uint32_t column) {
    const uint32_t columns = size_[column / kTmemUnit];
    freed_[column / kTmemUnit] = {owner_[column / kTmemUnit], columns};
    for (uint32_t u = column / kTmemUnit; u < (column + columns) / kTmemUnit; ++u) owner_[u] = 0;
    size_[column / kTmemUnit] = 0;
  }
  /// True if [column, column + count) belongs to `owner`.
  bool owns(uint32_t column, uint32_t count, uint64_t owner) const {
    if (count == 0 || column + count > kTmemColumns) return false;
    for (uint32_t u = column / kTmemUnit; u <= (column + count - 1) / kTmemUnit; ++u) {
      if (owner_[u] != owner) return false;
    }
    return true;
  }
  /// True if each column belongs to `owner`, or did before it was freed and nobody has allocated it since: a use of freed columns is
  /// performed as long as it changes nobody else's; the checker reports it.
  bool reaches(uint32_t column, uint32_t count, uint64_t owner) const {
    if (count == 0 || column + count > kTmemColumns) return false;
    for (uint32_t u = column / kTmemUnit; u <= (column + count - 1) / kTmemUnit; ++u) {
      if (owner_[u] != owner && (owner_[u] != 0 || latest_[u] != owner)) return false;
    }
    return true;
  }
  bool owns_any(uint64_t owner) const {
    for (uint64_t o : owner_)
      if (o == owner) return true;
    return false;
  }

 private:
  static constexpr uint32_t kUnits = kTmemColumns / kTmemUnit;
  struct Freed {
    uint64_t owner = 0;
    uint32_t columns = 0;
    bool operator==(const Freed&) const = default;
  };
  static constexpr uint32_t kPoison = 0xFFFFFFFF;  // NaN: unwritten TMEM never looks like a result

  // A warp's 32 lanes of a column are one 128-byte run, like a register. Host vectors do not straddle cache lines.
  struct alignas(64) Column {
    std::array<uint32_t, kTmemLanes> cells;
  };
  static Column poisoned() {
    Column c;
    c.cells.fill(kPoison);
    return c;
  }
  StateVector<Column> columns_;  // made when one is written: 256 KiB that most CTAs do not use
  std::array<uint64_t, kUnits> owner_{};
  std::array<uint64_t, kUnits> latest_{};  // who allocated the unit last
  std::array<uint16_t, kUnits> size_{};
  std::array<Freed, kUnits> freed_{};  // by the first unit of what was freed
};

}  // namespace drywell::sim
