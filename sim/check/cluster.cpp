// Memory: who touches it, and what the shadow says about that.
#include <fmt/format.h>

#include <bit>

#include "drywell/isa/spec.h"
#include "sim/check/monitor.h"
#include "sim/check/touch.h"
#include "sim/exec/exec.h"

namespace drywell::sim::check {
namespace {

bool is_atomic(isa::Opcode o) {
  const isa::MemoryRole role = isa::spec(o).memory;
  return role == isa::MemoryRole::atomic || role == isa::MemoryRole::reduction;
}

/// The bytes the lanes of an instruction touch, neighbours joined.
class LaneRuns {
 public:
  void add(uint64_t at, uint64_t bytes) {
    if (count_ != 0 && at == runs_[count_ - 1].end) {
      runs_[count_ - 1].end = at + bytes;
    } else if (count_ == 0 || at != runs_[count_ - 1].begin || at + bytes != runs_[count_ - 1].end) {
      runs_[count_++] = {at, at + bytes};
    }
  }
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

std::string shared_place(uint32_t cta, uint64_t at) { return fmt::format("shared memory of CTA rank {} at {:#x}", cta, at); }

}  // namespace

ClusterMonitor::ClusterMonitor(const Cluster& c, const LaunchState& launch, std::unique_ptr<KnownFootprints> known)
    : cluster_(c), launch_(launch), serial_(c.index + 1), states_(accesses_), reporter_(launch.options.most), running_ctas_(c.ctas.size()),
      footprints_(std::move(known)) {
  reporter_.begin(*launch.program);
  ctas_.reserve(c.ctas.size());
  for (const auto& cta : c.ctas) {
    CtaState& s = ctas_.emplace_back(*cta, launch.full());
    for (WarpState& w : s.warps) {
      w.clock.self = new_component();
      w.clock.now.seen.raise(w.clock.self, 1);
      w.clock.now.wide.raise(w.clock.self, 1);
    }
  }
}

Access ClusterMonitor::access_of(const Warp& w, uint32_t pc, LaneMask lanes, Agent agent, bool write) {
  WarpState& state = state_of(w);
  const WarpClock& clock = state.clock;
  Access a;
  a.agent = agent;
  a.write = write;
  a.cta = static_cast<uint16_t>(w.cta->rank);
  a.warp = static_cast<uint16_t>(w.index);
  a.lanes = lanes;
  a.pc = pc;
  a.done = a.issuer = clock.self;
  a.done_at = a.issued_at = clock.time();
  a.cluster = serial_;
  a.when = cluster_.now;
  a.index = w.cta->index;
  if (launch_.follows_far()) a.far = far_of(state);
  return a;
}

void ClusterMonitor::touch(const Span& s, AccessId id, const WarpClock& who, Rule unwritten) {
  Touch t{id, who, unwritten};
  touch(s, t);
}

void ClusterMonitor::touch(const Span& s, Touch& t) {
  if (s.memory == Memory::global) return touch_global(s, t);
  if (s.memory == Memory::tmem) return touch_tensor(s, t);
  const SharedRun run{s.cta, static_cast<uint32_t>(s.begin), static_cast<uint32_t>(s.bytes)};
  touch({&run, 1}, t);
}

void ClusterMonitor::touch(std::span<const SharedRun> runs, Touch& t) {
  const Access& now = accesses_[t.id];
  const Rule unwritten = now.write || launch_.hidden_writes || !launch_.options.uninitialised ? Rule::none : Rule::shared_unwritten;
  const auto judge = [&](const Access& prior, const Access& a) {
    const Rule r = judge_shared(prior, a, t.who);
    const bool mixed = prior.swizzles > 1 && a.swizzles != 0 && !a.write && (prior.swizzles & a.swizzles) == 0;
    return r == Rule::none && mixed ? Rule::swizzle_mismatch : r;
  };
  for (const SharedRun& s : runs) {
    if (s.cta >= ctas_.size()) continue;
    if (s.cta != now.cta) visit_peer(s.cta, t.id, t.who);
    if (!launch_.full()) continue;
    touch_cells(ctas_[s.cta].shared, s.begin, s.begin + s.bytes, t.id, judge, [&](uint64_t at) { return shared_place(s.cta, at); }, unwritten, t.shared);
  }
}

void ClusterMonitor::touch_global(const Span& s, Touch& t) {
  if (!launch_.options.global_memory || !launch_.full()) return;
  const auto judge = [&](const Access& prior, const Access& a) { return judge_global(prior, a, t.who, launch_.opaque); };
  check_grid_wait(s, t.id, t.who);
  if (!accesses_[t.id].write && launch_.options.uninitialised) suspect_unwritten(s, t.id);
  touch_cells(global_, s.begin, s.begin + s.bytes, t.id, judge, [](uint64_t at) { return fmt::format("global memory at {:#x}", at); }, Rule::none, t.global);
}

void ClusterMonitor::touch_tensor(const Span& s, Touch& t) {
  if (s.cta >= ctas_.size()) return;
  if (s.cta != accesses_[t.id].cta) visit_peer(s.cta, t.id, t.who);
  TensorShadow& cells = ctas_[s.cta].tensor;
  const Rule unwritten = launch_.options.uninitialised ? t.unwritten : Rule::none;
  const auto judge = [&](const Access& prior, const Access& a) { return judge_tensor(prior, a, t.who); };
  const auto where = [&](uint64_t cell) { return fmt::format("tensor memory of CTA rank {}, lane {}, column {}", s.cta, cells.lane_of(cell), cells.column_of(cell)); };
  cells.runs(s.lane, s.lanes, s.column, s.columns, [&](uint64_t begin, uint64_t end) { touch_cells(cells, begin, end, t.id, judge, where, unwritten, t.tensor); });
}

void ClusterMonitor::memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) {
  if (space == Space::local || space == Space::param) return;
  if (!launch_.full() && !launch_.ordering(op).strong) return;
  WarpState& state = state_of(w);
  const Ordering ordering = launch_.ordering(op);
  LaneRuns shared, global;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t a = lane_address(w, op, lane);
    if (space == Space::global || (space == Space::generic && a >= window::kGlobalBase)) {
      if (ordering.strong) flags(w, op, a, store);
      if (launch_.options.global_memory) global.add(a, bytes);
    } else if (space != Space::generic || is_shared_generic(a)) {
      const uint32_t at = shared_address(w, a, space != Space::shared_cta);
      if (ordering.strong) flags(w, op, at, store);
      shared.add(at, bytes);
    }
  });
  if (!launch_.full()) return;
  const uint32_t pc = pc_of(op);
  const Access now = access_of(w, pc, mask, is_atomic(op.opcode) || ordering.strong ? Agent::atomic : Agent::thread, store);
  AccessId id = state.last_access;
  const Access& last = accesses_[id];
  if (id == 0 || last.pc != pc || last.issued_at != now.issued_at) id = state.last_access = accesses_.add(now);
  Touch t{id, state.clock};
  shared.each([&](uint64_t begin, uint64_t end) {
    touch({Memory::shared, shared_rank(static_cast<uint32_t>(begin)), shared_offset(static_cast<uint32_t>(begin)), end - begin}, t);
  });
  global.each([&](uint64_t begin, uint64_t end) { touch({Memory::global, 0, begin, end - begin}, t); });
}

}  // namespace drywell::sim::check
