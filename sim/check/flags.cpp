#include "sim/check/flags.h"

namespace drywell::sim::check {

void Flags::load(uint64_t place, uint16_t cta, Ordering o, WarpClock& clock) {
  Flag& flag = flags_[place];
  if (const auto own = flag.wide_in.find(cta); own != flag.wide_in.end()) clock.now.wide.join(own->second);
  if (o.acquire) clock.acquire(flag.message, o.wide);
  else clock.observed.join(flag.message);
}

void Flags::store(uint64_t place, uint16_t cta, Ordering o, WarpClock& clock) {
  Flag& flag = flags_[place];
  if (several_ctas_) flag.wide_in[cta].join(clock.now.wide);
  // No copy of a message: a kernel may count into a place a million times.
  flag.message.join(o.release ? clock.arrival(true, o.wide) : Message::Part{clock.fenced, clock.fenced.tensor, o.wide});
  clock.tick();
}

}  // namespace drywell::sim::check
