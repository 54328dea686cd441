#include "sim/schedule/grid_wait.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "drywell/isa/spec.h"
#include "sim/exec/closed_waits.h"
#include "sim/exec/exec.h"
#include "sim/schedule/wait_state.h"
#include "sim/state/gmem.h"

namespace drywell::sim {
namespace {

using isa::MemoryRole;
using isa::Mod;

constexpr uint64_t kRarest = 4096;  // rounds between two looks

/// What an atomic is about to change.
struct Place {
  const uint8_t* at = nullptr;
  std::array<uint8_t, 16> bytes{};
  uint32_t count = 0;
  bool unchanged() const { return std::memcmp(at, bytes.data(), count) == 0; }
};

/// The places of one instruction.
class Places {
 public:
  /// False: the host may write what it reads, or it is not known whether it changes memory.
  bool take(const Warp& w, const DecodedOp& op) {
    places_.clear();
    const MemoryRole role = isa::spec(op.opcode).memory;
    const isa::Instruction& i = w.cta->cluster->launch->program->instruction(op);
    const Mod space = i.mod(isa::Slot::space);
    const bool global = space == Mod::global || space == Mod::none;
    if ((role != MemoryRole::load && role != MemoryRole::atomic) || !global) return role != MemoryRole::atomic;
    bool known = true;
    const uint32_t bytes = std::clamp<uint32_t>(isa::type_bits(i.mod(isa::Slot::type)) / 8, 1, 16);
    for_lanes(w.active, [&](uint32_t lane) { known = add(*w.cta->cluster->launch->gmem, lane_address(w, op, lane), bytes, role == MemoryRole::atomic) && known; });
    return known;
  }
  bool unchanged() const {
    return std::all_of(places_.begin(), places_.end(), [](const Place& p) { return p.unchanged(); });
  }

 private:
  bool add(Gmem& memory, uint64_t address, uint32_t bytes, bool changes) {
    const Gmem::Allocation* const m = memory.find(address);
    const uint8_t* const at = m == nullptr || m->borrowed ? nullptr : memory.translate(address, bytes);
    if (at == nullptr) return m == nullptr && !changes;  // shared memory is loaded
    if (!changes) return true;
    Place& p = places_.emplace_back(Place{at, {}, bytes});
    std::memcpy(p.bytes.data(), at, bytes);
    return true;
  }

  std::vector<Place> places_;
};

}  // namespace

ClusterStop GridWait::run(ClusterStepper& c, uint64_t slice) {
  if (!looking_ || failed_) return c.run(slice);
  return c.run(slice, [this](ClusterStepper& one) { return failed_ ? one.advance(ClusterStepper::kWhole) : step(one); });
}

bool GridWait::round_over(const Steppers& all, bool ended) {
  if (looking_ && !failed_ && !ended) return left_ == 0 && !all.empty();
  if (looking_ || ended) rounds_ = 0;
  looking_ = failed_ = false;
  if (++rounds_ < next_look_) return false;
  next_look_ = std::min(2 * next_look_, kRarest);
  looking_ = begin(all);
  return false;
}

bool GridWait::begin(const Steppers& all) {
  warps_.clear();
  left_ = rounds_ = 0;
  for (const auto& c : all) {
    const Program& p = *c->cluster().launch->program;
    if (!std::exchange(loops_known_, true)) at_ = closed_wait_at(p, loops_ = closed_waits_by_atomics(p));
    const bool waits = c->cluster().pending.empty() && std::all_of(c->warps().begin(), c->warps().end(), [&](const Warp* w) { return w->finished() || add(*w, p); });
    if (loops_.empty() || !waits) return false;
  }
  return left_ != 0;
}

bool GridWait::add(const Warp& w, const Program& p) {
  const std::optional<uint64_t> state = wait_state(p, w, [&](uint32_t pc) { return loop_at(pc); });
  if (!state.has_value()) return false;
  Waiting& one = warps_[&w];
  one.state = *state;
  const auto expect = [&](uint32_t pc, LaneMask lanes) { for_lanes(lanes, [&](uint32_t l) { one.left[l] = turns_of(pc); }); };
  expect(w.pc, w.active);
  for (const LaneGroup& g : w.waiting) expect(g.pc, g.lanes);
  for (const uint64_t n : one.left) left_ += n;
  return true;
}

// Values of a loop that are known depend on each other in fewer rounds than it has instructions.
uint64_t GridWait::turns_of(uint32_t pc) const {
  const uint32_t loop = loop_at(pc);
  const uint64_t size = loop == 0 ? 0 : loops_[loop - 1].body.size();
  return size == 0 ? 0 : 2 * size * size + 64;
}

Advance GridWait::step(ClusterStepper& c) {
  const Program& p = *c.cluster().launch->program;
  const SchedulePosition& at = c.position();
  if (at.at != SchedulePosition::At::turn) return c.advance(1);
  const Warp& w = *c.warps()[at.order[at.turn]];
  const LaneMask lanes = w.active;
  const uint64_t before = w.instructions;
  Places places;
  const bool known = places.take(w, p.code[w.pc]);
  const Advance a = c.advance(1);
  failed_ = !known || !places.unchanged() || a == Advance::fault || !c.cluster().pending.empty() || (w.instructions != before && !stays(w, p, lanes));
  return a;
}

bool GridWait::stays(const Warp& w, const Program& p, LaneMask ran) {
  const auto one = warps_.find(&w);
  if (w.finished() || one == warps_.end() || wait_state(p, w, [&](uint32_t pc) { return loop_at(pc); }) != one->second.state) return false;
  for_lanes(ran, [&](uint32_t l) {
    if (one->second.left[l] == 0) return;
    --one->second.left[l];
    --left_;
  });
  return true;
}

}  // namespace drywell::sim
