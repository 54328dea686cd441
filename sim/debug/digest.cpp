// Session::digest: a hash of the state that must be equal when a session comes to the same position again.
#include <cstring>
#include <type_traits>

#include "sim/debug/session.h"

namespace drywell::sim {
namespace {

class Fnv {
 public:
  void bytes(const void* p, size_t n) {
    const auto* b = static_cast<const uint8_t*>(p);
    for (; n >= 8; n -= 8, b += 8) {
      uint64_t v;
      std::memcpy(&v, b, 8);
      mix(v);
    }
    for (; n > 0; --n) mix(*b++);
  }
  template <class... T>
  void add(const T&... v) {
    (mix(static_cast<uint64_t>(v)), ...);
  }
  template <class T, class A>
  void all(const std::vector<T, A>& v) {
    add(v.size());
    if constexpr (std::is_arithmetic_v<T>) bytes(v.data(), v.size() * sizeof(T));
  }
  uint64_t value() const { return h_; }

 private:
  void mix(uint64_t v) { h_ = (h_ ^ v) * 0x100000001B3ull, h_ ^= h_ >> 29; }
  uint64_t h_ = 0xCBF29CE484222325ull;
};

void add_groups(Fnv& h, const std::vector<ThreadGroups>& all) {
  for (const ThreadGroups& t : all) {
    h.add(t.lane, t.open_serial, t.groups.size());
    for (const ThreadGroups::Group& g : t.groups) h.add(g.serial, g.reads, g.writes);
  }
}

void add_warp(Fnv& h, const Warp& w) {
  h.add(w.pc, w.active, w.alive, w.frame, w.backward, w.instructions, w.timeouts, w.timed_out, w.held_back);
  for (const LaneGroup& g : w.waiting) h.add(g.pc, g.lanes, g.frame, g.backward);
  h.add(w.block.reason, w.block.address, w.block.parity, w.block.detail, w.block.epoch);
  h.all(w.register_file);
  h.all(w.predicate_file);
  for (const CallFrame& f : w.frames) h.add(f.registers, f.preds, f.local, f.local_end, f.function, f.parent, f.depth);
  for (const auto& lane : w.local) h.all(lane);
  for (const ThreadStack& s : w.stacks) h.all(s.bytes);
  for (const WarpSync& s : w.warp_syncs) h.add(s.members, s.arrived, s.released);
  h.add(w.barrier_wait, w.barrier_generation, w.cluster_arrived, w.cluster_unwaited, w.pending_ld, w.pending_st, w.pending_wgmma, w.pair_result, w.max_registers);
  h.all(w.pending_regs);
  add_groups(h, w.bulk_groups);
  add_groups(h, w.async_groups);
  add_groups(h, w.wgmma_groups);
}

void add_cta(Fnv& h, const Cta& c) {
  h.add(c.live_warps, c.alloc_permit_given_up, c.cta_group_used, c.pair_request, c.pair_warp, c.register_pool, c.cancel_failed, c.wake_epoch, c.started);
  h.bytes(c.smem.data(), c.smem.size());
  for (const Smem::Slot& s : c.smem.mbarriers()) {
    const Mbarrier& b = s.barrier;
    h.add(s.offset, b.live, b.phase, b.expected, b.pending, b.tx, b.arrivals, b.tx_expected, b.tx_completed);
  }
  h.bytes(c.tmem->column(0), size_t{kTmemLanes} * kTmemColumns * 4);
  for (uint32_t column = 0; column < kTmemColumns; column += kTmemUnit) h.add(c.tmem->allocation_at(column, c.serial + 1));
  for (const NamedBarrier& b : c.barriers) {
    h.add(b.expected, b.arrived, b.generation, b.arrived_warps, b.reduce_count, b.reduce_and, b.reduce_or, b.last_count, b.last_and, b.last_or);
  }
  for (const CollectorBuffer& b : c.collectors) h.add(b.filled, b.operand, b.idesc);
  for (const Warp& w : c.warps) add_warp(h, w);
}

}  // namespace

uint64_t Session::digest() const {
  Fnv h;
  h.add(position_, record_.kind, record_.who.cluster, record_.who.cta, record_.who.warp, record_.pc, record_.lanes, record_.op);
  h.all(schedule_->fingerprint());
  for (const Gmem::Allocation* a : launch_.gmem->allocations()) h.bytes(a->data, a->size);
  for (const Cluster* cluster : schedule_->clusters()) {
    const Cluster& c = *cluster;
    h.add(c.index, c.next_op, c.progress, c.cluster_generation, c.now);
    for (const AsyncOp& op : c.pending) {
      h.add(op.id, op.stage, op.payload.index(), op.issuer.cta, op.issuer.warp, op.issuer.lane, op.issuer.pc);
      h.all(op.after);
      h.all(op.staging);
    }
    for (const auto& cta : c.ctas) add_cta(h, *cta);
  }
  const std::string text = output_->text();
  h.bytes(text.data(), text.size());
  return h.value();
}

}  // namespace drywell::sim
