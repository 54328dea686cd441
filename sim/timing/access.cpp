#include "drywell/sim/access.h"

#include <algorithm>
#include <array>
#include <bit>

namespace drywell::sim {
namespace {

bool is_contiguous(const LaneAddresses& a) {
  if (a.mask != kFullMask) return false;
  // Differences of neighbours: a loop without products, for vectors.
  uint64_t wrong = 0;
  for (uint32_t i = 1; i < kWarpSize; ++i) wrong |= (a.at[i] - a.at[i - 1]) ^ a.bytes;
  return wrong == 0;
}

// Does every lane of the mask read the same bytes as the lane whose number differs in that bit?
bool equal_neighbours(const LaneAddresses& a, uint32_t bit) {
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m)), other = lane ^ bit;
    if ((a.mask >> other & 1) != 0 && a.at[lane] != a.at[other]) return false;
  }
  return true;
}

// Lanes that fill 128 bytes go together; twice as many if neighbours, or neighbours but one, read the same bytes (shared-loads of
// traces/hw/h200-2026-11-23-mechanisms.csv).
uint32_t lanes_per_pass(const LaneAddresses& a) {
  if (a.bytes <= 4) return 32;
  const uint32_t lanes = std::max(1u, 128 / a.bytes);
  return equal_neighbours(a, 1) || equal_neighbours(a, 2) ? std::min(32u, 2 * lanes) : lanes;
}

// Words of 32 banks side by side: no bank has two of them. The loop has no branch.
bool in_one_row(const LaneAddresses& a, LaneMask group) {
  uint64_t low = ~uint64_t{0}, high = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const uint64_t out = uint64_t{group >> i & 1} - 1;  // all bits of a lane that is not of the group
    low = std::min(low, a.at[i] | out);
    high = std::max(high, a.at[i] & ~out);
  }
  return (high + a.bytes - 1) / 4 - low / 4 < kWarpSize;
}

// The words of a group of lanes in each bank. A lane has at most one word of a bank, because an access is of 128 bytes at most.
class Banks {
 public:
  void add(uint64_t word) {
    const size_t bank = word % kWarpSize;
    uint64_t* const end = words_[bank].data() + count_[bank];
    if (std::find(words_[bank].data(), end, word) == end) words_[bank][count_[bank]++] = word;
  }
  uint32_t most() const { return *std::max_element(count_.begin(), count_.end()); }

 private:
  std::array<std::array<uint64_t, kWarpSize>, kWarpSize> words_;  // only the first count_ of a bank are set
  std::array<uint8_t, kWarpSize> count_{};
};

// One group of lanes: the largest number of distinct words in a bank.
uint32_t conflict(const LaneAddresses& a, LaneMask group) {
  if (in_one_row(a, group)) return 1;
  Banks banks;
  for (LaneMask m = group; m != 0; m &= m - 1) {
    const uint64_t address = a.at[static_cast<size_t>(std::countr_zero(m))];
    for (uint64_t w = address / 4; w <= (address + a.bytes - 1) / 4; ++w) banks.add(w);
  }
  return banks.most();
}

}  // namespace

uint32_t smem_ideal_wavefronts(const LaneAddresses& a) {
  return std::max(1u, (static_cast<uint32_t>(std::popcount(a.mask)) * a.bytes + 127) / 128);
}

uint32_t smem_wavefronts(const LaneAddresses& a) {
  if (a.mask == 0) return 0;
  if (is_contiguous(a)) return std::max(1u, kWarpSize * a.bytes / 128);
  const uint32_t step = lanes_per_pass(a);
  uint32_t total = 0;
  for (uint32_t i = 0; i < kWarpSize; i += step) {
    const LaneMask group = a.mask & (step == kWarpSize ? kFullMask : ((1u << step) - 1) << i);
    if (group != 0) total += conflict(a, group);
  }
  return total;
}

uint32_t gmem_sectors(const LaneAddresses& a, std::vector<ByteRange>& out) {
  if (a.mask == 0) return 0;
  if (is_contiguous(a)) {
    const uint64_t first = a.at[0] & ~uint64_t{31},
                   last = (a.at[0] + uint64_t{kWarpSize} * a.bytes + 31) & ~uint64_t{31};
    out.push_back({first, static_cast<uint32_t>(last - first)});
    return static_cast<uint32_t>((last - 1) / 128 - first / 128 + 1);
  }
  std::array<uint64_t, 2 * kWarpSize> sectors;
  size_t n = 0;
  bool sorted = true;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const uint64_t address = a.at[static_cast<size_t>(std::countr_zero(m))];
    for (uint64_t s = address / 32; s <= (address + a.bytes - 1) / 32; ++s) {
      if (n != 0 && (sectors[n - 1] == s)) continue;
      sorted = sorted && (n == 0 || sectors[n - 1] < s);
      if (n < sectors.size()) sectors[n++] = s;
    }
  }
  if (!sorted) std::sort(sectors.begin(), sectors.begin() + static_cast<ptrdiff_t>(n));
  n = static_cast<size_t>(std::unique(sectors.begin(), sectors.begin() + static_cast<ptrdiff_t>(n)) -
                          sectors.begin());
  uint32_t lines = 0;
  for (size_t i = 0; i < n; ++i) {
    if (i == 0 || sectors[i] / 4 != sectors[i - 1] / 4) ++lines;
    if (i != 0 && sectors[i] == sectors[i - 1] + 1) {
      out.back().bytes += 32;
    } else {
      out.push_back({sectors[i] * 32, 32});
    }
  }
  return lines;
}

uint32_t gmem_stored_sectors(const LaneAddresses& a, std::vector<ByteRange>& out) {
  const size_t first = out.size();
  const uint32_t lines = gmem_sectors(a, out);
  uint64_t sectors = 0;
  for (size_t i = first; i < out.size(); ++i) sectors += out[i].bytes / 32;
  const uint64_t written = uint64_t{static_cast<uint32_t>(std::popcount(a.mask))} * a.bytes;
  if (written >= 32 * sectors) return lines;
  // A row of neighbours has at most its ends in parts; of scattered lanes each counts.
  const bool row = out.size() == first + 1 && 32 * sectors - written < 64;
  for (size_t i = first; i < out.size(); ++i) out[i].turns = row ? std::min(2u, out[i].bytes / 32) : out[i].bytes / 32;
  return lines;
}

uint32_t gmem_atomic_sectors(const LaneAddresses& a, std::vector<ByteRange>& out) {
  std::array<uint64_t, kWarpSize> words;
  size_t n = 0;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) words[n++] = a.at[static_cast<size_t>(std::countr_zero(m))];
  std::sort(words.begin(), words.begin() + static_cast<ptrdiff_t>(n));
  uint32_t lines = 0;
  uint64_t line = ~uint64_t{0};
  for (size_t i = 0; i < n;) {
    const uint64_t sector = words[i] / 32;
    if (sector / 4 != line) ++lines;
    line = sector / 4;
    ByteRange run{sector * 32, 32};
    while (i < n && words[i] / 32 == sector) {
      const size_t start = i;
      while (i < n && words[i] == words[start]) ++i;
      run.turns = std::max(run.turns, static_cast<uint32_t>(i - start));
    }
    out.push_back(run);
  }
  return lines;
}

SmemContention smem_contention(const LaneAddresses& a) {
  std::array<uint8_t, kWarpSize> at_bank{};
  std::array<uint64_t, kWarpSize> words;
  size_t n = 0;
  SmemContention c;
  for (LaneMask m = a.mask; m != 0; m &= m - 1) {
    const uint64_t word = a.at[static_cast<size_t>(std::countr_zero(m))] / 4;
    words[n++] = word;
    c.bank = std::max<uint32_t>(c.bank, ++at_bank[word % kWarpSize]);
  }
  std::sort(words.begin(), words.begin() + static_cast<ptrdiff_t>(n));
  for (size_t i = 0, start = 0; i < n; ++i) {
    if (words[i] != words[start]) start = i;
    c.word = std::max(c.word, static_cast<uint32_t>(i - start + 1));
  }
  return c;
}

}  // namespace drywell::sim
