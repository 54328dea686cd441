#include "sim/timing/issue_slot.h"

#include <algorithm>

namespace drywell::sim {

uint16_t IssueSlot::add(uint32_t warp) {
  warps_.push_back(warp);
  at_.push_back(kNever);
  last_.push_back(0);
  admission_.push_back(0);
  return static_cast<uint16_t>(warps_.size() - 1);
}

// The last warp moves to the free place.
uint32_t IssueSlot::remove(uint16_t place) {
  const uint32_t moved = warps_[place] = warps_.back();
  at_[place] = at_.back();
  last_[place] = last_.back();
  admission_[place] = admission_.back();
  const auto last = static_cast<uint32_t>(warps_.size() - 1);
  if (current_ == place)
    current_ = kNone;
  else if (current_ == last)
    current_ = place;
  warps_.pop_back();
  at_.pop_back();
  last_.pop_back();
  admission_.pop_back();
  select();
  return moved;
}

void IssueSlot::offer(uint16_t place, Time at, uint16_t admission) {
  at_[place] = at;
  admission_[place] = admission;
  select();
}

/// The order of picks.
bool IssueSlot::before(uint32_t a, uint32_t b) const {
  if (a == current_ || b == current_) {
    const Time now_a = std::max(at_[a], free_), now_b = std::max(at_[b], free_);
    if (now_a != now_b) return now_a < now_b;
    return a == current_;
  }
  return at_[a] != at_[b] ? at_[a] < at_[b] : last_[a] != last_[b] ? last_[a] < last_[b]
                                                                   : a < b;
}

// At once instead of one after the other: many warps wait for a unit that is busy.
void IssueSlot::put_off(Time until) {
  const uint16_t refused = admission_[pick_];
  const Time now = next_;
  const auto count = static_cast<uint32_t>(at_.size());
  uint32_t other = kNone;  // the first of the other classes
  for (uint32_t i = 0; i < count; ++i) {
    if (admission_[i] != refused && (other == kNone || before(i, other))) other = i;
  }
  uint32_t best = other;
  for (uint32_t i = 0; i < count; ++i) {
    if (admission_[i] != refused) continue;
    if (at_[i] <= now && (other == kNone || before(i, other))) at_[i] = until;
    if (best == kNone || before(i, best)) best = i;
  }
  pick(best);
}

// The next pick waits until the warp is offered again: the instruction just executed determines when.
void IssueSlot::issue(bool shared, Time slots) {
  const Time t = next_;
  if (shared) last_shared_ = t + 1;
  free_ = t + slots;
  last_[pick_] = t;
  current_ = shared ? kNone : pick_;
  ++issued_;
}

void IssueSlot::select() {
  uint32_t best = 0;
  for (uint32_t i = 1; i < at_.size(); ++i) {
    if (before(i, best)) best = i;
  }
  pick(best);
}

void IssueSlot::pick(uint32_t best) {
  pick_ = best;
  next_ = best >= at_.size() || at_[best] == kNever ? kNever : std::max(at_[best], free_);
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
