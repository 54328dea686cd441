#include "sim/timing/async_units.h"

#include <algorithm>

#include "drywell/core/error.h"
#include "sim/engine/engine.h"
#include "sim/engine/skip_wgmma.h"
#include "sim/schedule/functional.h"
#include "sim/timing/tma_transfer.h"

namespace drywell::sim {
namespace {

using Kind = Event::Kind;

const AsyncOp* find(const Cluster& c, uint64_t id) {
  const auto it = std::lower_bound(c.pending.begin(), c.pending.end(), id, [](const AsyncOp& p, uint64_t v) { return p.id < v; });
  return it == c.pending.end() || it->id != id ? nullptr : &*it;
}

const AsyncOp& get(const Cluster& c, uint64_t id) {
  const AsyncOp* op = find(c, id);
  if (op == nullptr) throw InternalError("timing: an operation ended before its time");
  return *op;
}

}  // namespace

void AsyncUnits::begin(uint32_t resident, Cluster& cluster) {
  if (residents_.size() <= resident) residents_.resize(resident + 1);
  residents_[resident] = {&cluster, {}, {}};
}

Time AsyncUnits::done_of(const Resident& r, uint64_t id) const {
  const auto it = std::find_if(r.tracks.begin(), r.tracks.end(), [&](const Track& t) { return t.id == id; });
  return it == r.tracks.end() ? 0 : it->done;
}

Time AsyncUnits::after(const Resident& r, const AsyncOp& op) const {
  Time t = 0;
  for (const uint64_t before : op.after) t = std::max(t, done_of(r, before));
  return t;
}

// The copies and shifts before an MMA must be complete; earlier MMAs only keep their order in the pipe.
Time AsyncUnits::after_but_mmas(const Resident& r, const AsyncOp& op) const {
  Time t = 0;
  for (const uint64_t before : op.after) {
    const AsyncOp* other = find(*r.cluster, before);
    if (other != nullptr && !std::holds_alternative<Umma>(other->payload)) t = std::max(t, done_of(r, before));
  }
  return t;
}

void AsyncUnits::expect(uint32_t resident, uint64_t id, const Service& s, bool at_once) {
  if (!at_once) events_.push(s.read, Kind::read, resident, id);
  events_.push(s.done, at_once ? Kind::finish : Kind::write, resident, id);
  residents_[resident].tracks.push_back({id, s.done});
}

Time AsyncUnits::remote_leg() const {
  return static_cast<Time>(std::max(1.0, static_cast<double>(arch_.mbarrier.remote_visible) - static_cast<double>(arch_.mbarrier.wake)));
}

// What an operation does in time, by its kind; a kind without a line here does not compile.
struct AsyncUnits::Dispatch {
  AsyncUnits& u;
  uint32_t resident;
  const AsyncOp& op;
  Time t;

  const Resident& r() const { return u.residents_[resident]; }
  void finish_at(Time done) const { u.events_.push(done, Kind::finish, resident, op.id); }
  void expect(const Service& s, bool at_once) const { u.expect(resident, op.id, s, at_once); }

  void operator()(const Umma& m) const { expect(u.tensor_.mma(op.issuer, m, t, u.after_but_mmas(r(), op)), false); }
  void operator()(const TmemLdSt& l) const { expect(u.tensor_.access(op.issuer, l, t), !l.load); }
  void operator()(const TmemCopy& c) const { expect(u.tensor_.copy(op.issuer, c, t, u.after(r(), op)), false); }
  void operator()(const TmemShift&) const {
    const Time done = u.tensor_.shift(t, u.after(r(), op));
    expect({done, done}, true);
  }
  void operator()(const Wgmma& m) const { u.dispatch_wgmma(resident, op, m, t); }
  // No queued operation depends on these: their completion is their only event.
  void operator()(const Commit&) const { finish_at(u.tensor_.commit(t, u.after(r(), op))); }
  void operator()(const RemoteArrive&) const { finish_at(t + u.remote_leg()); }
  void operator()(const RemoteStore&) const { finish_at(t + static_cast<Time>(u.arch_.dsmem.store_visible)); }
  void operator()(const TryCancel&) const { finish_at(t + static_cast<Time>(u.arch_.cost(isa::TimingClass::clc).latency)); }
  void operator()(const TensorCopy&) const { u.queue_copy(resident, op, t); }
  void operator()(const BulkCopy&) const { u.queue_copy(resident, op, t); }
  void operator()(const AsyncCopy&) const {
    if (!is_copy_arrival(op)) return u.queue_copy(resident, op, t);
    if (is_ready(*r().cluster, op)) finish_at(t);  // else it completes with the last of its copies
  }
};

void AsyncUnits::dispatch(uint32_t resident, const AsyncOp& op, Time t) { std::visit(Dispatch{*this, resident, op, t}, op.payload); }

// The four warps of a warpgroup issue their parts one by one; the instruction enters the pipe with the last of them.
void AsyncUnits::dispatch_wgmma(uint32_t resident, const AsyncOp& op, const Wgmma& m, Time t) {
  Warpgroup& group = residents_[resident].warpgroups[op.issuer.cta * 64 + op.issuer.warp / 4];
  group[op.issuer.warp % 4].push_back(op.id);
  if (std::any_of(group.begin(), group.end(), [](const auto& q) { return q.empty(); })) return;
  const Service s = tensor_.wgmma(op.issuer, m, t);
  for (auto& issued : group) {
    expect(resident, issued.front(), s, false);
    issued.pop_front();
  }
}

void AsyncUnits::queue_copy(uint32_t resident, const AsyncOp& op, Time t) {
  if (tma_of(op).admit({resident, op.id})) begin_copy(resident, op, t);
}

void AsyncUnits::begin_copy(uint32_t resident, const AsyncOp& op, Time t) {
  events_.push(tma_of(op).start(t, tensor_map_of(op)), Kind::tma_start, resident, op.id);
}

void AsyncUnits::request(uint32_t resident, const AsyncOp& op, MemoryKind kind, const TmaTransfer& transfer, Time t) {
  OutstandingRequest p;
  p.resident = resident;
  p.op = op.id;
  p.sm = static_cast<uint16_t>(sm_of(op));
  for (const ByteRange& x : transfer.ranges) p.bytes += x.bytes;
  const uint32_t first = memory_.first_new_run();
  memory_.runs().insert(memory_.runs().end(), transfer.ranges.begin(), transfer.ranges.end());
  memory_.send(kind, static_cast<double>(t), first, memory_.await(p), transfer.more);
}

// A store's shared memory has been read after the transfer; the data is in global memory an L2 access later.
bool AsyncUnits::start_copy(uint32_t resident, uint64_t id, Time t) {
  const AsyncOp& op = get(*residents_[resident].cluster, id);
  SmUnits& sm = sms_[sm_of(op)];
  const TmaTransfer transfer = transfer_of(op);
  switch (transfer.way) {
    case TmaTransfer::Way::within_cluster: events_.push(sm.tma.send(t, transfer.bytes), Kind::finish, resident, id); break;
    case TmaTransfer::Way::in:
      sm.tma.count_in(transfer.bytes);
      request(resident, op, is_cp_async(op) ? MemoryKind::load : MemoryKind::tma_load, transfer, t);
      break;
    case TmaTransfer::Way::out: {
      const Time drained = sm.tma.drain(t, transfer.bytes, transfer.reduce, sm.smem.tensor_active(static_cast<double>(t)));
      request(resident, op, MemoryKind::store, transfer, t);
      events_.push(drained, Kind::read, resident, id);
      break;
    }
  }
  return transfer.way == TmaTransfer::Way::in;
}

// The bytes of a load go through the SM's port, then signal the mbarrier. A store does not complete before its operands were read.
void AsyncUnits::data(const OutstandingRequest& p, Time t) {
  const AsyncOp& op = get(*residents_[p.resident].cluster, p.op);
  TmaEngine& tma = sms_[p.sm].tma;
  const Time done = is_load(op) ? tma.fill(t, p.bytes, is_multicast(op)) : std::max(t, tma.drained());
  events_.push(done, Kind::finish, p.resident, p.op);
}

// A launch that computes no values (--no-values) moves an MMA through its moments without a product. Returns false if the operation is no MMA.
bool AsyncUnits::without_product(Cluster& c, size_t index, bool& completed) {
  AsyncOp& op = c.pending[index];
  const auto* wgmma = std::get_if<Wgmma>(&op.payload);
  if (values_ || (wgmma == nullptr && !std::holds_alternative<Umma>(op.payload))) return false;
  completed = op.stage != AsyncOp::Stage::issued;
  if (!completed) {
    op.stage = AsyncOp::Stage::read;
    return true;
  }
  if (wgmma != nullptr) end_without_product(c, op, *wgmma);
  c.pending.erase(c.pending.begin() + static_cast<ptrdiff_t>(index));
  ++c.progress;
  return true;
}

std::optional<Fault> AsyncUnits::moment(uint32_t resident, uint64_t id, Time t, bool to_end) {
  Cluster& c = *residents_[resident].cluster;
  c.now = t;
  const AsyncOp& op = get(c, id);
  const auto index = static_cast<size_t>(&op - c.pending.data());
  const Issuer issuer = op.issuer;
  const bool tma = is_tma(op);
  StepResult s;
  if (!without_product(c, index, s.completed)) s = to_end ? run_to_end(c, index) : step(c, index);
  if (s.error.has_value()) {
    const AsyncOp* still = find(c, id);
    return fault_of(c, still != nullptr ? still->issuer : issuer, *s.error);
  }
  if (s.completed) completed(resident, id, issuer.cta, tma, t);
  return std::nullopt;
}

void AsyncUnits::completed(uint32_t resident, uint64_t id, uint32_t cta, bool tma, Time t) {
  Resident& r = residents_[resident];
  const auto it = std::find_if(r.tracks.begin(), r.tracks.end(), [&](const Track& x) { return x.id == id; });
  if (it != r.tracks.end()) {
    *it = r.tracks.back();
    r.tracks.pop_back();
  }
  for (const AsyncOp& p : r.cluster->pending) {
    const bool waited = is_copy_arrival(p) && std::find(p.after.begin(), p.after.end(), id) != p.after.end();
    if (waited && is_ready(*r.cluster, p)) events_.push(t, Kind::finish, resident, p.id);
  }
  if (!tma) return;
  if (const auto next = sms_[cta % sms_.size()].tma.end(); next.has_value()) begin_copy(next->resident, get(*residents_[next->resident].cluster, next->op), t);
}

}  // namespace drywell::sim
