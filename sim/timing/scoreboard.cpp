#include "sim/timing/scoreboard.h"

#include <algorithm>

namespace drywell::sim {

void Scoreboard::reset(uint32_t registers) {
  slots_.assign(registers, static_cast<uint8_t>(Stall::register_dependency));
  next_load_ = 0;
}

void Scoreboard::fold(const Operands& o) {
  uint64_t last = static_cast<uint8_t>(Stall::register_dependency);
  for (const uint32_t s : o.reads) {
    if (slots_[s] >> kLowBits > last >> kLowBits) last = slots_[s];
  }
  for (const uint32_t s : o.writes) slots_[s] = last;
}

uint64_t Scoreboard::begin_load() {
  answered_[next_load_ % kLoads] = kNever;
  return next_load_++;
}

// If a newer load has taken the slot, memory answered the older load long ago.
void Scoreboard::answer(uint64_t load, Time t) {
  if (load + kLoads >= next_load_) answered_[load % kLoads] = t;
}

uint64_t Scoreboard::blocking_load() const {
  const bool full = next_load_ >= kLoads && answered_[next_load_ % kLoads] == kNever;
  return full ? next_load_ - kLoads : Readiness::kNoLoad;
}

// Once memory has answered a load, its slot holds a cycle.
uint64_t Scoreboard::resolve(uint64_t slot) const {
  const uint64_t load = (slot & ~kLoad) >> kLowBits, why = slot & ((1u << kWhyBits) - 1);
  if (load + kLoads < next_load_) return why;
  const Time at = answered_[load % kLoads];
  return at == kNever ? slot : at << kLowBits | why;
}

Time Scoreboard::crossing(uint64_t value, Producer unit) {
  const auto from = static_cast<Producer>((value >> kWhyBits) & ((1u << (kLowBits - kWhyBits)) - 1));
  return static_cast<Time>((unit != Producer::other) & (from != Producer::other) & (from != unit));
}

// Which operand is ready last is as good as random: no branch decides it.
inline void Scoreboard::need(uint32_t slot, Time extra, Readiness& r, Producer unit) {
  uint64_t& v = slots_[slot];
  if ((v & kLoad) != 0) {
    v = resolve(v);
    if ((v & kLoad) != 0) {
      r.load = (v & ~kLoad) >> kLowBits;
      return;
    }
  }
  const Time there = (v >> kLowBits) + extra + crossing(v, unit);
  const auto why = static_cast<Stall>(v & ((1u << kWhyBits) - 1));
  const bool last = there > r.ready;
  r.inputs = std::max(r.inputs, there);
  r.ready = last ? there : r.ready;
  r.why = last ? why : r.why;
}

Readiness Scoreboard::find(const Operands& o, Time from) {
  Readiness r;
  r.ready = from;
  if (o.guard != Operands::kNoGuard) need(o.guard, o.guard_extra, r);
  for (const uint32_t s : o.reads) need(s, 0, r, o.unit);
  for (const uint32_t s : o.writes) {
    if ((slots_[s] & kLoad) != 0) need(s, 0, r);  // a load's answer must not overtake this result
  }
  return r;
}

}  // namespace drywell::sim
