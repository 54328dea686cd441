// Semantics of table/mbarrier.inc.
#include <fmt/format.h>

#include <utility>

#include "drywell/isa/opcode.h"
#include "sim/events/hub.h"
#include "sim/events/mbarrier_ops.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/state/payload/mbarrier.h"

namespace drywell::sim {
namespace {

uint32_t barrier_address(const Warp& w, const DecodedOp& op, uint32_t lane) {
  const uint64_t a = lane_address(w, op, lane);
  return shared_address(w, a, op.as<payload::Mbarrier>().cluster_space || is_shared_generic(a));
}

payload::Mbarrier& bind_barrier(Decoder& d, DecodedOp& op, const isa::Operand& address) {
  d.set_address(op, address);
  return op.emplace<payload::Mbarrier>({.cluster_space = d.has(isa::Mod::shared_cluster)});
}

Effect raise(Warp& w, const GuestError& e) { return fault(w, e.code, e.message); }

Effect init(Warp& w, const DecodedOp& op, LaneMask mask) {
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t i) {
    const uint32_t address = barrier_address(w, op, i);
    const uint32_t count = lanes<uint32_t>(w, op.src[1])[i], offset = shared_offset(address);
    Cta& cta = *w.cta;
    if (offset % 8 != 0 || !cta.smem.contains(offset, 8)) {
      result = fault(w, Code::F3101, fmt::format("mbarrier.init at {:#x}: misaligned or outside shared memory", offset));
      return;
    }
    if (count == 0 || count > Mbarrier::kMaxCount) {
      result = fault(w, Code::F3105, fmt::format("mbarrier.init with count {}; 1 to 2^20-1 are legal (PTX ISA 9.7.13.15.9)", count));
      return;
    }
    cta.smem.make_mbarrier(offset).init(count);
    if (auto* o = cta.cluster->launch->observers; o != nullptr) o->mbarrier(cta, offset, *cta.smem.find_mbarrier(offset), MbarrierEvent::init, count);
    cta.cluster->wake(cta);
  });
  return result;
}

// Undefined by PTX, but libcu++'s tests of cuda::pipeline end mbarriers twice, and pass on devices: a matter of the checker.
void end_of_none(const Cta& cta, uint32_t address) {
  if (auto* o = cta.cluster->launch->observers; o != nullptr) o->mbarrier(cta, shared_offset(address), Mbarrier{}, MbarrierEvent::inval, 0);
}

Effect inval(Warp& w, const DecodedOp& op, LaneMask mask) {
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t i) {
    const uint32_t address = barrier_address(w, op, i);
    GuestError why;
    Mbarrier* b = find_mbarrier(*w.cta->cluster, address, why);
    if (b == nullptr && why.code == Code::F3102) {
      end_of_none(*w.cta, address);
      return;
    }
    if (b == nullptr) {
      result = raise(w, why);
      return;
    }
    // The chip writes the live word back to shared memory (docs/facts/tma-mbarrier.md §1.6).
    const uint64_t word = b->word();
    std::memcpy(w.cta->smem.data() + shared_offset(address), &word, 8);
    b->live = false;
    if (auto* o = w.cta->cluster->launch->observers; o != nullptr) o->mbarrier(*w.cta, shared_offset(address), *b, MbarrierEvent::inval, 0);
  });
  return result;
}

// Arrivals at another CTA's barrier are asynchronous operations.
Effect remote(Warp& w, uint32_t lane, uint32_t address, MbarrierOp what, uint32_t amount) {
  const Cluster& c = *w.cta->cluster;
  if (shared_rank(address) >= c.ctas.size()) {
    return fault(w, Code::F3501, fmt::format("mbarrier address {:#x} names CTA rank {} of a cluster of {}", address, shared_rank(address), c.ctas.size()));
  }
  issue(w, lane, RemoteArrive{address, what, amount});
  return Effect::next;
}

// src[1]: amount; op.dst: state register (64-bit lanes), scratch if none.
Effect arrive(Warp& w, const DecodedOp& op, LaneMask mask) {
  const MbarrierOp what = op.as<payload::Mbarrier>().what;
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t i) {
    if (result == Effect::fault) return;
    const uint32_t address = barrier_address(w, op, i);
    const uint32_t amount = lanes<uint32_t>(w, op.src[1])[i];
    if (shared_rank(address) != w.cta->rank) {
      result = remote(w, i, address, what, amount);
      return;
    }
    if (amount == 0 && (what == MbarrierOp::arrive || what == MbarrierOp::arrive_drop)) {
      result = fault(w, Code::F3103, fmt::format("0 arrivals at mbarrier {:#x}; 1 to 2^20-1 are legal (PTX ISA 9.7.13.15.13)", shared_offset(address)));
      return;
    }
    GuestError why;
    const Mbarrier* b = find_mbarrier(*w.cta->cluster, address, why);
    const uint64_t phase = b != nullptr ? b->phase : 0;
    if (b != nullptr) {
      // The state's high word is that of the object before the operation; the low word has no meaning, but for noComplete it
      // is 1 (docs/facts/tma-mbarrier.md §1.3).
      lanes<uint64_t>(w, op.dst)[i] = (b->word() & 0xFFFFFFFF00000000ull) | 1u;
    }
    if (const auto e = apply_mbarrier(*w.cta->cluster, address, what, amount); e.has_value()) {
      result = raise(w, *e);
    } else if (op.as<payload::Mbarrier>().no_complete && b->phase != phase) {
      result = fault(w, Code::F3107, fmt::format("an arrival with .noComplete completes phase {} of mbarrier {:#x}", phase, shared_offset(address)));
    }
  });
  return result;
}

template <bool Parity, bool Try>
Effect wait(Warp& w, const DecodedOp& op, LaneMask mask) {
  LaneMask done = 0, asked = 0;
  uint32_t waiting_on = 0, waiting_parity = 0;
  GuestError why;
  Cluster& c = *w.cta->cluster;
  const bool resumed = Try && std::exchange(w.block.detail, 0) == kPhaseSeen;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(m));
    const uint32_t address = barrier_address(w, op, i);
    if (shared_rank(address) != w.cta->rank) {
      return fault(w, Code::F3101, fmt::format("a wait on mbarrier {:#x} of CTA rank {} by a thread of rank {}: waits are for the own CTA's (PTX ISA 9.7.13.15.16)", shared_offset(address), shared_rank(address), w.cta->rank));
    }
    const Mbarrier* b = find_mbarrier(c, address, why);
    if (b == nullptr) return raise(w, why);
    const uint64_t phase = lane_value(w, op.src[1], i, !Parity);
    const uint32_t parity = Parity ? static_cast<uint32_t>(phase) & 1 : static_cast<uint32_t>(phase >> 63);
    asked |= 1u << i;
    if (b->parity_done(parity) || (resumed && address == w.block.address && parity == w.block.parity)) {
      done |= 1u << i;
    } else {
      waiting_on = address;
      waiting_parity = parity;
    }
  }
  if (Try && done != asked) {
    // try_wait may suspend: the warp waits until the phase completes. If nothing else can make progress, try_wait returns false.
    if (!w.timed_out) {
      w.waits_on_mbarrier = true;
      return block(w, BlockReason::mbarrier, waiting_on, waiting_parity);
    }
    w.timed_out = false;
  }
  write_pred(w, op.dst, done, mask);
  if (auto* o = c.launch->observers; o != nullptr && o->wants_waits()) {
    uint32_t last = ~0u;  // most lanes wait on the same barrier
    for_lanes(done, [&](uint32_t lane) {
      const uint32_t address = barrier_address(w, op, lane);
      if (std::exchange(last, address) == address) return;
      o->mbarrier(*w.cta, shared_offset(address), *w.cta->smem.find_mbarrier(shared_offset(address)), MbarrierEvent::wait_true, w.index);
    });
  }
  return done == asked ? Effect::next : Effect::yield;
}

// The state's high word holds 2^20 - P in bits 11..30, as ptxas decodes it (docs/facts/tma-mbarrier.md §1.6).
Effect pending_count(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint64_t* state = lanes<uint64_t>(w, op.src[0]);
  uint32_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = (1u << 20) - (static_cast<uint32_t>(state[i] >> 43) & 0xFFFFF);
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}

ExecFn bind_arrive(Decoder& d, DecodedOp& op, MbarrierOp what, size_t state, size_t address, size_t amount) {
  payload::Mbarrier& x = bind_barrier(d, op, *d.operand(address));
  x.what = what;
  x.no_complete = d.has(isa::Mod::noComplete);
  op.dst = state < isa::kMaxOperands && d.operand(state) != nullptr ? d.dest(*d.operand(state)) : d.scratch();
  op.src[1] = d.operand(amount) != nullptr ? d.source(*d.operand(amount), 32) : d.constant(1, 32);
  return arrive;
}

template <bool Try>
ExecFn bind_wait(Decoder& d, DecodedOp& op) {
  bind_barrier(d, op, *d.operand(1));
  op.dst = d.dest_pred(*d.operand(0));
  const bool parity = d.has(isa::Mod::parity);
  op.src[1] = d.source(*d.operand(2), parity ? 32 : 64);
  return parity ? wait<true, Try> : wait<false, Try>;
}

}  // namespace

template <> ExecFn bind<isa::row::mbarrier_init>(Decoder& d, DecodedOp& op) {
  bind_barrier(d, op, *d.operand(0));
  op.src[1] = d.source(*d.operand(1), 32);
  return init;
}
template <> ExecFn bind<isa::row::mbarrier_inval>(Decoder& d, DecodedOp& op) {
  bind_barrier(d, op, *d.operand(0));
  return inval;
}
template <> ExecFn bind<isa::row::mbarrier_arrive>(Decoder& d, DecodedOp& op) { return bind_arrive(d, op, MbarrierOp::arrive, 0, 1, 2); }
template <> ExecFn bind<isa::row::mbarrier_arrive_expect_tx>(Decoder& d, DecodedOp& op) { return bind_arrive(d, op, MbarrierOp::arrive_expect_tx, 0, 1, 2); }
template <> ExecFn bind<isa::row::mbarrier_arrive_drop>(Decoder& d, DecodedOp& op) { return bind_arrive(d, op, MbarrierOp::arrive_drop, 0, 1, 2); }
template <> ExecFn bind<isa::row::mbarrier_arrive_drop_expect_tx>(Decoder& d, DecodedOp& op) { return bind_arrive(d, op, MbarrierOp::arrive_drop_expect_tx, 0, 1, 2); }
template <> ExecFn bind<isa::row::mbarrier_expect_tx>(Decoder& d, DecodedOp& op) { return bind_arrive(d, op, MbarrierOp::expect_tx, isa::kMaxOperands, 0, 1); }
template <> ExecFn bind<isa::row::mbarrier_complete_tx>(Decoder& d, DecodedOp& op) { return bind_arrive(d, op, MbarrierOp::complete_tx, isa::kMaxOperands, 0, 1); }
template <> ExecFn bind<isa::row::mbarrier_test_wait>(Decoder& d, DecodedOp& op) { return bind_wait<false>(d, op); }
template <> ExecFn bind<isa::row::mbarrier_try_wait>(Decoder& d, DecodedOp& op) { return bind_wait<true>(d, op); }

template <> ExecFn bind<isa::row::mbarrier_pending_count>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), 64);
  return pending_count;
}

}  // namespace drywell::sim
