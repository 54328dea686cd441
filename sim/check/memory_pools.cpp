// Which part of global memory the program's allocator has handed out.
#include <fmt/format.h>

#include <algorithm>

#include "drywell/sim/check.h"

namespace drywell::sim {
namespace {

using Range = MemoryPools::Range;

/// The last range that does not begin behind `at`; nullptr if there is none.
const Range* below(const std::vector<Range>& ranges, uint64_t at) {
  const auto next = std::upper_bound(ranges.begin(), ranges.end(), at, [](uint64_t a, const Range& r) { return a < r.begin; });
  return next == ranges.begin() ? nullptr : &*std::prev(next);
}

}  // namespace

bool MemoryPools::unowned(uint64_t begin, uint64_t end) const {
  const Range* block = below(blocks, begin);
  if (block != nullptr && end <= block->end) return false;
  const Range* pool = below(pools, begin);
  return pool != nullptr && begin < pool->end;
}

std::string MemoryPools::neighbourhood(uint64_t begin, uint64_t end) const {
  const Range* block = below(blocks, begin);
  if (block == nullptr) return {};
  const std::string behind = begin < block->end ? fmt::format(", its last {} bytes behind", end - block->end) : begin == block->end ? ", just behind"
                                                                                                                                    : fmt::format(", {} bytes behind", begin - block->end);
  return fmt::format("{} a tensor's {} bytes at {:#x}", behind, block->end - block->begin, block->begin);
}

}  // namespace drywell::sim
