#include "sim/check/tensor_allocation.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/exec/exec.h"
#include "sim/state/payload/tcgen05.h"

namespace drywell::sim::check {

// The address of the first column is in shared memory already.
void TensorAllocation::allocate(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  const uint64_t a = lane_address(w, op, lane);
  const uint32_t at = shared_address(w, a, is_shared_generic(a)), columns = lanes<uint32_t>(w, op.src[1])[lane];
  const AccessId id = parts_.accesses.add(parts_.access(w, op, mask, Agent::alloc, true));
  allocated_[w.cta->rank] = id;
  parts_.memory.touch({Memory::shared, shared_rank(at), shared_offset(at), 4}, id, parts_.state_of(w).clock);
  uint32_t column = 0;
  std::memcpy(&column, w.cta->smem.data() + shared_offset(at), 4);
  parts_.memory.forget_columns(w.cta->rank, column, columns);
  auto& freed = freed_[w.cta->rank];
  freed.erase(freed.lower_bound(column), freed.lower_bound(column + columns));
}

// The simulation lets both allocations of a pair meet; silicon does not, so that they order nothing here. A relaxed barrier does: nothing of the
// memory model is at stake.
void TensorAllocation::free_pair(const Warp& w, const DecodedOp& op, AccessId id) const {
  if (op.as<payload::TmemAllocation>().cta_group != 2) return;
  const uint32_t peer = w.cta->rank ^ 1;
  const Access& alloc = parts_.accesses[allocated_[peer]];
  const WarpClock& who = parts_.state_of(w).clock;
  if (std::max({who.now.seen[alloc.issuer], who.observed.seen[alloc.issuer], who.now.executed[alloc.issuer]}) >= alloc.issued_at) return;
  parts_.reporter.report(Rule::freed_before_peer, &alloc, parts_.accesses[id], [&] { return fmt::format("tensor memory of CTA rank {}", peer); });
}

void TensorAllocation::report_second_free(const Warp& w, uint32_t column, AccessId free) {
  const auto [first, is_first] = freed_[w.cta->rank].emplace(column, free);
  if (is_first) return;
  parts_.reporter.report(Rule::freed_twice, &parts_.accesses[first->second], parts_.accesses[free],
                         [&] { return fmt::format("tensor memory of CTA rank {}, column {}", w.cta->rank, column); });
}

void TensorAllocation::free(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  const TmemAddr at(lanes<uint32_t>(w, op.src[0])[lane]);
  const uint32_t columns = lanes<uint32_t>(w, op.src[1])[lane];
  const AccessId id = parts_.accesses.add(parts_.access(w, op, mask, Agent::dealloc, true));
  report_second_free(w, at.column(), id);
  free_pair(w, op, id);
  parts_.memory.touch({Memory::tmem, w.cta->rank, 0, 0, 0, kTmemLanes, at.column(), columns}, id, parts_.state_of(w).clock);
}

}  // namespace drywell::sim::check
