#include "sim/timing/l2_contents.h"

#include <algorithm>
#include <utility>

namespace drywell::sim {

void L2Contents::host_wrote(uint64_t address, uint64_t bytes) {
  const uint64_t kept = std::min(bytes, capacity_);
  if (kept == 0) return;
  writes_.push_back({address + bytes - kept, static_cast<uint32_t>(kept)});
  written_ += kept;
  while (written_ - writes_.front().bytes >= capacity_) {
    written_ -= writes_.front().bytes;
    writes_.pop_front();
  }
}

void L2Contents::leave(std::vector<Line> lines) {
  lines_ = std::move(lines);
  writes_.clear();
  written_ = 0;
}

}  // namespace drywell::sim
