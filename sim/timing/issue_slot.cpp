#include "sim/timing/issue_slot.h"

#include <algorithm>

namespace drywell::sim {

uint16_t IssueSlot::add(uint32_t warp) {
  warps_.push_back(warp);
  at_.push_back(kNever);
  last_.push_back(0);
  return static_cast<uint16_t>(warps_.size() - 1);
}

// The last warp moves to the free place.
uint32_t IssueSlot::remove(uint16_t place) {
  const uint32_t moved = warps_[place] = warps_.back();
  at_[place] = at_.back();
  last_[place] = last_.back();
  warps_.pop_back();
  at_.pop_back();
  last_.pop_back();
  select();
  return moved;
}

void IssueSlot::offer(uint16_t place, Time at) {
  at_[place] = at;
  select();
}

// The next pick waits until the warp is offered again: the instruction just executed determines when.
void IssueSlot::issue(bool shared) {
  const Time t = next_;
  if (shared) last_shared_ = t + 1;
  free_ = t + 1;
  last_[pick_] = t;
  ++issued_;
}

void IssueSlot::select() {
  Time best = kNever, last = kNever;
  uint32_t pick = 0;
  for (uint32_t i = 0; i < at_.size(); ++i) {
    if (at_[i] < best || (at_[i] == best && last_[i] < last)) {
      best = at_[i];
      last = last_[i];
      pick = i;
    }
  }
  pick_ = pick;
  next_ = best == kNever ? kNever : std::max(best, free_);
}

Turn next_turn(std::span<IssueSlot* const> slots) {
  Turn t;
  bool any = false;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Time at = slots[i]->next();
    if (at < t.at || (at == t.at && any && slots[i]->last_shared() < slots[t.slot]->last_shared())) {
      t = {i, at, t.at};
      any = true;
    } else {
      t.second = std::min(t.second, at);
    }
  }
  return t;
}

}  // namespace drywell::sim
