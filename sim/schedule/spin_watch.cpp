#include "sim/schedule/spin_watch.h"

#include "sim/schedule/fingerprint.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

// Instructions. A cluster that has waited is looked at sooner.
constexpr uint64_t kPolling = 2'048, kPollingAgain = 256, kFirstLook = 256'000, kNextLook = 16'000;

bool only_polls(const std::vector<Warp*>& warps, const Program& p) {
  bool any = false;
  for (const Warp* w : warps) {
    if (w->finished()) continue;
    const bool polls = p.polling[w->pc];  // a warp at a barrier in the loop, too
    if (!polls && w->block.reason == BlockReason::none) return false;
    any = any || polls;
  }
  return any;
}

}  // namespace

void SpinWatch::restart(uint64_t instructions) {
  begin_ = polling_since_ = instructions;
  next_look_ = waited_ ? kNextLook : kFirstLook;
  looks_ = 0;
}

bool SpinWatch::waits(const Cluster& c, const std::vector<Warp*>& warps, const Program& p, uint64_t instructions) {
  const bool now = c.pending.empty() && (polls(warps, p, instructions) || spins(c, instructions - begin_));
  waited_ = waited_ || now;
  return now;
}

// After each round for a while some warp is in a polling loop, and the others are or wait for something.
bool SpinWatch::polls(const std::vector<Warp*>& warps, const Program& p, uint64_t instructions) {
  const bool waiting = !p.polling.empty() && only_polls(warps, p);
  if (!waiting) polling_since_ = instructions;
  return waiting && instructions - polling_since_ >= (waited_ ? kPollingAgain : kPolling);
}

// The warps come back to the same registers. Barriers and stores in the loop do not count. The registers are looked at after many
// instructions only, and then at times that get rarer, because they are large.
bool SpinWatch::spins(const Cluster& c, uint64_t ran) {
  if (ran < next_look_) return false;
  const uint64_t state = fingerprint(c);
  if (looks_ == 0) {
    state_ = state;
    looks_ = kLooks;
    return false;
  }
  if (state == state_) return true;
  if (--looks_ == 0) next_look_ = 2 * ran;
  return false;
}

}  // namespace drywell::sim
