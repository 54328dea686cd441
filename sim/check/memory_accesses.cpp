#include "sim/check/memory_accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "drywell/isa/spec.h"
#include "sim/check/absent_use.h"
#include "sim/check/local_accesses.h"
#include "sim/check/own_address.h"
#include "sim/exec/collisions.h"
#include "sim/exec/exec.h"
#include "sim/state/payload/memory.h"
#include "sim/state/payload/wmma.h"

namespace drywell::sim::check {
namespace {

bool is_atomic(isa::Opcode o) {
  const isa::MemoryRole role = isa::spec(o).memory;
  return role == isa::MemoryRole::atomic || role == isa::MemoryRole::reduction;
}

bool depends_on_old(const DecodedOp& op, const Program& p) { return !p.instruction(op).has(isa::Mod::exch); }

bool is_of_matrix(isa::Opcode o) {
  const isa::MemoryRole role = isa::spec(o).memory;
  return role == isa::MemoryRole::matrix_load || role == isa::MemoryRole::matrix_store;
}

/// The bytes that the lanes of an instruction touch; neighbouring runs are joined.
class LaneRuns {
 public:
  void add(uint64_t at, uint64_t bytes) {
    if (count_ != 0 && at == runs_[count_ - 1].end) {
      runs_[count_ - 1].end = at + bytes;
    } else if (count_ == 0 || at != runs_[count_ - 1].begin || at + bytes != runs_[count_ - 1].end) {
      runs_[count_++] = {at, at + bytes};
    }
  }
  bool empty() const { return count_ == 0; }
  template <class F>
  void each(F f) const {
    for (size_t i = 0; i < count_; ++i) f(runs_[i].begin, runs_[i].end);
  }

 private:
  struct Run {
    uint64_t begin, end;
  };
  Run runs_[kWarpSize];
  size_t count_ = 0;
};

RepeatedStores::Runs bytes_of(const LaneRuns& runs, const Gmem& memory) {
  RepeatedStores::Runs out;
  runs.each([&](uint64_t begin, uint64_t end) {
    const uint8_t* const from = memory.translate(begin, end - begin);
    if (from != nullptr) out.push_back({begin, {from, from + (end - begin)}});
  });
  return out;
}

// Two lanes have one address.
bool share_places(const Warp& w, const DecodedOp& op, LaneMask mask) {
  std::array<uint64_t, kWarpSize> at{};
  size_t count = 0;
  for_lanes(mask, [&](uint32_t lane) { at[count++] = lane_address(w, op, lane); });
  std::sort(at.begin(), at.begin() + count);
  return std::adjacent_find(at.begin(), at.begin() + count) != at.begin() + count;
}

// One more place of a lane that is alone.
void extend(Access& a, uint64_t at, uint32_t bytes) {
  const bool first = a.from == a.to;
  a.from = first ? at : std::min(a.from, at);
  a.to = first ? at + bytes : std::max(a.to, at + bytes);
}

/// The rows (or columns) of a fragment of wmma in memory.
struct Lines {
  uint64_t first, stride;
  uint32_t count, bytes;
};

Lines lines_of(const Warp& w, const DecodedOp& op) {
  const auto& x = op.as<payload::WmmaAccess>();
  const isa::WmmaShape shape = isa::wmma_shape(x.shape);
  const uint32_t rows = isa::wmma_rows(shape, x.matrix), columns = isa::wmma_columns(shape, x.matrix), count = x.by_columns ? columns : rows, length = rows * columns / count;
  const uint64_t stride = x.has_stride ? lane_value(w, op.src[1], 0, false) : length;
  return {lane_address(w, op, 0), stride * x.bits / 8, count, length * x.bits / 8};
}

bool in_shared_memory(Space space, uint64_t at) {
  return space == Space::shared_cta || space == Space::shared_cluster || (space == Space::generic && is_shared_generic(at));
}

// PTX does not say which lane moves which element: the lanes move all lines together.
LanePlaces places_of(const Lines& lines, const Warp& w, Space space, LanePlaces p) {
  for (uint32_t l = 0; l < kWarpSize; ++l) p.at[l] = shared_address(w, lines.first + l % lines.count * lines.stride, space != Space::shared_cta);
  return p;
}

bool overwrites_address(const Program& p, const DecodedOp& op) {
  const Program::RegUse& use = p.reg_use[static_cast<size_t>(&op - p.code.data())];
  const uint32_t* const writes = p.reg_lists.data() + use.first + use.reads;
  const auto is = [](const Src& s, uint32_t r) { return s.bank == 0 && s.offset == r; };
  return std::any_of(writes, writes + use.writes, [&](uint32_t r) { return is(op.src[0], r) || is(op.src[1], r); });
}

}  // namespace

// The lanes of one store may write one place: which of them writes last is not defined. Strong stores ask for no more than that.
LaneMask MemoryAccesses::check_collisions(const Warp& w, const DecodedOp& op, LaneMask mask, Space space) {
  if (isa::spec(op.opcode).memory != isa::MemoryRole::store || parts_.launch.ordering(op).strong) return 0;
  const LaneMask lanes = lanes_that_collide(w, op, mask);
  if (lanes == 0) return 0;
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  const uint64_t at = lane_address(w, op, first);
  const Rule rule = lanes_differ_by_rounding(w, op, lanes) ? Rule::lanes_round : Rule::lanes_collide;
  if (rule == Rule::lanes_collide && parts_.launch.follows_values() && stores_shared(w, op, first, space)) return lanes;
  parts_.reporter.report(rule, nullptr, parts_.access(w, op, lanes, Agent::thread, true), [&] { return fmt::format("address {:#x}", at); });
  return 0;
}

void MemoryAccesses::access(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) {
  if (store && parts_.launch.full() && parts_.launch.options.global_memory) parts_.unused.stored(w, parts_.pc_of(op));
  const bool follows = parts_.launch.follows_values();
  if (follows && parts_.launch.followed.touches(parts_.pc_of(op)) && marks_memory(op, space)) mark_unwritten(parts_, w, op, mask);
  if (space == Space::local || space == Space::generic) follow_local(parts_, w, op, mask, space, bytes, store);
  if (parts_.state_of(w).absent.any()) check_absent_operands(parts_, w, op, mask, space);
  if (space == Space::local || space == Space::param) return;
  const bool peers = parts_.launch.peer_memory && space == Space::shared_cluster;
  if (!parts_.launch.full() && !parts_.launch.ordering(op).strong && !peers) return;
  if (parts_.launch.ordering(op).strong) {
    if (store) parts_.state_of(w).clock.join_lanes(mask, w.alive);
    for_lanes(mask, [&](uint32_t lane) {
      const uint64_t a = lane_address(w, op, lane);
      const bool global = space == Space::global || (space == Space::generic && a >= window::kGlobalBase);
      if (global)
        strong_access(w, op, lane, a, store);
      else if (space != Space::generic || is_shared_generic(a))
        strong_access(w, op, lane, shared_address(w, a, space != Space::shared_cta), store);
    });
  }
  if (!parts_.launch.full() && !peers) return;
  if (space == Space::shared_cta) check_own_address(parts_, w, op, mask, Agent::thread, store);
  const LaneMask contested = store && parts_.launch.full() ? check_collisions(w, op, mask, space) : 0;
  parts_.state_of(w).clock.each_class(mask, [&](LaneMask lanes) {
    const LaneMask same = store ? lanes_that_store_what_is_there(w, op, lanes) : 0;
    // A store may repeat a part of what another has stored: that part is an access of its own.
    const bool two = same != 0 && same != lanes && !share_places(w, op, lanes);
    if (two) touch_lanes(w, op, same, space, bytes, store, true);
    touch_lanes(w, op, two ? lanes & ~same : lanes, space, bytes, store, same == lanes && store);
  });
  if (follows && store && parts_.state_of(w).absent.any()) note_shared_store(parts_, w, op, mask);
  if (contested != 0) note_contested(parts_, w, op, contested);
}

// Strong loads and stores of several lanes at once (a warp's sum in volatile memory): no order between the lanes comes from them, unless the
// lanes wait for each other's values in a loop.
bool MemoryAccesses::mixes_lanes(const Access& a) const {
  const std::vector<bool>& polling = parts_.launch.program->polling;
  return a.agent == Agent::atomic && !a.modifies && !std::has_single_bit(a.lanes) && (polling.empty() || !polling[a.pc]);
}

// The accesses of lanes that have waited for the same events.
void MemoryAccesses::touch_lanes(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store, bool unchanging) {
  WarpState& state = parts_.state_of(w);
  LaneRuns shared, global;
  LanePlaces places{{}, bytes, mask, is_of_matrix(op.opcode), store, parts_.pc_of(op)};
  for_lanes(mask, [&](uint32_t lane) {
    uint64_t a = lane_address(w, op, lane);
    if (space == Space::global || (space == Space::generic && a >= window::kGlobalBase)) {
      if (parts_.launch.options.global_memory) global.add(a, bytes);
    } else if (space != Space::generic || is_shared_generic(a)) {
      shared.add(a = shared_address(w, a, space != Space::shared_cta), bytes);
    }
    places.at[lane] = a;
  });
  Access now = parts_.access(w, op, mask, is_atomic(op.opcode) || parts_.launch.ordering(op).strong ? Agent::atomic : Agent::thread, store);
  now.modifies = is_atomic(op.opcode);
  now.reads = now.modifies && depends_on_old(op, *parts_.launch.program);
  now.incoherent = parts_.launch.ordering(op).incoherent;
  now.guesses = !parts_.launch.guessing.empty() && parts_.launch.guessing[parts_.pc_of(op)] != 0;
  now.in_cta = now.agent == Agent::atomic && !parts_.launch.ordering(op).wide;
  now.in_cluster = now.agent == Agent::atomic && !parts_.launch.ordering(op).cross_cluster;
  now.unchanging = unchanging;
  if (store) now.stored = digest_of_stored(w, op, mask);
  if (store) now.value = digest_of_value(w, op, mask);
  number(w, places, parts_.launch.ordering(op), now);
  const bool in_shared = (now.agent == Agent::thread || mixes_lanes(now)) && !shared.empty();
  const RepeatedStores::Runs repeated = unchanging && now.agent == Agent::thread ? bytes_of(global, *parts_.cluster.launch->gmem) : RepeatedStores::Runs{};
  AccessId id = state.last_access;
  const Access& last = parts_.accesses[id];
  if (id == 0 || last.pc != now.pc || last.issued_at != now.issued_at || last.lanes != mask || last.unchanging != now.unchanging) {
    if (in_shared) now.places = state.clock.places.add(places);
    now.repeated = parts_.repeated.add(repeated);
    id = state.last_access = parts_.accesses.add(now);
  } else {
    Access& rounds = parts_.accesses.at(id);
    rounds.stored = rounds.stored == 0 || now.stored == 0 ? 0 : rounds.stored + now.stored;
    if (rounds.value != now.value) rounds.value = 0;
    rounds.repeated = parts_.repeated.extend(rounds.repeated, repeated);
    rounds.strong_number = now.strong_number;                                            // who has not read the last round is not behind the access
    if (in_shared && !state.clock.places.again(last.places, places)) rounds.places = 0;  // an access of several rounds has no places of its own
  }
  if (in_shared && std::has_single_bit(mask)) extend(parts_.accesses.at(id), places.at[static_cast<uint32_t>(std::countr_zero(mask))], bytes);
  MemoryShadow::Touch t{id, state.clock};
  t.follows = !store && parts_.launch.follows_values() && marks_loaded(*parts_.launch.program, op);
  shared.each([&](uint64_t begin, uint64_t end) {
    parts_.memory.touch({Memory::shared, shared_rank(static_cast<uint32_t>(begin)), shared_offset(static_cast<uint32_t>(begin)), end - begin}, t);
  });
  global.each([&](uint64_t begin, uint64_t end) { parts_.memory.touch({Memory::global, 0, begin, end - begin}, t); });
  if (t.follows && !shared.empty() && (t.found || parts_.memory.any_undefined())) note_shared_load(parts_, w, op, mask);
}

// Called behind the instruction: a load that has written the register of its address is left out.
void MemoryAccesses::fragments(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (!parts_.launch.full() || overwrites_address(*parts_.launch.program, op)) return;
  const auto& x = op.as<payload::WmmaAccess>();
  const bool store = isa::spec(op.opcode).memory == isa::MemoryRole::fragment_store;
  if (store && parts_.launch.options.global_memory) parts_.unused.stored(w, parts_.pc_of(op));
  const Lines lines = lines_of(w, op);
  Access now = parts_.access(w, op, mask, Agent::thread, store);
  if (in_shared_memory(x.space, lines.first)) now.places = parts_.state_of(w).clock.places.add(places_of(lines, w, x.space, {{}, lines.bytes, mask, true, store, now.pc}));
  MemoryShadow::Touch t{parts_.accesses.add(now), parts_.state_of(w).clock};
  for (uint32_t line = 0; line < lines.count; ++line) touch_bytes(w, x.space, lines.first + line * lines.stride, lines.bytes, t);
}

void MemoryAccesses::fill(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const Space space = parts_.launch.program->instruction(op).has(isa::Mod::shared_cta) ? Space::shared_cta : Space::generic;
  for_lanes(mask, [&](uint32_t lane) {
    MemoryShadow::Touch t{parts_.accesses.add(parts_.access(w, op, LaneMask{1} << lane, Agent::thread, true)), parts_.state_of(w).clock};
    touch_bytes(w, space, lane_address(w, op, lane), lane_value(w, op.src[1], lane, true), t);
  });
}

void MemoryAccesses::touch_bytes(const Warp& w, Space space, uint64_t at, uint64_t bytes, MemoryShadow::Touch& t) {
  const bool global = space == Space::global || (space == Space::generic && at >= window::kGlobalBase);
  if (global) return parts_.memory.touch({Memory::global, 0, at, bytes}, t);
  if (space == Space::generic && !is_shared_generic(at)) return;
  const uint32_t shared = shared_address(w, at, space != Space::shared_cta);
  parts_.memory.touch({Memory::shared, shared_rank(shared), shared_offset(shared), bytes}, t);
}

// A later access may acquire what this one released into the place.
void MemoryAccesses::strong_access(const Warp& w, const DecodedOp& op, uint32_t lane, uint64_t place, bool store) {
  const Ordering o = parts_.launch.ordering(op);
  WarpClock& clock = parts_.state_of(w).clock;
  const auto rank = static_cast<uint16_t>(w.cta->rank);
  const bool loads = !store || isa::spec(op.opcode).memory == isa::MemoryRole::atomic;
  if (place >= window::kGlobalBase && parts_.launch.follows_cross_cluster()) {
    exchange_cross_cluster(parts_.launch.cross_cluster_flags[place], parts_.warps.own_clocks(), clock, o, loads, store);
    note_flag(w, op, place, loads, store);
  }
  if (loads) parts_.flags.load(place, rank, lane, o, clock);
  if (store) parts_.flags.store(place, rank, lane, o, clock);
  if (!parts_.launch.full() || (place >= window::kGlobalBase && !o.cross_cluster)) return;
  StrongWrites& writes = writes_of(place);
  if (store) writes.add(is_atomic(op.opcode));
  if (loads) parts_.state_of(w).strong_reads.note(place, writes, is_atomic(op.opcode));
}

// An atomic that counts reads the counts of others only in passing: what it has to acquire is another matter (H7406).
void MemoryAccesses::note_flag(const Warp& w, const DecodedOp& op, uint64_t place, bool loads, bool store) {
  const Ordering o = parts_.launch.ordering(op);
  const uint64_t cluster = parts_.warps.own_clocks().serial();
  LooseFlags& flags = parts_.launch.loose_flags;
  if (loads) flags.loaded(place, cluster, parts_.pc_of(op), o.cross_cluster, o.acquire || store);
  if (store) flags.stored(place, cluster, parts_.pc_of(op), o.cross_cluster, o.release || parts_.state_of(w).clock.fenced_cross_cluster);
}

StrongWrites& MemoryAccesses::writes_of(uint64_t place) {
  const bool all = place >= window::kGlobalBase && parts_.launch.follows_cross_cluster();
  return all ? parts_.launch.cross_cluster_flags[place].writes : parts_.flags.writes(place);
}

// What holds at each of the places: lanes that poll flags of their own, and clear them, have read as many writes each.
StrongWrites MemoryAccesses::read_before(const Warp& w, const LanePlaces& places, LaneMask lanes) const {
  const StrongReads& reads = parts_.state_of(w).strong_reads;
  StrongWrites all{~0u, 0};
  for_lanes(lanes, [&](uint32_t lane) {
    if (all.count == 0) return;
    const StrongWrites here = reads.of(places.at[lane]);
    all = {std::min(all.count, here.count), std::max(all.from, here.from)};
  });
  return all;
}

// 0: the places have had different numbers of them.
uint32_t MemoryAccesses::number_of_write(const LanePlaces& places, LaneMask lanes) {
  const uint32_t first = writes_of(places.at[static_cast<size_t>(std::countr_zero(lanes))]).count;
  bool same = true;
  for_lanes(lanes, [&](uint32_t lane) { same = same && writes_of(places.at[lane]).count == first; });
  return same ? first : 0;
}

void MemoryAccesses::number(const Warp& w, const LanePlaces& places, const Ordering& o, Access& a) {
  if (a.agent == Agent::thread && parts_.state_of(w).strong_reads.empty()) return;
  if (a.agent == Agent::thread) a.behind = read_before(w, places, a.lanes);
  const bool global = places.at[static_cast<size_t>(std::countr_zero(a.lanes))] >= window::kGlobalBase;
  if (a.agent == Agent::atomic && a.write && (!global || o.cross_cluster)) a.strong_number = number_of_write(places, a.lanes);
}

}  // namespace drywell::sim::check
