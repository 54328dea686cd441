#include "sim/check/operation_queue.h"

namespace drywell::sim::check {

void OperationQueue::wait_groups(uint64_t allowed, bool reads_only, Clock& seen) {
  constexpr size_t kKept = 256;
  if (groups_.size() <= allowed) return;
  const uint32_t over = groups_[groups_.size() - 1 - allowed];
  if (read != 0) seen.raise(read, over);
  if (!reads_only && done != 0) seen.raise(done, over);
  if (groups_.size() > kKept) groups_.erase(groups_.begin(), groups_.end() - kKept / 2);
  std::erase_if(sources_, [&](const Source& s) { return s.number <= over; });
}

}  // namespace drywell::sim::check
