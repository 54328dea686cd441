// Tags of an SM's L1: the sectors of global memory that it holds. Set-associative, least recently used
// line out. A load of a sector that another one has requested waits for that request.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "drywell/core/types.h"
#include "drywell/sim/access.h"

namespace drywell::sim {

class L1Cache {
 public:
  static constexpr uint32_t kWays = 4;
  /// Sets the size to `bytes` of 128-byte lines.
  void resize(uint64_t bytes) {
    sets_ = bytes / 128 / kWays;
    lines_.assign(sets_ * kWays, {});
  }
  /// The sectors of a load that are in the L1, that a load before it has requested, and that it has to request.
  struct Found {
    uint32_t absent = 0;              // sectors
    std::optional<uint32_t> awaited;  // token of the request that brings one of them
  };
  /// Looks up [address, address + bytes); appends the runs that are absent to `missing`.
  void look_up(uint64_t address, uint32_t bytes, std::vector<ByteRange>& missing, Found& found) {
    if (sets_ == 0) {
      missing.push_back({address, bytes});
      found.absent += bytes / 32;
      return;
    }
    for (uint64_t sector = address / 32; sector < (address + bytes + 31) / 32; ++sector) {
      const Line* l = find(sector / 4);
      const auto bit = static_cast<uint8_t>(1u << (sector % 4));
      if (l != nullptr && (l->sectors & bit) != 0) continue;
      if (l != nullptr && (l->coming & bit) != 0) {
        found.awaited = l->token[sector % 4];
        continue;
      }
      ++found.absent;
      if (!missing.empty() && missing.back().address + missing.back().bytes == sector * 32) missing.back().bytes += 32;
      else missing.push_back({sector * 32, 32});
    }
  }
  /// A request with that token will bring the sectors.
  void expect(uint64_t address, uint32_t bytes, uint32_t token) {
    if (sets_ == 0) return;
    for (uint64_t sector = address / 32; sector < (address + bytes + 31) / 32; ++sector) {
      Line& l = line_of(sector / 4);
      l.coming |= static_cast<uint8_t>(1u << (sector % 4));
      l.token[sector % 4] = token;
    }
  }
  /// The request has brought them.
  void fill(uint64_t address, uint32_t bytes) {
    if (sets_ == 0) return;
    for (uint64_t sector = address / 32; sector < (address + bytes + 31) / 32; ++sector) {
      Line& l = line_of(sector / 4);
      const auto bit = static_cast<uint8_t>(1u << (sector % 4));
      l.sectors |= bit;
      l.coming &= static_cast<uint8_t>(~bit);
    }
  }

 private:
  struct Line {
    uint64_t tag = ~uint64_t{0};
    uint64_t used = 0;
    uint8_t sectors = 0, coming = 0;
    std::array<uint32_t, 4> token{};  // of the sectors that are coming
  };
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
  // The line of that tag, used now; another one leaves for it.
  Line& line_of(uint64_t tag) {
    Line* l = find(tag);
    if (l == nullptr) {
      l = victim(tag);
      *l = Line{.tag = tag};
    }
    l->used = ++clock_;
    return *l;
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
