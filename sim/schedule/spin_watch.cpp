#include "sim/schedule/spin_watch.h"

#include <bit>
#include <cstring>

#include "sim/schedule/fingerprint.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

// Instructions. A cluster that has waited is looked at sooner, one that may do something else later: its memory is kept.
constexpr uint64_t kPolling = 2'048, kPollingAgain = 256, kMayPoll = 200'000, kMayPollAgain = 10'000, kFirstLook = 256'000, kNextLook = 16'000;

/// Whether one of the warps is where `polls` says, and the others are, too, or wait.
template <class Polls>
bool only(const std::vector<Warp*>& warps, const Polls& polls) {
  bool any = false;
  for (const Warp* w : warps) {
    if (w->finished()) continue;
    const bool here = polls(*w);  // a warp at a barrier in the loop, too
    if (!here && w->block.reason == BlockReason::none) return false;
    any = any || here;
  }
  return any;
}

/// The instruction behind the call that made the frame; 0: not known.
uint32_t caller_pc(const Warp& w, const Program& p, const CallFrame& f) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(w.active));
  uint32_t pc = 0;
  std::memcpy(&pc, w.register_file.data() + f.registers + p.functions[f.function].return_pc + 4 * lane, sizeof(pc));
  return pc;
}

/// Whether the warp is in such a loop, or in a function that one calls.
bool may_poll(const Warp& w, const Program& p) {
  if (p.may_poll[w.pc] || (!p.polling.empty() && p.polling[w.pc])) return true;
  if (w.active == 0) return false;
  for (uint32_t f = w.frame; w.frames[f].depth != 0; f = w.frames[f].parent) {
    const uint32_t back = caller_pc(w, p, w.frames[f]);
    if (back != 0 && p.may_poll[back - 1]) return true;
  }
  return false;
}

}  // namespace

void SpinWatch::restart(uint64_t instructions) {
  begin_ = polling_since_ = may_poll_since_ = instructions;
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
  const bool waiting = !p.polling.empty() && only(warps, [&](const Warp& w) { return p.polling[w.pc]; });
  if (!waiting) polling_since_ = instructions;
  const bool perhaps = waiting || (!p.may_poll.empty() && only(warps, [&](const Warp& w) { return may_poll(w, p); }));
  if (!perhaps) may_poll_since_ = instructions;
  return (waiting && instructions - polling_since_ >= (waited_ ? kPollingAgain : kPolling)) || (perhaps && instructions - may_poll_since_ >= (waited_ ? kMayPollAgain : kMayPoll));
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
