#include "sim/check/async_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <span>

#include "drywell/isa/opcode.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tensor_map.h"
#include "sim/check/element_types.h"
#include "sim/engine/tensor_plan.h"
#include "sim/engine/tmem_copy_form.h"
#include "sim/engine/tmem_target.h"
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

/// FNV-1a, a word at a time.
class Digest {
 public:
  void add(uint64_t v) { value_ = (value_ ^ v) * 0x100000001B3u; }
  void add(std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
      add(word);
    }
  }
  /// Never 0.
  uint64_t value() const { return value_ | 1; }

 private:
  uint64_t value_ = 0xCBF29CE484222325u;
};

/// Of the places and values of a store; 0: not known. `lanes`: the warp's quarter of the lanes of tensor memory.
uint64_t digest_of(const TmemLdSt& t, uint32_t lanes) {
  if (t.data.empty()) return 0;
  Digest digest;
  for (const uint64_t v : {uint64_t{t.taddr}, uint64_t{lanes}, static_cast<uint64_t>(t.shape), uint64_t{t.num}, uint64_t{t.pack}, static_cast<uint64_t>(t.split)}) digest.add(v);
  for (const uint32_t v : t.data) digest.add(v);
  return digest.value();
}

/// Where a copy puts what it reads. The swizzle of a tensor copy depends on the address in shared memory.
void add_places(Digest& digest, const TensorCopy& t) {
  digest.add(std::as_bytes(std::span(t.map)));
  digest.add(std::as_bytes(std::span(t.coord)));
  digest.add(std::as_bytes(std::span(t.offset)));
  digest.add(static_cast<uint64_t>(t.mode));
  digest.add(shared_offset(t.smem));
}
void add_places(Digest& digest, const BulkCopy& b) {
  for (const uint64_t v : {b.dst, uint64_t{b.bytes}, uint64_t{b.byte_mask}}) digest.add(v);
}

/// Of the places and values of a copy from shared memory, whose source is as it is now: a source that changes later is a hazard of its own.
template <class Copy>
uint64_t digest_of(const Cluster& c, const Copy& copy, const Footprint& footprint) {
  Digest digest;
  add_places(digest, copy);
  const auto visit = [&](const Span& s) {
    if (s.memory != Memory::shared || s.cta >= c.ctas.size() || !c.ctas[s.cta]->smem.contains(static_cast<uint32_t>(s.begin), s.bytes)) return;
    digest.add(std::as_bytes(std::span(c.ctas[s.cta]->smem.data() + s.begin, s.bytes)));
  };
  footprint.reads(std::ref(visit));
  return digest.value();
}

uint8_t swizzles_of(const TmemCopy& c) { return swizzle_bit(c.desc, isa::SmemDescriptorFormat::tcgen05); }

// The fields of a product's shape and kind that its accumulator depends on: N in bits 17..22, M in 24..28 (PTX ISA 9.7.16.4.2).
uint32_t form_of(const Umma& u) {
  constexpr uint32_t kShape = 0x3Fu << 17 | 0x1Fu << 24;
  return (u.idesc & kShape) | static_cast<uint32_t>(u.kind) << 8 | uint32_t{u.ws} << 1 | uint32_t{u.sparse};
}
// Copies of its scale factors that a product reads: one for each quarter of the lanes; M of 128 over two CTAs has half of N in each
// half of the lanes (docs/facts/tcgen05.md §6.2). M / 128 is in bits 27..28 of the block-scaled kinds.
uint8_t scale_copies(const Umma& u) { return u.cta_group == 2 && (u.idesc >> 27 & 3) == 1 ? 2 : 4; }
// The number of places in tensor memory that each row of a copy goes to.
uint8_t copies_of(const TmemCopy& c) { return static_cast<uint8_t>(isa::copy_lanes(copy_shape(c), 0).count); }

/// Whether two stores bring the same bytes to the same place.
bool same_store(const AsyncOp& a, const AsyncOp& b) {
  if (const auto* x = std::get_if<TensorCopy>(&a.payload), *y = std::get_if<TensorCopy>(&b.payload); x != nullptr && y != nullptr) {
    return x->direction == TensorCopy::Direction::store && y->direction == x->direction && x->mode == y->mode && x->map_address == y->map_address &&
           x->coord == y->coord && x->smem == y->smem;
  }
  const auto *x = std::get_if<BulkCopy>(&a.payload), *y = std::get_if<BulkCopy>(&b.payload);
  return x != nullptr && y != nullptr && x->reduce_op == isa::Mod::none && y->reduce_op == isa::Mod::none && x->src == y->src && x->dst == y->dst &&
         x->bytes == y->bytes && x->byte_mask == y->byte_mask;
}

/// The operation accesses tensor memory, which the checker follows at every level.
bool uses_tensor_memory(const AsyncOp& op) {
  return std::holds_alternative<Umma>(op.payload) || std::holds_alternative<TmemLdSt>(op.payload) || std::holds_alternative<TmemCopy>(op.payload) ||
         std::holds_alternative<TmemShift>(op.payload);
}

/// CTAs whose shared memory a copy writes; the bytes are not listed.
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

// Visitors are passed by reference: a std::function that owned them would allocate, some ten thousand times a second.

// Issue of one operation, a function per payload: sets the ends of its accesses, and marks the memory that it touches.
struct AsyncOperations::Issue {
  ClusterParts& m;
  KnownFootprints& known;
  const AsyncOp& op;
  const Warp& w;
  WarpState& state;
  Flight& flight;
  mutable std::optional<Footprint> made{};

  const Footprint& footprint() const { return made.has_value() ? *made : made.emplace(m.cluster, op); }
  Access access(Agent agent, bool write) const {
    Access a = m.warps.access(w, op.issuer.pc, 1u << op.issuer.lane, agent, write);
    a.lone = std::has_single_bit(w.active & read_pred(w, m.launch.program->code[op.issuer.pc].guard));
    return a;
  }
  AccessId add(const Access& a) const { return m.accesses.add(a); }
  /// One of several lanes that arrive, or of the warp's only lane.
  void join_lanes() const { state.clock.join_lanes(w.active & read_pred(w, m.launch.program->code[op.issuer.pc].guard), w.alive); }

  // A reduction also writes the global memory that it reads.
  void reads(AccessId id) const {
    MemoryShadow::Touch t{id, state.clock};
    reads(t);
  }
  void reads(MemoryShadow::Touch& t) const {
    if (!m.launch.full() && !uses_tensor_memory(op)) return;
    const bool reduces = is_reduction(op);
    const auto visit = [&](const Span& s) {
      if (!reduces || s.memory == Memory::shared) m.memory.touch(s, t);
    };
    footprint().reads(std::ref(visit));
  }
  void writes(AccessId id, Rule unwritten = Rule::none) const {
    if (!m.launch.full() && !uses_tensor_memory(op)) return;
    MemoryShadow::Touch t{id, state.clock, unwritten};
    const auto visit = [&](const Span& s) { m.memory.touch(s, t); };
    footprint().writes(std::ref(visit));
  }

  /// Copies that an mbarrier in each destination CTA signals.
  void signalled(Agent agent, std::initializer_list<uint32_t> barriers, uint64_t stored = 0) const {
    Access a = access(agent, false);
    a.done_at = kInFlight;
    reads(flight.source = add(a));
    a.write = true;
    a.stored = stored;
    if (const TensorPlan* plan = m.launch.full() ? footprint().plan() : nullptr; plan != nullptr) {
      a.swizzles = swizzle_bit(plan->map.swizzle);
      a.elements = elements_of(plan->map.type);
    }
    a.reduction = is_reduction(op);
    for (uint32_t b : barriers) m.mbarriers.check_init(b, flight.who, state.clock.now.seen);
    if (!m.launch.full()) {
      for (uint32_t left = destinations(op); left != 0; left &= left - 1) land(static_cast<uint32_t>(std::countr_zero(left)), a);
      return;
    }
    uint32_t cta = ~0u;
    std::optional<MemoryShadow::Touch> t;
    Extent extent;
    const auto visit = [&](const Span& s) {
      if (s.memory != Memory::shared) return;
      extent.add(s);
      if (s.cta != cta) {
        land(s.cta, a);
        t.emplace(flight.landings.back(), state.clock);
      }
      cta = s.cta;
      m.memory.touch(s, *t);
    };
    footprint().writes(std::ref(visit));
    check_bounds(extent, a);
  }
  /// The bytes of shared memory between the first and the last that a copy writes, in every CTA the same.
  struct Extent {
    uint64_t begin = ~uint64_t{0}, end = 0;
    void add(const Span& s) {
      begin = std::min(begin, s.begin);
      end = std::max(end, s.begin + s.bytes);
    }
  };
  void check_bounds(const Extent& e, const Access& a) const {
    const LaunchState::SharedArray* array = e.end == 0 ? nullptr : m.launch.array_at(e.begin);
    if (array == nullptr || e.end <= array->end) return;
    m.reporter.report(Rule::copy_beyond_array, nullptr, a, [&] {
      return fmt::format("bytes {:#x} to {:#x} of shared memory; '{}' ends at {:#x}", e.begin, e.end, array->name, array->end);
    });
  }
  /// The writes to the shared memory of one CTA.
  void land(uint32_t cta, const Access& a) const {
    flight.landings.push_back(add(a));
    if (cta >= m.warps.ctas()) return;
    m.lifetimes.land(cta, flight.landings.back());
    if (cta != a.cta) m.lifetimes.visit(cta, flight.landings.back(), state.clock);
  }
  // CUTLASS's epilogues let all lanes of a warp issue one store: the same bytes, any number of times. Operations of one
  // instruction are numbered in the order of lanes.
  bool repeats_a_lane() const {
    const auto& pending = m.cluster.pending;
    return std::any_of(pending.begin(), pending.end(), [&](const AsyncOp& o) {
      const Issuer &a = o.issuer, &b = op.issuer;
      return a.cta == b.cta && a.warp == b.warp && a.pc == b.pc && a.lane < b.lane && o.id < op.id && op.id - o.id <= b.lane - a.lane && same_store(o, op);
    });
  }
  template <class Copy>
  void store(const Copy& copy) const {
    OperationQueue& q = state.bulk.of(op.issuer.lane, m.components);
    Access a = access(Agent::store, false);
    a.done = q.read;
    a.done_at = q.issue();
    const AccessId source = add(a);
    q.add_source(source);
    reads(source);
    a.write = true;
    a.reduction = is_reduction(op);
    if (!a.reduction && m.launch.full() && m.launch.options.global_memory) a.stored = digest_of(m.cluster, copy, footprint());
    a.done = q.done;
    writes(add(a));
  }
  /// A read operand of the next operation of a queue.
  Access next_of(OperationQueue& q, Agent agent) const {
    Access a = access(agent, false);
    a.done = q.done;
    a.done_at = q.issue();
    return a;
  }
  /// Operations of a queue: their reads and writes are complete together.
  void queued(OperationQueue& q, Agent agent, uint8_t swizzles = 0, uint8_t elements = 0, uint64_t stored = 0) const {
    q.open(m.components);
    Access a = next_of(q, agent);
    a.used = agent == Agent::tmem_ld ? q.read : 0;
    a.swizzles = swizzles;
    a.elements = elements;
    q.last = add(a);
    if (agent != Agent::tmem_ld && (agent != Agent::wgmma || m.launch.full())) reads(q.last);
    a.write = true;
    a.swizzles = a.elements = 0;
    a.stored = stored;
    writes(add(a));
  }
  /// What nothing has written is followed to its uses, as from memory of other kinds; of a reduction it is reported here.
  void read_tensor(const TmemLdSt& t) const {
    const bool full = m.launch.follows_values();
    MemoryShadow::Touch touch{state.loads.last, state.clock, full ? Rule::tensor_unwritten : Rule::none, full && t.reduce_op == isa::Mod::none};
    reads(touch);
    if (touch.found) note_vacant(t);
  }
  void note_vacant(const TmemLdSt& t) const {
    TmemTarget at;
    if (locate(m.cluster, op, t, at).has_value()) return;
    for (uint32_t r = 0; r < t.regs.size(); ++r) {
      const LaneMask lanes = vacant_lanes(at, r);
      if (lanes != 0) note_hole(state.holes, {.slot = t.regs[r], .lanes = lanes, .tensor = true});
    }
  }
  LaneMask vacant_lanes(const TmemTarget& at, uint32_t r) const {
    LaneMask lanes = 0;
    for (uint32_t l = 0; l < kWarpSize; ++l) {
      const isa::TmemOffset o = isa::tmem_offset(at.access, l, r);
      const auto column = static_cast<uint32_t>(static_cast<int32_t>(at.column) + o.column);
      const bool vacant = m.memory.is_vacant(op.issuer.cta, at.lane + o.lane, column) || (at.access.pack && m.memory.is_vacant(op.issuer.cta, at.lane + o.lane, column + 1));
      lanes |= LaneMask{vacant} << l;
    }
    return lanes;
  }
  OperationQueue& tensor() const { return state.tensor.of(op.issuer.lane, m.components); }

  // The copy may read its map until it is complete: loads until their last mbarrier is signalled, stores until wait_group.read (PTX ISA
  // 9.7.9.25.3.2 counts the map among the reads).
  void use_map(const TensorCopy& t) const {
    if (t.map_address < window::kGlobalBase || !m.launch.full()) return;
    m.memory.read_map(t.map_address, add(m.warps.access(w, op.issuer.pc, 1u << op.issuer.lane, Agent::load, false)), state.clock);
    Access a = m.warps.access(w, op.issuer.pc, 1u << op.issuer.lane, Agent::map, false);
    if (t.direction == TensorCopy::Direction::load) {
      a.done_at = kInFlight;
    } else {
      const OperationQueue& q = state.bulk.of(op.issuer.lane, m.components);
      a.done = q.read;
      a.done_at = q.issued + 1;
    }
    m.memory.hold_map(t.map_address, flight.map = add(a), state.clock);
  }
  void follow_scales(const Umma& u, const Access& a) const {
    if (!m.scales[a.cta].repeats(u)) return;
    m.reporter.report(Rule::scales_again, nullptr, a, [&] {
      return fmt::format("scale factors at columns {} and {}, ids {} and {}", TmemAddr(u.sfa).column(), TmemAddr(u.sfb).column(), u.idesc >> 29 & 3, u.idesc >> 4 & 3);
    });
  }

  void operator()(const TensorCopy& t) const {
    const bool load = t.direction == TensorCopy::Direction::load;
    if (!load && repeats_a_lane()) return;
    use_map(t);
    load ? signalled(Agent::load, {t.mbar}) : store(t);
  }
  void operator()(const BulkCopy& b) const {
    if (!b.to_global()) return signalled(Agent::load, {b.mbar}, b.from_shared() && m.launch.full() ? digest_of(m.cluster, b, footprint()) : 0);
    if (!repeats_a_lane()) store(b);
  }
  void operator()(const RemoteStore& r) const {
    if (!r.global) signalled(Agent::remote, {r.mbar});
  }
  void operator()(const TryCancel& t) const { signalled(Agent::load, {cluster_address(op.issuer.cta, shared_offset(t.mbar))}); }
  void operator()(const Umma& u) const { mma(u); }
  // The constant field of a descriptor of tcgen05 (docs/facts/tcgen05.md §4.6).
  void check_version(uint64_t d, const Access& a) const {
    const uint64_t version = d >> 46 & 7;
    if (version == 1) return;
    m.reporter.report(Rule::descriptor_version, nullptr, a, [&] { return fmt::format("descriptor {:#018x}: bits 48..46 are {}", d, version); });
  }
  template <class Product>
  void check_strides(const Product& p, Agent agent) const {
    if (!m.launch.full()) return;
    if (const std::string overlap = known.strides.overlap(p); !overlap.empty()) m.reporter.report(Rule::operand_overlaps, nullptr, access(agent, false), [&] { return overlap; });
  }
  void operator()(const TmemCopy& c) const {
    m.scales[op.issuer.cta].forget();
    OperationQueue& q = tensor();
    Access a = next_of(q, Agent::copy);
    check_version(c.desc, a);
    a.swizzles = swizzles_of(c);
    a.form = c.shape == isa::Mod::_4x256b ? kCopy4x256b : 0;
    a.copies = copies_of(c);
    q.last = add(a);
    if (m.launch.full()) {
      MemoryShadow::Touch t{q.last, state.clock};
      m.memory.touch(known.operands(m.cluster, op, c), t);
    }
    a.write = true;
    a.swizzles = 0;
    MemoryShadow::Touch t{add(a), state.clock};
    for (const Span& s : known.cells(m.cluster, op, c).writes) m.memory.touch(s, t);
  }
  void operator()(const TmemShift&) const { queued(tensor(), Agent::shift); }
  // Bits of the lane above those of 128 lanes are ignored (sim/engine/tmem_target.cpp).
  void check_lane(const TmemLdSt& t) const {
    const uint32_t lane = TmemAddr(t.taddr).lane();
    if (lane < kTmemLanes) return;
    const Access a = access(t.load ? Agent::tmem_ld : Agent::tmem_st, !t.load);
    m.reporter.report(Rule::lanes_ignored, nullptr, a, [&] { return fmt::format("lane {} by warp {} is taken as lane {}", lane, op.issuer.warp, lane % kTmemLanes); });
  }
  void operator()(const TmemLdSt& t) const {
    check_lane(t);
    if (!t.load) {
      m.scales[op.issuer.cta].forget();
      return queued(state.stores, Agent::tmem_st, 0, 0, digest_of(t, op.issuer.warp % 4));
    }
    if (state.loads.read == 0) state.loads.read = m.components.next();
    queued(state.loads, Agent::tmem_ld);
    read_tensor(t);
    for (uint32_t r : t.regs) state.loading.add(t.frame + r, {state.loads.issued, state.loads.last});
  }
  // A warpgroup's product is one operation, here in four parts: a warp that waits for a group waits for all four.
  void operator()(const Wgmma& p) const {
    OperationQueue& first = m.warps.of_cta(op.issuer.cta)[op.issuer.warp & ~3u].products;
    first.open(m.components);
    state.products.done = first.done;
    queued(state.products, Agent::wgmma, swizzles_of(p), elements_of(p));
    check_fragments(p);
    check_written(p);
    check_strides(p, Agent::wgmma);
    const uint32_t shape = uint32_t{p.n} << 16 | p.k;
    if (m.launch.follows_registers()) state.registers.prepare(w, *m.launch.program, m.launch.followed, w.frame);
    for (const uint32_t r : p.d_regs) {
      state.fragments.take(p.frame + r, {state.products.last, shape});
      if (m.launch.follows_registers()) state.registers.define(p.frame + r, kFullMask);
      if (state.absent.any()) state.absent.set_register(p.frame + r, kFullMask, {});
    }
    for (const uint32_t r : p.a_regs) state.fragments.take(p.frame + r, {state.products.last});
  }
  // An accumulator that the product does not add to needs no value.
  void check_written(const Wgmma& p) const {
    if (!m.launch.follows_registers()) return;
    const auto unwritten = [&](uint32_t r) { return !state.registers.defined(m.launch.followed, p.frame + r, w.alive); };
    const bool any = (p.accumulate && std::any_of(p.d_regs.begin(), p.d_regs.end(), unwritten)) || std::any_of(p.a_regs.begin(), p.a_regs.end(), unwritten);
    if (any) m.reporter.report(Rule::register_unwritten, nullptr, access(Agent::wgmma, false), [] { return std::string("registers"); });
  }
  // A wgmma.fence is before a warp's first product, and between every other access of a register and the product that takes it. Products of
  // one shape need none for their accumulator (PTX ISA 9.7.15.7.1).
  void check_fragments(const Wgmma& p) const {
    if (!state.fragments.fenced()) return unfenced(nullptr, "the first product of the warp");
    const uint32_t shape = uint32_t{p.n} << 16 | p.k;
    for (const uint32_t r : p.d_regs) check_fragment(p.frame, r, shape);
    for (const uint32_t r : p.a_regs) check_fragment(p.frame, r, 0);
  }
  void check_fragment(uint32_t frame, uint32_t r, uint32_t shape) const {
    const Program& program = *m.launch.program;
    const auto name = [&] { return register_name(program, program.code[op.issuer.pc].function, r); };
    if (const auto* t = state.fragments.unfenced(frame + r); t != nullptr) {
      Access prior = m.warps.access(w, t->pc, t->lanes, Agent::thread, true);
      prior.when = t->when;
      unfenced(&prior, name());
    } else if (state.fragments.other_shape(frame + r, shape)) {
      unfenced(&m.accesses[state.fragments.product_of(frame + r).id], name() + ", an accumulator of another shape");
    }
  }
  void unfenced(const Access* prior, const std::string& what) const {
    m.reporter.report(Rule::fragment_unfenced, prior, access(Agent::wgmma, true), [&] { return what; });
  }

  // The accumulator counts as written only: a thread that may write it may read it.
  void mma(const Umma& u) const {
    OperationQueue& q = tensor();
    Access a = next_of(q, Agent::mma);
    if (!u.a_in_tmem) check_version(u.a, a);
    check_version(u.b, a);
    check_strides(u, Agent::mma);
    a.swizzles = swizzles_of(u);
    a.elements = m.launch.full() ? elements_of(u) : uint8_t{0};
    a.scales = u.scale_vec != 0 && !u.a_in_tmem && !u.sparse;
    a.copies = scale_copies(u);
    a.form = form_of(u);
    if (u.scale_vec != 0) follow_scales(u, a);
    const AccessId id = q.last = add(a);
    MemoryShadow::Touch reading{id, state.clock, Rule::tensor_operand_unwritten};
    if (m.launch.full()) m.memory.touch(known.operands(m.cluster, op, u), reading);
    const TensorCells& cells = known.cells(m.cluster, op, u);
    for (const Span& s : cells.reads) m.memory.touch(s, reading);
    a.write = true;
    a.swizzles = a.elements = 0;
    a.scales = false;
    MemoryShadow::Touch writing{add(a), state.clock, u.accumulate ? Rule::accumulates_nothing : Rule::none};
    for (const Span& s : cells.writes) {
      m.memory.touch(s, writing);
      for (const Span& o : cells.reads)
        if (!u.ashift && overlap(o, s)) m.reporter.report(Rule::operands_overlap, nullptr, a, [&] { return cell_place(s); });
    }
  }

  // Each lane waits for its own copy only.
  void copy_of_lanes(const AsyncCopy& c) const {
    queued(state.copies, Agent::cp_async);
    state.clock.copies = state.copies.done;
    LanePlaces places{{}, c.lanes.front().bytes, c.mask};
    size_t i = 0;
    for (LaneMask left = c.mask; left != 0; left &= left - 1) places.at[static_cast<size_t>(std::countr_zero(left))] = c.lanes[i++].smem;
    m.accesses.at(static_cast<AccessId>(m.accesses.size() - 1)).places = state.clock.copied.add(places);
  }
  void operator()(const AsyncCopy& c) const {
    if (!c.lanes.empty()) return copy_of_lanes(c);
    state.copies.wait_all(flight.message.seen);
    state.copies.wait_all(flight.message.wide);
    m.mbarriers.check_init(c.mbar, flight.who, state.clock.now.seen);
    m.mbarriers.copies_arrive(c.mbar, flight.who);
  }
  // The arrival releases what its thread issued before, and implies fence::before_thread_sync.
  void operator()(const Commit& c) const {
    OperationQueue& q = tensor();
    flight.commit = true;
    join_lanes();
    Message& out = flight.message;
    out = state.clock.now;
    out.seen.raise(q.done, q.issued);
    out.tensor.join(state.clock.tensor_released);
    out.tensor.raise(q.done, q.issued);
    out.tensor.raise(state.clock.self, state.clock.time());
    state.clock.tick();
    for (uint32_t r = 0; r < 16; ++r) {
      if (c.multicast == 0 ? r == 0 : (c.multicast >> r & 1) != 0)
        m.mbarriers.check_init(c.multicast == 0 ? c.mbar : cluster_address(r, shared_offset(c.mbar)), flight.who, state.clock.now.seen);
    }
  }
  void operator()(const RemoteArrive& r) const {
    const Ordering o = m.launch.ordering(m.launch.program->code[op.issuer.pc]);
    m.mbarriers.check_init(r.mbar, flight.who, state.clock.now.seen);
    Access a = access(Agent::arrival, false);
    a.done_at = kInFlight;
    flight.arrives = true;
    flight.landings.push_back(add(a));
    if (shared_rank(r.mbar) < m.warps.ctas()) m.lifetimes.visit(shared_rank(r.mbar), flight.landings.back(), state.clock);
    join_lanes();
    flight.message = o.release ? state.clock.release() : state.clock.fenced;
    if (!o.wide) flight.message.wide.clear();
    flight.message.tensor.join(state.clock.tensor_released);
    state.clock.tick();
  }
};

void AsyncOperations::moment(const AsyncOp& op, AsyncMoment m) {
  switch (m) {
    case AsyncMoment::issue: issue(op); break;
    case AsyncMoment::write: running_ = op.id; break;
    case AsyncMoment::signal:
      running_ = 0;
      flights_.close(op.id);
      break;
    case AsyncMoment::read: break;
  }
}

void AsyncOperations::issue(const AsyncOp& op) {
  const Warp& w = parts_.cluster.ctas[op.issuer.cta]->warps[op.issuer.warp];
  Flight& f = flights_.open(op.id);
  f.who = parts_.warps.access(w, op.issuer.pc, 1u << op.issuer.lane, Agent::thread, false);
  std::visit(Issue{parts_, *footprints_, op, w, parts_.warps.of(w), f}, op.payload);
}

// Bytes have arrived in one CTA: a thread that sees its mbarrier's phase complete has the copy complete.
void AsyncOperations::land(Flight& f, uint32_t address) {
  if (f.signalled >= f.landings.size()) return;
  const MbarrierLedger::End end = parts_.mbarriers.end_of_phase(address);
  for (AccessId id : {f.landings[f.signalled++], f.source, f.map}) {
    if (id == 0) continue;
    parts_.accesses.at(id).done = end.component;
    parts_.accesses.at(id).done_at = end.value;
  }
}

// The arrival itself must happen before the CTA of the mbarrier ends.
void AsyncOperations::arrive_of_commit(const Flight& f, uint32_t address) {
  const MbarrierLedger::End end = parts_.mbarriers.end_of_phase(address);
  Access arrival = f.who;
  arrival.agent = Agent::mma;
  arrival.write = true;
  arrival.done = end.component;
  arrival.done_at = end.value;
  parts_.lifetimes.land(shared_rank(address), parts_.accesses.add(arrival));
}

bool AsyncOperations::signal(uint32_t address, MbarrierEvent what, int64_t amount) {
  Flight* const f = running_ == 0 ? nullptr : flights_.find(running_);
  if (f == nullptr) return false;
  if (what == MbarrierEvent::phase_complete) {
    parts_.mbarriers.complete_phase(address);
    return true;
  }
  if (what == MbarrierEvent::complete_tx || f->arrives) land(*f, address);
  if (what == MbarrierEvent::arrive && f->commit) arrive_of_commit(*f, address);
  if (what == MbarrierEvent::arrive && !f->commit && !f->arrives) parts_.mbarriers.copies_arrived(address, f->who);
  parts_.mbarriers.note(address, {what, amount, f->who.pc, f->who.cta, f->who.warp, true}, f->message, f->message.wide, f->who);
  return true;
}

}  // namespace drywell::sim::check
