#include "sim/timing/issue_slot.h"

#include <algorithm>

namespace drywell::sim {

uint16_t IssueSlot::add(uint32_t warp, uint32_t cta) {
  const auto place = static_cast<uint16_t>(warps_.size());
  warps_.push_back(warp);
  keys_.push_back({kNever, place});
  admission_.push_back(0);
  ctas_.push_back(cta);
  compare_ctas();
  other_ = kNone;
  return place;
}

void IssueSlot::compare_ctas() {
  several_ctas_ = std::any_of(ctas_.begin(), ctas_.end(), [this](uint32_t c) { return c != ctas_.front(); });
}

// The last warp moves to the free place.
uint32_t IssueSlot::remove(uint16_t place) {
  const auto last = static_cast<uint32_t>(warps_.size() - 1);
  const uint32_t moved = warps_[place] = warps_[last];
  keys_[place].at = keys_[last].at;
  set_last(place, keys_[last].last >> kPlaceBits);
  admission_[place] = admission_[last];
  ctas_[place] = ctas_[last];
  if (current_ == place)
    current_ = kNone;
  else if (current_ == last)
    current_ = place;
  warps_.pop_back();
  keys_.pop_back();
  admission_.pop_back();
  ctas_.pop_back();
  compare_ctas();
  other_ = kNone;
  select();
  return moved;
}

// A warp that is offered later than the first of the others, as most are, leaves that one the first.
void IssueSlot::offer(uint16_t place, Time at, uint16_t admission) {
  if (place == other_ && at > keys_[place].at) other_ = kNone;
  keys_[place].at = at;
  admission_[place] = admission;
  if (other_ != kNone && place != current_ && order(place) < order(other_)) other_ = place;
  select();
}

// The first in the order of Order, without the current warp and those for which `test` is false; kNone: there is none. By masks, because no
// host can predict which warp is the first.
template <class Test>
uint32_t IssueSlot::first_other(Test&& test) const {
  Order best{pair(kNever, ~uint64_t{0}), 0};
  uint64_t at = kNone;
  for (uint64_t i = 0; i < keys_.size(); ++i) {
    const Order o = order(i);
    const Pair better = 0 - static_cast<Pair>((i != current_) & test(i) & (o < best));
    best.first ^= (best.first ^ o.first) & better;
    best.second ^= (best.second ^ o.second) & better;
    at ^= (at ^ i) & static_cast<uint64_t>(better);
  }
  return static_cast<uint32_t>(at);
}

// The current warp goes on as soon as the other one could issue.
uint32_t IssueSlot::sooner(uint32_t other) const {
  if (current_ == kNone) return other;
  return other == kNone || std::max(keys_[current_].at, free_) <= std::max(keys_[other].at, free_) ? current_ : other;
}

/// The order of picks.
bool IssueSlot::before(uint32_t a, uint32_t b) const {
  return a == current_ || b == current_ ? sooner(a == current_ ? b : a) == a : order(a) < order(b);
}

// At once instead of one after the other: many warps wait for a unit that is busy.
void IssueSlot::put_off(Time until) {
  const uint16_t refused = admission_[pick_];
  const Time now = next_;
  uint32_t other = first_other([&](uint64_t i) { return admission_[i] != refused; });
  if (current_ != kNone && admission_[current_] != refused) other = sooner(other);
  for (uint32_t i = 0; i < keys_.size(); ++i) {
    if (admission_[i] == refused && keys_[i].at <= now && (other == kNone || before(i, other))) keys_[i].at = until;
  }
  other_ = kNone;
  select();
}

// The next pick waits until the warp is offered again: the instruction just executed determines when.
void IssueSlot::issue(bool shared, Time slots) {
  const Time t = next_;
  if (shared) last_shared_ = t + 1;
  free_ = t + slots;
  set_last(pick_, t);
  const uint32_t current = shared ? kNone : pick_;
  if (several_ctas_ || current_ != current || pick_ == other_) other_ = kNone;
  current_ = current;
  ++issued_;
}

void IssueSlot::select() {
  if (other_ == kNone) other_ = first_other([](uint64_t) { return true; });
  pick_ = sooner(other_);
  if (pick_ == kNone) pick_ = 0;
  next_ = pick_ >= keys_.size() || keys_[pick_].at == kNever ? kNever : std::max(keys_[pick_].at, free_);
}

Turn next_turn(std::span<IssueSlot* const> slots) {
  Turn t;
  Time shared = 0;  // of the first slot so far
  for (size_t i = 0; i < slots.size(); ++i) {
    const IssueSlot& s = *slots[i];
    const Time at = s.next();
    const bool first = (at < t.at) | ((at == t.at) & (at != kNever) & (s.last_shared() < shared));
    t.second = first ? t.at : std::min(t.second, at);
    t.slot = first ? i : t.slot;
    shared = first ? s.last_shared() : shared;
    t.at = std::min(t.at, at);
  }
  return t;
}

}  // namespace drywell::sim
