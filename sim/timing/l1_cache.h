// Tags of an SM's L1: the sectors of global memory that it holds. Set-associative, least recently used
// line out.
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/core/types.h"

namespace drywell::sim {

class L1Cache {
 public:
  static constexpr uint32_t kWays = 4;
  /// Sets the size to `bytes` of 128-byte lines.
  void resize(uint64_t bytes) {
    sets_ = bytes / 128 / kWays;
    lines_.assign(sets_ * kWays, {});
  }
  /// Returns true if all sectors of [address, address + bytes) are present.
  bool contains(uint64_t address, uint32_t bytes) {
    if (sets_ == 0) return false;
    for (uint64_t line = address / 128; line <= (address + bytes - 1) / 128; ++line) {
      const Line* l = find(line);
      if (l == nullptr || (l->sectors & mask(line, address, bytes)) != mask(line, address, bytes))
        return false;
    }
    return true;
  }
  void fill(uint64_t address, uint32_t bytes) {
    if (sets_ == 0) return;
    for (uint64_t line = address / 128; line <= (address + bytes - 1) / 128; ++line) {
      Line* l = find(line);
      if (l == nullptr) {
        l = victim(line);
        *l = {line, 0, 0};
      }
      l->sectors |= mask(line, address, bytes);
      l->used = ++clock_;
    }
  }

 private:
  struct Line {
    uint64_t tag = ~uint64_t{0};
    uint64_t used = 0;
    uint8_t sectors = 0;
  };
  static uint8_t mask(uint64_t line, uint64_t address, uint32_t bytes) {
    const uint64_t base = line * 128, first = address > base ? (address - base) / 32 : 0;
    const uint64_t last = address + bytes >= base + 128 ? 3 : (address + bytes - 1 - base) / 32;
    return static_cast<uint8_t>(((2u << last) - 1) & ~((1u << first) - 1));
  }
  Line* set_of(uint64_t line) { return &lines_[(line ^ (line / sets_)) % sets_ * kWays]; }
  Line* find(uint64_t line) {
    Line* s = set_of(line);
    for (uint32_t w = 0; w < kWays; ++w) {
      if (s[w].tag == line) {
        s[w].used = ++clock_;
        return &s[w];
      }
    }
    return nullptr;
  }
  Line* victim(uint64_t line) {
    Line* s = set_of(line);
    Line* oldest = s;
    for (uint32_t w = 1; w < kWays; ++w) {
      if (s[w].used < oldest->used) oldest = &s[w];
    }
    return oldest;
  }
  uint64_t sets_ = 0, clock_ = 0;
  std::vector<Line> lines_;
};

}  // namespace drywell::sim
