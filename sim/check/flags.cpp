#include "sim/check/flags.h"

namespace drywell::sim::check {

void Flags::load(uint64_t place, uint16_t cta, uint32_t lane, Ordering o, WarpClock& clock) {
  Flag& flag = flags_[place];
  if (const auto own = flag.wide_in.find(cta); own != flag.wide_in.end()) clock.now.wide.join(own->second);
  if (!o.acquire) return clock.observed.join(flag.message);
  clock.learn(LaneMask{1} << lane, flag.message.seen);
  clock.acquire(flag.message, o.wide);
}

void Flags::store(uint64_t place, uint16_t cta, uint32_t lane, Ordering o, WarpClock& clock) {
  Flag& flag = flags_[place];
  if (several_ctas_) flag.wide_in[cta].join(clock.now.wide);
  // No copy of a message: a kernel may count into a place a million times.
  flag.message.join(o.release ? clock.arrival(true, o.wide) : Message::Part{clock.fenced, clock.fenced.tensor, o.wide});
  clock.note_release(LaneMask{1} << lane, o.release);
  clock.tick();
}

}  // namespace drywell::sim::check
