// Asynchronous operations: what they touch is checked when they are issued; who may know of their end follows from their
// mbarrier, commit, group or wait.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "drywell/isa/opcode.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tensor_map.h"
#include "sim/check/touch.h"
#include "sim/engine/tensor_plan.h"
#include "sim/engine/tmem_copy_form.h"
#include "sim/exec/exec.h"

namespace drywell::sim::check {
namespace {

constexpr uint8_t swizzle_bit(isa::Swizzle s) { return static_cast<uint8_t>(1u << static_cast<unsigned>(s)); }
uint8_t swizzle_bit(uint64_t descriptor, isa::SmemDescriptorFormat f) {
  return swizzle_bit(isa::SmemDescriptor::decode(descriptor, f).swizzle().value_or(isa::Swizzle::none));
}

uint8_t swizzles_of(const Umma& u) {
  const uint8_t b = swizzle_bit(u.b, isa::SmemDescriptorFormat::tcgen05);
  return u.a_in_tmem ? b : static_cast<uint8_t>(b | swizzle_bit(u.a, isa::SmemDescriptorFormat::tcgen05));
}
uint8_t swizzles_of(const Wgmma& m) {
  const uint8_t b = swizzle_bit(m.b, isa::SmemDescriptorFormat::wgmma);
  return m.a_in_registers ? b : static_cast<uint8_t>(b | swizzle_bit(m.a, isa::SmemDescriptorFormat::wgmma));
}

uint8_t swizzles_of(const TmemCopy& c) { return swizzle_bit(c.desc, isa::SmemDescriptorFormat::tcgen05); }

// Shape and kind of a product, as far as one accumulator can tell: N in bits 17..22, M in 24..28 (PTX ISA 9.7.16.4.2).
uint32_t form_of(const Umma& u) {
  constexpr uint32_t kShape = 0x3Fu << 17 | 0x1Fu << 24;
  return (u.idesc & kShape) | static_cast<uint32_t>(u.kind) << 8 | uint32_t{u.ws} << 1 | uint32_t{u.sparse};
}
// Copies of its scale factors that a product reads: one for each quarter of the lanes; M of 128 over two CTAs has half of N in each
// half of the lanes (docs/facts/tcgen05.md §6.2). M / 128 is in bits 27..28 of the block-scaled kinds.
uint8_t scale_copies(const Umma& u) { return u.cta_group == 2 && (u.idesc >> 27 & 3) == 1 ? 2 : 4; }
// How many places in tensor memory a row of a copy goes to.
uint8_t copies_of(const TmemCopy& c) { return static_cast<uint8_t>(isa::copy_lanes(copy_shape(c), 0).count); }

constexpr size_t kGroupsKept = 256;

/// Whether two stores bring the same bytes to the same place.
bool same_store(const AsyncOp& a, const AsyncOp& b) {
  if (const auto *x = std::get_if<TensorCopy>(&a.payload), *y = std::get_if<TensorCopy>(&b.payload); x != nullptr && y != nullptr) {
    return x->direction == TensorCopy::Direction::store && y->direction == x->direction && x->mode == y->mode && x->map_address == y->map_address &&
           x->coord == y->coord && x->smem == y->smem;
  }
  const auto *x = std::get_if<BulkCopy>(&a.payload), *y = std::get_if<BulkCopy>(&b.payload);
  return x != nullptr && y != nullptr && x->reduce_op == isa::Mod::none && y->reduce_op == isa::Mod::none && x->src == y->src && x->dst == y->dst &&
         x->bytes == y->bytes && x->byte_mask == y->byte_mask;
}

/// Its cells are tensor memory's: followed at every level.
bool uses_tensor_memory(const AsyncOp& op) {
  return std::holds_alternative<Umma>(op.payload) || std::holds_alternative<TmemLdSt>(op.payload) || std::holds_alternative<TmemCopy>(op.payload) ||
         std::holds_alternative<TmemShift>(op.payload);
}

/// CTAs whose shared memory a copy writes, without the bytes.
uint32_t destinations(const AsyncOp& op) {
  if (const auto* t = std::get_if<TensorCopy>(&op.payload)) return t->multicast != 0 ? t->multicast : 1u << shared_rank(t->smem);
  if (const auto* b = std::get_if<BulkCopy>(&op.payload)) return b->multicast != 0 ? b->multicast : 1u << shared_rank(static_cast<uint32_t>(b->dst));
  if (const auto* r = std::get_if<RemoteStore>(&op.payload)) return 1u << shared_rank(static_cast<uint32_t>(r->dst));
  return 1u << op.issuer.cta;
}

bool overlap(const Span& a, const Span& b) {
  return a.cta == b.cta && a.lane < b.lane + b.lanes && b.lane < a.lane + a.lanes && a.column < b.column + b.columns && b.column < a.column + a.columns;
}
std::string cell_place(const Span& s) { return fmt::format("tensor memory of CTA rank {}, lanes {} to {}, columns {} to {}", s.cta, s.lane, s.lane + s.lanes - 1, s.column, s.column + s.columns - 1); }

}  // namespace

Queue& ClusterMonitor::queue_of(std::map<uint32_t, Queue>& all, uint32_t lane, bool reads) {
  const auto [at, made] = all.try_emplace(lane);
  if (made) {
    at->second.done = new_component();
    at->second.read = reads ? new_component() : at->second.done;
  }
  return at->second;
}

// Visitors are handed on by reference: a std::function that owned them would allocate, some ten thousand times a second.

// One payload each: fills in when its accesses are over, and marks what it touches.
struct ClusterMonitor::Issue {
  ClusterMonitor& m;
  const AsyncOp& op;
  const Warp& w;
  WarpState& state;
  Flight& flight;
  mutable std::optional<Footprint> made{};

  const Footprint& footprint() const { return made.has_value() ? *made : made.emplace(m.cluster_, op); }
  Access access(Agent agent, bool write) const {
    Access a = m.access_of(w, op.issuer.pc, 1u << op.issuer.lane, agent, write);
    a.lone = std::has_single_bit(w.active & read_pred(w, m.launch_.program->code[op.issuer.pc].guard));
    return a;
  }
  AccessId add(const Access& a) const { return m.accesses_.add(a); }

  // What a reduction reads in global memory it also writes.
  void reads(AccessId id, Rule unwritten = Rule::none) const {
    if (!m.launch_.full() && !uses_tensor_memory(op)) return;
    const bool reduces = is_reduction(op);
    Touch t{id, state.clock, unwritten};
    const auto visit = [&](const Span& s) {
      if (!reduces || s.memory == Memory::shared) m.touch(s, t);
    };
    footprint().reads(std::ref(visit));
  }
  void writes(AccessId id, Rule unwritten = Rule::none) const {
    if (!m.launch_.full() && !uses_tensor_memory(op)) return;
    Touch t{id, state.clock, unwritten};
    const auto visit = [&](const Span& s) { m.touch(s, t); };
    footprint().writes(std::ref(visit));
  }

  /// Copies an mbarrier in each destination CTA tells about.
  void signalled(Agent agent, std::initializer_list<uint32_t> barriers) const {
    Access a = access(agent, false);
    a.done_at = kInFlight;
    reads(flight.source = add(a));
    a.write = true;
    if (const TensorPlan* plan = m.launch_.full() ? footprint().plan() : nullptr; plan != nullptr) a.swizzles = swizzle_bit(plan->map.swizzle);
    a.reduction = is_reduction(op);
    for (uint32_t b : barriers) m.check_init(b, flight.who, state.clock);
    if (!m.launch_.full()) {
      for (uint32_t left = destinations(op); left != 0; left &= left - 1) land(static_cast<uint32_t>(std::countr_zero(left)), a);
      return;
    }
    uint32_t cta = ~0u;
    std::optional<Touch> t;
    const auto visit = [&](const Span& s) {
      if (s.memory != Memory::shared) return;
      if (s.cta != cta) {
        land(s.cta, a);
        t.emplace(flight.landings.back(), state.clock);
      }
      cta = s.cta;
      m.touch(s, *t);
    };
    footprint().writes(std::ref(visit));
  }
  /// What arrives in the shared memory of one CTA.
  void land(uint32_t cta, const Access& a) const {
    flight.landings.push_back(add(a));
    if (cta >= m.ctas_.size()) return;
    m.ctas_[cta].landings.push_back(flight.landings.back());
    if (cta != a.cta) m.visit_peer(cta, flight.landings.back(), state.clock);
  }
  // CUTLASS's epilogues let all lanes of a warp issue one store: the same bytes, any number of times. Operations of one
  // instruction are numbered in the order of lanes.
  bool repeats_a_lane() const {
    const auto& pending = m.cluster_.pending;
    return std::any_of(pending.begin(), pending.end(), [&](const AsyncOp& o) {
      const Issuer &a = o.issuer, &b = op.issuer;
      return a.cta == b.cta && a.warp == b.warp && a.pc == b.pc && a.lane < b.lane && o.id < op.id && op.id - o.id <= b.lane - a.lane && same_store(o, op);
    });
  }
  void store() const {
    if (repeats_a_lane()) return;
    Queue& q = m.queue_of(state.bulk, op.issuer.lane, true);
    Access a = access(Agent::store, false);
    a.done = q.read;
    a.done_at = ++q.issued;
    const AccessId source = add(a);
    q.reads.push_back(source);
    reads(source);
    a.write = true;
    a.reduction = is_reduction(op);
    a.done = q.done;
    writes(add(a));
  }
  /// A read by the next operation of a queue.
  Access next_of(Queue& q, Agent agent) const {
    Access a = access(agent, false);
    a.done = q.done;
    a.done_at = ++q.issued;
    return a;
  }
  /// Operations of a queue: their reads and writes end together.
  void queued(Queue& q, Agent agent, uint8_t swizzles = 0) const {
    if (q.issued == 0 && q.done == 0) q.done = m.new_component();
    Access a = next_of(q, agent);
    a.used = agent == Agent::tmem_ld ? q.read : 0;
    a.swizzles = swizzles;
    q.last = add(a);
    if (agent != Agent::wgmma || m.launch_.full()) reads(q.last, agent == Agent::tmem_ld ? Rule::tensor_unwritten : Rule::none);
    a.write = true;
    a.swizzles = 0;
    writes(add(a));
  }
  Queue& tensor() const { return m.queue_of(state.tensor, op.issuer.lane, false); }

  void operator()(const TensorCopy& t) const {
    m.use_map(w, op, t.map_address);
    t.direction == TensorCopy::Direction::load ? signalled(Agent::load, {t.mbar}) : store();
  }
  void operator()(const BulkCopy& b) const { b.kind == BulkCopy::Kind::shared_to_global ? store() : signalled(Agent::load, {b.mbar}); }
  void operator()(const RemoteStore& r) const { if (!r.global) signalled(Agent::remote, {r.mbar}); }
  void operator()(const TryCancel& t) const { signalled(Agent::load, {cluster_address(op.issuer.cta, shared_offset(t.mbar))}); }
  void operator()(const Umma& u) const { mma(u); }
  // The constant field of a descriptor of tcgen05 (docs/facts/tcgen05.md §4.6).
  void check_version(uint64_t d, const Access& a) const {
    const uint64_t version = d >> 46 & 7;
    if (version == 1) return;
    m.reporter_.report(Rule::descriptor_version, nullptr, a, [&] { return fmt::format("descriptor {:#018x}: bits 48..46 are {}", d, version); });
  }
  void operator()(const TmemCopy& c) const {
    m.ctas_[op.issuer.cta].scales.valid = false;
    Queue& q = tensor();
    Access a = next_of(q, Agent::copy);
    check_version(c.desc, a);
    a.swizzles = swizzles_of(c);
    a.form = c.shape == isa::Mod::_4x256b ? kCopy4x256b : 0;
    a.copies = copies_of(c);
    q.last = add(a);
    if (m.launch_.full()) {
      Touch t{q.last, state.clock};
      m.touch(m.footprints_->operands(m.cluster_, op, c), t);
    }
    a.write = true;
    a.swizzles = 0;
    Touch t{add(a), state.clock};
    for (const Span& s : m.footprints_->cells(m.cluster_, op, c).writes) m.touch(s, t);
  }
  void operator()(const TmemShift&) const { queued(tensor(), Agent::shift); }
  void operator()(const TmemLdSt& t) const {
    if (!t.load) {
      m.ctas_[op.issuer.cta].scales.valid = false;
      return queued(state.stores, Agent::tmem_st);
    }
    if (state.loads.read == 0) state.loads.read = m.new_component();
    queued(state.loads, Agent::tmem_ld);
    for (uint32_t r : t.regs) state.loading.add(t.frame + r, state.loads.issued);
  }
  // A warpgroup's product is one operation, here in four parts: whichever warp waits for a group waits for all of them.
  void operator()(const Wgmma& p) const {
    Queue& first = m.ctas_[op.issuer.cta].warps[op.issuer.warp & ~3u].products;
    if (first.done == 0) first.done = m.new_component();
    state.products.done = first.done;
    queued(state.products, Agent::wgmma, swizzles_of(p));
  }

  // The accumulator counts as written only: who may write it may read it.
  void mma(const Umma& u) const {
    Queue& q = tensor();
    Access a = next_of(q, Agent::mma);
    if (!u.a_in_tmem) check_version(u.a, a);
    check_version(u.b, a);
    a.swizzles = swizzles_of(u);
    a.scales = u.scale_vec != 0 && !u.a_in_tmem && !u.sparse;
    a.copies = scale_copies(u);
    a.form = form_of(u);
    if (u.scale_vec != 0) m.follow_scales(u, a);
    const AccessId id = q.last = add(a);
    Touch reading{id, state.clock, Rule::tensor_operand_unwritten};
    if (m.launch_.full()) m.touch(m.footprints_->operands(m.cluster_, op, u), reading);
    const TensorCells& cells = m.footprints_->cells(m.cluster_, op, u);
    for (const Span& s : cells.reads) m.touch(s, reading);
    a.write = true;
    a.swizzles = 0;
    a.scales = false;
    Touch writing{add(a), state.clock, u.accumulate ? Rule::accumulates_nothing : Rule::none};
    for (const Span& s : cells.writes) {
      m.touch(s, writing);
      for (const Span& o : cells.reads) if (!u.ashift && overlap(o, s)) m.reporter_.report(Rule::operands_overlap, nullptr, a, [&] { return cell_place(s); });
    }
  }

  void operator()(const AsyncCopy& c) const {
    if (!c.lanes.empty()) return queued(state.copies, Agent::cp_async);
    if (state.copies.issued != 0) flight.message.seen.raise(state.copies.done, state.copies.issued);
    m.check_init(c.mbar, flight.who, state.clock);
  }
  // The arrival releases what its thread issued before, and implies fence::before_thread_sync.
  void operator()(const Commit& c) const {
    Queue& q = tensor();
    flight.commit = true;
    Message& out = flight.message;
    out = state.clock.now;
    out.seen.raise(q.done, q.issued);
    out.tensor.join(state.clock.tensor_told);
    out.tensor.raise(q.done, q.issued);
    out.tensor.raise(state.clock.self, state.clock.time());
    state.clock.tick();
    for (uint32_t r = 0; r < 16; ++r) {
      if (c.multicast == 0 ? r == 0 : (c.multicast >> r & 1) != 0)
        m.check_init(c.multicast == 0 ? c.mbar : cluster_address(r, shared_offset(c.mbar)), flight.who, state.clock);
    }
  }
  void operator()(const RemoteArrive& r) const {
    const Ordering o = m.launch_.ordering(m.launch_.program->code[op.issuer.pc]);
    m.check_init(r.mbar, flight.who, state.clock);
    flight.message = o.release ? state.clock.release() : state.clock.fenced;
    if (!o.wide) flight.message.wide.clear();
    flight.message.tensor.join(state.clock.tensor_told);
    state.clock.tick();
  }
};

void ClusterMonitor::async(const AsyncOp& op, AsyncMoment moment) {
  switch (moment) {
    case AsyncMoment::issue: issue(op); break;
    case AsyncMoment::write: running_ = op.id; break;
    case AsyncMoment::signal:
      running_ = 0;
      flights_.close(op.id);
      break;
    case AsyncMoment::read: break;
  }
}

void ClusterMonitor::issue(const AsyncOp& op) {
  const Warp& w = cluster_.ctas[op.issuer.cta]->warps[op.issuer.warp];
  Flight& f = flights_.open(op.id);
  f.who = access_of(w, op.issuer.pc, 1u << op.issuer.lane, Agent::thread, false);
  std::visit(Issue{*this, op, w, state_of(w), f}, op.payload);
}

void ClusterMonitor::wait_groups(Queue& q, WarpState& w, uint64_t allowed, bool reads_only) {
  if (q.groups.size() <= allowed) return;
  const uint32_t over = q.groups[q.groups.size() - 1 - allowed];
  if (q.read != 0) w.clock.now.seen.raise(q.read, over);
  if (!reads_only && q.done != 0) w.clock.now.seen.raise(q.done, over);
  if (q.groups.size() > kGroupsKept) q.groups.erase(q.groups.begin(), q.groups.end() - kGroupsKept / 2);
  std::erase_if(q.reads, [&](AccessId id) { return accesses_[id].done_at <= over; });
}

// Allocation makes the columns fresh; freeing uses all of them.
void ClusterMonitor::tensor_memory(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto pc = static_cast<uint32_t>(&op - launch_.program->code.data());
  const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
  CtaState& cta = ctas_[w.cta->rank];
  WarpState& state = state_of(w);
  if (op.sync == isa::SyncRole::tmem_alloc) {
    const uint64_t a = lane_address(w, op, lane);
    const uint32_t at = shared_address(w, a, is_shared_generic(a)), columns = lanes<uint32_t>(w, op.src[1])[lane];
    touch({Memory::shared, shared_rank(at), shared_offset(at), 4}, accesses_.add(access_of(w, pc, mask, Agent::thread, true)), state.clock, Rule::none);
    uint32_t column = 0;
    std::memcpy(&column, w.cta->smem.data() + shared_offset(at), 4);
    cta.tensor.forget(column, columns);
    return;
  }
  const TmemAddr at(lanes<uint32_t>(w, op.src[0])[lane]);
  const uint32_t columns = lanes<uint32_t>(w, op.src[1])[lane];
  const AccessId id = accesses_.add(access_of(w, pc, mask, Agent::dealloc, true));
  touch({Memory::tmem, w.cta->rank, 0, 0, 0, kTmemLanes, at.column(), columns}, id, state.clock, Rule::none);
  cta.tensor.forget(at.column(), columns);
}

}  // namespace drywell::sim::check
