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
  Message m = o.release ? clock.release() : clock.fenced;
  if (several_ctas_) flag.wide_in[cta].join(clock.now.wide);
  if (!o.wide) m.wide.clear();
  flag.message.join(m);
  clock.tick();
}

}  // namespace drywell::sim::check
