#include "drywell/isa/strong.h"

#include <algorithm>

namespace drywell::isa {

bool is_strong(const Instruction& i) {
  constexpr Mod kStrong[] = {Mod::volatile_, Mod::relaxed, Mod::acquire, Mod::release, Mod::mmio};
  return std::any_of(std::begin(kStrong), std::end(kStrong), [&](Mod m) { return i.has(m); });
}

bool is_uncached(const Instruction& i) { return is_strong(i) || i.has(Mod::cv); }

}  // namespace drywell::isa
