#include "sim/events/mbarrier_ops.h"

#include <fmt/format.h>

#include "sim/events/hub.h"

namespace drywell::sim {

Mbarrier* find_mbarrier(Cluster& c, uint32_t address, GuestError& why) {
  const uint32_t rank = shared_rank(address), offset = shared_offset(address);
  if (rank >= c.ctas.size()) {
    why = {Code::F3501, fmt::format("mbarrier address {:#x} names CTA rank {} of a cluster of {}", address, rank, c.ctas.size())};
    return nullptr;
  }
  if (offset % 8 != 0 || !c.cta(rank).smem.contains(offset, 8)) {
    why = {Code::F3101, fmt::format("mbarrier address {:#x} is misaligned or outside shared memory", offset)};
    return nullptr;
  }
  Mbarrier* b = c.cta(rank).smem.find_mbarrier(offset);
  if (b == nullptr || !b->live) {
    why = {Code::F3102, fmt::format("no mbarrier is initialised at {:#x} of CTA rank {}", offset, rank)};
    return nullptr;
  }
  return b;
}

namespace {

MbarrierEvent event_of(MbarrierOp op) {
  switch (op) {
    case MbarrierOp::expect_tx:
    case MbarrierOp::hold_tx: return MbarrierEvent::expect_tx;
    case MbarrierOp::complete_tx:
    case MbarrierOp::release_tx: return MbarrierEvent::complete_tx;
    default: return MbarrierEvent::arrive;
  }
}

// Atomic: the phase cannot complete between the two operations, because the arrival is still pending at the first.
MbarrierStatus drop_expecting(Mbarrier& b, uint32_t bytes, bool& completed) {
  if (b.live && b.pending == 0) return MbarrierStatus::arrive_overflow;
  const MbarrierStatus s = b.expect_tx(bytes, completed);
  return s == MbarrierStatus::ok ? b.arrive_drop(1, completed) : s;
}

bool expects_and_arrives(MbarrierOp op) { return op == MbarrierOp::arrive_expect_tx || op == MbarrierOp::arrive_drop_expect_tx; }

// A thread that try_wait has suspended resumes when its phase completes (PTX ISA 9.7.13.15.16), even if it is scheduled
// only after the next phase is complete.
void resume_waiters(Cta& cta, uint32_t offset, uint32_t parity) {
  for (Warp& w : cta.warps) {
    if (w.block.reason == BlockReason::mbarrier && shared_offset(w.block.address) == offset && w.block.parity == parity) w.block.detail = kPhaseSeen;
  }
}

// What leads to an arrival for which the phase has no place.
std::string too_early(const Mbarrier& b) {
  if (b.pending != 0 || b.tx == 0) return "";
  return fmt::format(
      "; all of them have come, and the phase waits for bytes ({} delivered, {} expected): mbarrier.init counts too few arrivals, or a wait ahead of this arrival is true too early (wrong parity, "
      "or an mbarrier with too small a count)",
      b.tx_completed, b.tx_expected);
}

}  // namespace

std::optional<GuestError> apply_mbarrier(Cluster& c, uint32_t address, MbarrierOp op, uint32_t amount) {
  GuestError why;
  Mbarrier* b = find_mbarrier(c, address, why);
  if (b == nullptr) return why;
  bool completed = false;
  MbarrierStatus s = MbarrierStatus::ok;
  switch (op) {
    case MbarrierOp::arrive: s = b->arrive(amount, completed); break;
    case MbarrierOp::arrive_expect_tx: s = b->arrive_expect_tx(amount, completed); break;
    case MbarrierOp::arrive_drop: s = b->arrive_drop(amount, completed); break;
    case MbarrierOp::arrive_drop_expect_tx: s = drop_expecting(*b, amount, completed); break;
    case MbarrierOp::expect_tx: s = b->expect_tx(amount, completed); break;
    case MbarrierOp::complete_tx:
    case MbarrierOp::release_tx: s = b->complete_tx(amount, completed); break;
    case MbarrierOp::hold_tx: s = b->hold_tx(completed); break;
  }
  Cta& cta = c.cta(shared_rank(address));
  const uint32_t offset = shared_offset(address);
  if (s == MbarrierStatus::arrive_overflow) {
    return GuestError{Code::F3103, fmt::format("{} arrivals at mbarrier {:#x} of CTA rank {}, which waits for {} in phase {} (expects {} per phase){}", expects_and_arrives(op) ? 1 : amount, offset, cta.rank,
                                               b->pending, b->phase, b->expected, too_early(*b))};
  }
  if (s != MbarrierStatus::ok) {
    return GuestError{Code::F3104, fmt::format("transaction count of mbarrier {:#x} of CTA rank {} leaves ±(2^20-1): {} now, {} bytes", offset, cta.rank, b->tx, amount)};
  }
  if (auto* o = c.launch->observers; o != nullptr) {
    if (expects_and_arrives(op)) o->mbarrier(cta, offset, *b, MbarrierEvent::expect_tx, amount);
    o->mbarrier(cta, offset, *b, event_of(op), expects_and_arrives(op) ? 1 : amount);
    if (completed) o->mbarrier(cta, offset, *b, MbarrierEvent::phase_complete, 0);
  }
  if (completed) {
    resume_waiters(cta, offset, static_cast<uint32_t>(b->phase - 1) & 1);
    c.wake(cta);
  }
  return std::nullopt;
}

}  // namespace drywell::sim
