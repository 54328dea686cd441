#include "sim/timing/pipes.h"

#include <algorithm>

namespace drywell::sim {
namespace {

bool is_local(Pipe p) { return p != Pipe::none && !is_shared(p); }

Time not_before(double free, Time t) { return free > cycles(t) ? ceil_time(free) : t; }

// A unit that accepts work which it will serve within `ahead` cycles.
Time queued(const Server& s, double ahead, Time t) { return not_before(s.free_at() - ahead, t); }

}  // namespace

// The FMA pipe has two halves, each of 16 lanes: sums and products of
// floats go to the one that is free first, integers to one of them only (fma_imad and turns_imad_fma of
// traces/hw/h200-2026-11-27-arithmetic.csv).
template <class P>
auto& Pipes::pipe_of(P& p, const OpInfo& x) {
  auto& own = p.pipes[static_cast<size_t>(x.pipe)];
  return x.timing == isa::TimingClass::fma && p.fma_lite.free_at() < own.free_at() ? p.fma_lite : own;
}
// Cycles of the half, where an instruction uses one.
double Pipes::occupied(const OpInfo& x) { return x.timing == isa::TimingClass::fma ? 2 * x.interval : x.interval; }

Pipes::Admission Pipes::admission(const OpInfo& x) {
  const auto kind = static_cast<double>(x.kind == OpKind::branch ? OpKind::local : x.kind == OpKind::lsu ? OpKind::memory
                                                                                                         : x.kind);
  const auto pipe = static_cast<double>(x.pipe);
  switch (x.kind) {
    case OpKind::local:
    case OpKind::branch: return {kind, pipe, x.timing == isa::TimingClass::fma ? 1.0 : 0.0,
                                 x.queue * static_cast<double>(x.interval)};
    case OpKind::memory:
    case OpKind::lsu: return {kind, x.store && x.space != Space::shared_cta ? 1.0 : 0.0};
    case OpKind::async: return {kind, pipe, static_cast<double>(x.timing)};
    default: return {kind};
  }
}

Time Pipes::admits(const SmUnits& sm, const Partition& p, const OpInfo& x, Time t) const {
  switch (x.kind) {
    case OpKind::local:
    case OpKind::branch: return is_local(x.pipe) ? queued(pipe_of(p, x), x.queue * occupied(x), t) : t;
    case OpKind::memory:
    case OpKind::lsu: {
      if (x.store && store_gate_ > t && x.space != Space::shared_cta) t = store_gate_;
      const auto ahead = static_cast<double>(arch_.sm.lsu_queue_shared);
      const Time own = queued(p.lsu, static_cast<double>(arch_.sm.lsu_queue) * lone_load(1), t);
      return std::max({own, queued(sm.lsu, ahead, t), queued(sm.dsmem, ahead * arch_.cost(isa::TimingClass::dsmem).interval, t)});
    }
    case OpKind::async:
      if (x.timing == isa::TimingClass::umma || x.timing == isa::TimingClass::tmem_cp) return not_before(p.tensor_queue.free_at(), t);
      // The copy engine accepts a copy when it has started the one before.
      return x.pipe == Pipe::tma ? queued(sm.tma.issue(), 0, t) : t;
    default: return t;
  }
}

double Pipes::begin(Partition& p, const OpInfo& x, Time t) const {
  const double from = cycles(t);
  return is_local(x.pipe) ? pipe_of(p, x).begin(from, occupied(x)) : from;
}

double Pipes::begin_store(SmUnits& sm, Partition& p, Time t, double wavefronts, double interval) const {
  sm.lsu_wavefronts += wavefronts;
  return sm.lsu.begin(p.lsu.begin(cycles(t), wavefronts * interval), wavefronts);
}

double Pipes::begin_lsu(SmUnits& sm, Partition& p, Time t, double wavefronts) const { return begin_store(sm, p, t, wavefronts, 1.0); }

double Pipes::lone_load(double wavefronts) const { return arch_.smem.lone_instruction + wavefronts * arch_.smem.lone_warp_interval; }

double Pipes::begin_load(SmUnits& sm, Partition& p, Time t, double wavefronts) const {
  sm.lsu_wavefronts += wavefronts;
  return sm.lsu.begin(p.lsu.begin(cycles(t), lone_load(wavefronts)), wavefronts);
}

double Pipes::begin_smem(SmUnits& sm, Partition& p, Time t, double wavefronts) const {
  const double start = begin_load(sm, p, t, wavefronts);
  const double served = sm.smem.begin(start, wavefronts);
  sm.lsu.hold(served + wavefronts);
  return served;
}

double Pipes::arrive(SmUnits& sm, const OpInfo& x, Time t) const { return sm.barrier.begin(cycles(t), x.interval) + static_cast<double>(x.interval); }

}  // namespace drywell::sim
