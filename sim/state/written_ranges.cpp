#include "sim/state/written_ranges.h"

#include <algorithm>
#include <iterator>

namespace drywell::sim {

void WrittenRanges::add(uint64_t begin, uint64_t end) {
  if (all_ || begin >= end) return;
  auto next = parts_.upper_bound(begin);
  if (next != parts_.begin() && std::prev(next)->second >= begin) --next;  // reaches it
  while (next != parts_.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = parts_.erase(next);
  }
  parts_.emplace(begin, end);
  if (parts_.size() > kMostParts) add_all();
}

bool WrittenRanges::touches(uint64_t begin, uint64_t end) const {
  if (all_) return true;
  const auto next = parts_.lower_bound(end);
  return next != parts_.begin() && std::prev(next)->second > begin;
}

}  // namespace drywell::sim
