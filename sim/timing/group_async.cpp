// Asynchronous operations: when their operands are read, their results written and their signals seen.
#include <algorithm>
#include <cstring>

#include "drywell/core/error.h"
#include "drywell/isa/tensor_tile.h"
#include "sim/schedule/functional.h"
#include "sim/engine/engine.h"
#include "sim/engine/skip_wgmma.h"
#include "sim/exec/exec.h"
#include "sim/events/hub.h"
#include "sim/timing/group.h"
#include "sim/timing/umma_cost.h"

namespace drywell::sim {
namespace {

// The rows of a tensor copy in global memory. False when the map or the coordinates are wrong: the engine
// will say so.
bool tensor_ranges(const TensorCopy& t, std::vector<ByteRange>& out, uint32_t& bytes) {
  isa::TensorMap map;
  std::memcpy(map.bytes.data(), t.map.data(), t.map.size());
  Diagnostics problems;
  const isa::TensorMapFields f = isa::decode(map, problems);
  const bool store = t.direction != TensorCopy::Direction::load;
  const auto access = store ? isa::TensorAccess::store : isa::TensorAccess::load;
  if (problems.has_errors() || (f.interleave != isa::Interleave::none && f.mode != isa::TensorMapMode::tile) || f.rank != t.rank) return false;
  const isa::TensorRequest request{t.mode, access, t.coord, t.offset};
  isa::check_request(f, request, problems);
  if (problems.has_errors()) return false;
  const isa::TensorRows box = isa::tensor_rows(f, request);
  bytes = box.geometry.rows * box.geometry.row_bytes;
  for (const isa::TileRow& row : box.rows) {
    if (row.first == row.last) continue;
    const uint64_t first = (f.address + row.global_offset + row.first) & ~uint64_t{31};
    const uint64_t last = (f.address + row.global_offset + row.last + 31) & ~uint64_t{31};
    if (!out.empty() && out.back().address + out.back().bytes == first) {
      out.back().bytes += static_cast<uint32_t>(last - first);
    } else {
      out.push_back({first, static_cast<uint32_t>(last - first)});
    }
  }
  return true;
}

ByteRange sectors_of(uint64_t address, uint32_t bytes) {
  const uint64_t first = address & ~uint64_t{31}, last = (address + bytes + 31) & ~uint64_t{31};
  return {first, static_cast<uint32_t>(last - first)};
}

/// cp.async.mbarrier.arrive: happens when the copies it comes after are complete.
bool is_copy_arrival(const AsyncOp& op) {
  const auto* copy = std::get_if<AsyncCopy>(&op.payload);
  return copy != nullptr && copy->lanes.empty();
}

size_t index_of(const Cluster& c, uint64_t id) {
  const auto it = std::lower_bound(c.pending.begin(), c.pending.end(), id,
                                   [](const AsyncOp& p, uint64_t v) { return p.id < v; });
  if (it == c.pending.end() || it->id != id)
    throw InternalError("timing: an operation ended before its time");
  return static_cast<size_t>(it - c.pending.begin());
}

}  // namespace

Time Group::done_of(const Resident& r, uint64_t id) const {
  for (const Resident::Track& t : r.tracks) {
    if (t.id == id) return t.done;
  }
  return 0;
}

uint32_t Group::add_pending(PendingLoad p) {
  if (free_pending_.empty()) {
    pending_.push_back(std::move(p));
    return static_cast<uint32_t>(pending_.size() - 1);
  }
  const uint32_t i = free_pending_.back();
  free_pending_.pop_back();
  pending_[i] = std::move(p);
  return i;
}

void Group::dispatch(uint32_t resident, size_t pending_index, Time t) {
  Resident& r = residents_[resident];
  const AsyncOp& op = r.cluster->pending[pending_index];
  const uint64_t id = op.id;
  Time done = kNever;
  if (const auto* u = std::get_if<Umma>(&op.payload)) {
    done = dispatch_umma(r, op, *u, t);
  } else if (const auto* l = std::get_if<TmemLdSt>(&op.payload)) {
    done = dispatch_tmem(r, op, *l, t);
  } else if (const auto* c = std::get_if<TmemCopy>(&op.payload)) {
    done = dispatch_copy(r, op, *c, t);
  } else if (const auto* m = std::get_if<Wgmma>(&op.payload)) {
    dispatch_wgmma(r, op, *m, t);
    return;
  } else if (std::holds_alternative<TmemShift>(op.payload)) {
    done = t + static_cast<Time>(arch_.cost(isa::TimingClass::tmem_shift).latency);
    for (const uint64_t before : op.after)
      done = std::max(
          done, done_of(r, before) + static_cast<Time>(arch_.cost(isa::TimingClass::tmem_shift).latency));
    push(done, EventKind::finish, resident, id);
  } else if (std::holds_alternative<Commit>(op.payload)) {
    Time work = t + static_cast<Time>(arch_.umma.latency_start);
    for (const uint64_t before : op.after) work = std::max(work, done_of(r, before));
    push(work + static_cast<Time>(std::lround(arch_.umma.latency_commit)), EventKind::finish, resident, id);
    return;
  } else if (std::holds_alternative<RemoteArrive>(op.payload)) {
    const double leg = std::max(
        1.0, static_cast<double>(arch_.mbarrier.remote_visible) - static_cast<double>(arch_.mbarrier.wake));
    push(t + static_cast<Time>(leg), EventKind::finish, resident, id);
    return;
  } else if (std::holds_alternative<RemoteStore>(op.payload)) {
    push(t + static_cast<Time>(arch_.dsmem.store_visible), EventKind::finish, resident, id);
    return;
  } else if (std::holds_alternative<TryCancel>(op.payload)) {
    push(t + static_cast<Time>(arch_.cost(isa::TimingClass::clc).latency), EventKind::finish, resident, id);
    return;
  } else if (is_copy_arrival(op)) {
    if (is_ready(*r.cluster, op)) push(t, EventKind::finish, resident, id);  // else with the last of its copies
    return;
  } else {
    queue_tma(resident, op, t);
    return;
  }
  r.tracks.push_back({id, done});
}

Time Group::dispatch_umma(Resident& r, const AsyncOp& op, const Umma& u, Time t) {
  const UmmaShape shape = umma_shape(u);
  const UmmaCost cost = umma_cost(arch_, shape);
  SmUnits& own = sms_[op.issuer.cta % sms_.size()];
  SmUnits& peer = shape.pair ? sms_[(op.issuer.cta ^ 1) % sms_.size()] : own;
  double arrival = static_cast<double>(t) + static_cast<double>(arch_.umma.latency_start);
  // Copies and shifts it comes after must have ended; earlier MMAs only keep their order in the pipe.
  for (const uint64_t before : op.after) {
    const auto it = std::lower_bound(r.cluster->pending.begin(), r.cluster->pending.end(), before,
                                     [](const AsyncOp& p, uint64_t v) { return p.id < v; });
    if (it != r.cluster->pending.end() && it->id == before && !std::holds_alternative<Umma>(it->payload))
      arrival = std::max(arrival, static_cast<double>(done_of(r, before)));
  }
  const double free = std::max(own.tensor.free_at(), peer.tensor.free_at());
  // A batch: the second of instructions that queue up pays once more (docs/facts/timing.md §4.2).
  double interval = cost.interval;
  if (free > arrival && !own.in_batch) {
    arrival = free + arch_.umma.first_extra;
    own.in_batch = true;
  } else if (free <= arrival) {
    own.in_batch = false;
  }
  const double start = own.tensor.begin(std::max(arrival, free), interval);
  own.smem.reserve(start, cost.fetch);
  own.tensor_instructions += 1;
  if (&peer != &own) {
    peer.tensor.begin(start, interval);
    peer.smem.reserve(start, cost.fetch);
  }
  // Results land in order.
  const double done = std::max(start + cost.pass, own.last_mma_done);
  own.last_mma_done = done;
  Partition& p = own.partitions[op.issuer.warp % own.partitions.size()];
  p.mma_slots[p.mma_next] = start + interval;
  p.mma_next = (p.mma_next + 1) % p.mma_slots.size();
  const auto resident = static_cast<uint32_t>(&r - residents_.data());
  push(ceil_time(start), EventKind::read, resident, op.id);
  push(ceil_time(done), EventKind::write, resident, op.id);
  return ceil_time(done);
}

Time Group::dispatch_copy(Resident& r, const AsyncOp& op, const TmemCopy& c, Time t) {
  SmUnits& sm = sms_[op.issuer.cta % sms_.size()];
  double arrival = static_cast<double>(t) + static_cast<double>(arch_.umma.latency_start);
  for (const uint64_t before : op.after) arrival = std::max(arrival, static_cast<double>(done_of(r, before)));
  const double interval = tmem_copy_interval(arch_, c);
  const double start = sm.tmem_copy.begin(arrival, interval);
  sm.smem.reserve(start,
                  std::min(interval, interval * arch_.tmem.cp_bytes_per_clk / arch_.smem.bytes_per_clk));
  if (c.cta_group == 2) sms_[(op.issuer.cta ^ 1) % sms_.size()].tmem_copy.begin(start, interval);
  const Time done = ceil_time(start + interval + arch_.umma.latency_drain);
  Partition& p = sm.partitions[op.issuer.warp % sm.partitions.size()];
  p.mma_slots[p.mma_next] = start + interval;
  p.mma_next = (p.mma_next + 1) % p.mma_slots.size();
  const auto resident = static_cast<uint32_t>(&r - residents_.data());
  push(ceil_time(start), EventKind::read, resident, op.id);
  push(done, EventKind::write, resident, op.id);
  return done;
}

// The four warps of a warpgroup issue their parts one by one; the instruction enters the pipe with the last of them. Its
// accumulators go round in the pipe, so that a chain on the same registers goes at the pipe's rate (docs/facts/timing.md §10).
void Group::dispatch_wgmma(Resident& r, const AsyncOp& op, const Wgmma& m, Time t) {
  Resident::Warpgroup& group = r.warpgroups[op.issuer.cta * 64 + op.issuer.warp / 4];
  group.issued[op.issuer.warp % 4].push_back(op.id);
  if (std::any_of(group.issued.begin(), group.issued.end(), [](const auto& q) { return q.empty(); })) return;
  SmUnits& sm = sms_[op.issuer.cta % sms_.size()];
  const double array = m.n * arch_.wgmma.array_per_column, row_bytes = static_cast<double>(arch_.wgmma.k_bytes);
  const uint32_t rows_b = m.sparse ? 2 * m.n : m.n;  // B is dense: twice the K of a sparse A's row
  const double fetch = ((m.a_in_registers ? 0 : 64) + rows_b) * row_bytes / arch_.wgmma.fetch_bytes_per_clk;
  const double start = sm.tensor.begin(static_cast<double>(t), std::max({array, fetch, m.a_in_registers ? arch_.wgmma.register_a_floor : 0.0}));
  sm.smem.reserve(start, fetch);
  sm.tensor_instructions += 1;
  const Time done = ceil_time(start + arch_.wgmma.latency + array);
  const auto resident = static_cast<uint32_t>(&r - residents_.data());
  for (auto& issued : group.issued) {
    push(ceil_time(start), EventKind::read, resident, issued.front());
    push(done, EventKind::write, resident, issued.front());
    r.tracks.push_back({issued.front(), done});
    issued.pop_front();
  }
}

Time Group::dispatch_tmem(Resident& r, const AsyncOp& op, const TmemLdSt& l, Time t) {
  SmUnits& sm = sms_[op.issuer.cta % sms_.size()];
  Partition& p = sm.partitions[op.issuer.warp % sm.partitions.size()];
  double service = tmem_port_service(arch_, l);
  // Continuous accumulation takes a few of the port's slots.
  if (sm.tensor.free_at() > static_cast<double>(t)) service *= 1 + arch_.tmem.mma_slot_loss;
  const ClassCost& cost = arch_.cost(l.load ? isa::TimingClass::tmem_ld : isa::TimingClass::tmem_st);
  const double start = p.tmem.begin(static_cast<double>(t), std::max(service, cost.interval));
  const Time done = ceil_time(start + service + cost.latency);
  const auto resident = static_cast<uint32_t>(&r - residents_.data());
  if (l.load) {
    // The port reads TMEM while it serves; the registers are there at the end.
    push(ceil_time(start + service), EventKind::read, resident, op.id);
    push(done, EventKind::write, resident, op.id);
  } else {
    push(done, EventKind::finish, resident, op.id);
  }
  return done;
}

// ---- TMA

void Group::queue_tma(uint32_t resident, const AsyncOp& op, Time t) {
  SmUnits& sm = sms_[op.issuer.cta % sms_.size()];
  if (sm.tma_in_flight >= arch_.tma.in_flight) {
    sm.tma_waiting.emplace_back(resident, op.id);
    return;
  }
  ++sm.tma_in_flight;
  double start = static_cast<double>(t);
  if (const auto* copy = std::get_if<TensorCopy>(&op.payload)) {
    if (std::find(sm.tensor_maps.begin(), sm.tensor_maps.end(), copy->map_address) == sm.tensor_maps.end()) {
      sm.tensor_maps.push_back(copy->map_address);
      start += arch_.tma.tensor_map_miss;
    }
  }
  start = sm.tma_issue.begin(start, arch_.tma.load_spacing);
  push(ceil_time(start), EventKind::tma_start, resident, op.id);
}

void Group::request_async(uint32_t resident, const AsyncOp& op, MemoryKind kind, uint32_t sm,
                          std::vector<ByteRange> ranges, Time t) {
  MemoryRequest q;
  q.time = static_cast<double>(t);
  q.kind = kind;
  q.first = static_cast<uint32_t>(runs.size());
  q.count = static_cast<uint32_t>(ranges.size());
  runs.insert(runs.end(), ranges.begin(), ranges.end());
  PendingLoad p;
  p.warp = ~0u;
  p.resident = resident;
  p.op = op.id;
  p.sm = static_cast<uint16_t>(sm);
  for (const ByteRange& x : ranges) p.bytes += x.bytes;
  q.token = add_pending(std::move(p));
  requests.push_back(q);
}

void Group::start_tma(uint32_t resident, uint64_t id, Time t) {
  Cluster& c = *residents_[resident].cluster;
  const AsyncOp& op = c.pending[index_of(c, id)];
  const uint32_t sm_index = op.issuer.cta % static_cast<uint32_t>(sms_.size());
  SmUnits& sm = sms_[sm_index];
  std::vector<ByteRange> ranges;
  uint32_t bytes = 0;
  bool load = true;
  if (const auto* copy = std::get_if<TensorCopy>(&op.payload)) {
    load = copy->direction == TensorCopy::Direction::load;
    tensor_ranges(*copy, ranges, bytes);
  } else if (const auto* bulk = std::get_if<BulkCopy>(&op.payload)) {
    bytes = bulk->bytes;
    if (bulk->kind == BulkCopy::Kind::shared_to_shared) {
      const double start = sm.tma_drain.begin(static_cast<double>(t), bytes / arch_.dsmem.bulk_bytes_per_clk);
      sm.tma_bytes_out += bytes;
      push(ceil_time(start + bytes / arch_.dsmem.bulk_bytes_per_clk +
                     arch_.cost(isa::TimingClass::dsmem).latency),
           EventKind::finish, resident, id);
      return;
    }
    load = bulk->kind == BulkCopy::Kind::global_to_shared;
    ranges.push_back(sectors_of(load ? bulk->src : bulk->dst, bytes));
  } else if (const auto* lanes = std::get_if<AsyncCopy>(&op.payload)) {
    for (const AsyncCopy::Lane& l : lanes->lanes) {
      const ByteRange s = sectors_of(l.gmem, std::max<uint32_t>(1, l.src_bytes));
      bytes += l.bytes;
      if (!ranges.empty() && ranges.back().address <= s.address &&
          ranges.back().address + ranges.back().bytes >= s.address) {
        ranges.back().bytes = static_cast<uint32_t>(
            std::max<uint64_t>(ranges.back().address + ranges.back().bytes, s.address + s.bytes) -
            ranges.back().address);
      } else {
        ranges.push_back(s);
      }
    }
  }
  if (load) {
    sm.tma_bytes_in += bytes;
    request_async(resident, op, MemoryKind::tma_load, sm_index, std::move(ranges), t);
    moments(resident, id, t, false);
    return;
  }
  // Stores: shared memory has been read after the transfer; the data is in global memory an L2 access later.
  double time = bytes / arch_.tma.store_bytes_per_clk;
  const auto* tensor = std::get_if<TensorCopy>(&op.payload);
  const auto* range = std::get_if<BulkCopy>(&op.payload);
  if ((tensor != nullptr && tensor->direction == TensorCopy::Direction::reduce) ||
      (range != nullptr && range->reduce_op != isa::Mod::none))
    time *= arch_.tma.reduce_slowdown;
  if (sm.smem.tensor_active(static_cast<double>(t))) time /= arch_.tma.store_rate_under_mma;
  const double start = sm.tma_drain.begin(static_cast<double>(t), time);
  sm.tma_bytes_out += bytes;
  const Time drained = ceil_time(start + time + arch_.tma.store_overhead);
  request_async(resident, op, MemoryKind::store, sm_index, std::move(ranges), t);
  requests.back().time = static_cast<double>(t);
  push(drained, EventKind::read, resident, id);
}

// Memory has answered: the bytes go through the SM's port, then the mbarrier hears of them.
void Group::tma_data(uint32_t pending, Time t) {
  const PendingLoad p = std::move(pending_[pending]);
  free_pending_.push_back(pending);
  Cluster& c = *residents_[p.resident].cluster;
  const AsyncOp& op = c.pending[index_of(c, p.op)];
  SmUnits& sm = sms_[p.sm];
  const auto* copy = std::get_if<TensorCopy>(&op.payload);
  const auto* bulk = std::get_if<BulkCopy>(&op.payload);
  const bool load = copy != nullptr ? copy->direction == TensorCopy::Direction::load
                                    : bulk == nullptr || bulk->kind == BulkCopy::Kind::global_to_shared;
  if (!load) {
    // Not before its operands were read.
    push(std::max(t, ceil_time(sm.tma_drain.free_at() + arch_.tma.store_overhead)), EventKind::finish,
         p.resident, p.op);
    return;
  }
  const double time = p.bytes / arch_.tma.load_bytes_per_clk;
  const double start = sm.tma_fill.begin(static_cast<double>(t), time);
  double done = start + time + arch_.tma.load_overhead;
  if ((copy != nullptr && copy->multicast != 0) || (bulk != nullptr && bulk->multicast != 0))
    done += arch_.tma.multicast_extra;
  push(ceil_time(done), EventKind::finish, p.resident, p.op);
}

// ---- moments

void Group::moments(uint32_t resident, uint64_t id, Time t, bool to_end) {
  Resident& r = residents_[resident];
  Cluster& c = *r.cluster;
  c.now = t;
  const size_t index = index_of(c, id);
  const AsyncOp& op = c.pending[index];
  const Issuer issuer = op.issuer;
  const bool tma = std::holds_alternative<TensorCopy>(op.payload) ||
                   std::holds_alternative<BulkCopy>(op.payload) ||
                   (std::holds_alternative<AsyncCopy>(op.payload) && !is_copy_arrival(op));
  StepResult s;
  const auto* wgmma = std::get_if<Wgmma>(&op.payload);
  if (!context_.values && (wgmma != nullptr || std::holds_alternative<Umma>(op.payload))) {
    s.completed = op.stage != AsyncOp::Stage::issued;
    if (s.completed) {
      if (wgmma != nullptr) end_without_product(c, op, *wgmma);
      c.pending.erase(c.pending.begin() + static_cast<ptrdiff_t>(index));
      ++c.progress;
    } else {
      c.pending[index].stage = AsyncOp::Stage::read;
    }
  } else {
    s = to_end ? run_to_end(c, index) : step(c, index);
  }
  if (s.error.has_value()) {
    const auto still = std::lower_bound(c.pending.begin(), c.pending.end(), id,
                                        [](const AsyncOp& p, uint64_t v) { return p.id < v; });
    AsyncOp who;
    who.issuer = issuer;
    fail(fault_of(c, still != c.pending.end() && still->id == id ? *still : who, *s.error), c);
    return;
  }
  if (s.completed) {
    const auto it =
        std::find_if(r.tracks.begin(), r.tracks.end(), [&](const Resident::Track& x) { return x.id == id; });
    if (it != r.tracks.end()) {
      *it = r.tracks.back();
      r.tracks.pop_back();
    }
    for (const AsyncOp& p : c.pending) {
      const bool waited = is_copy_arrival(p) && std::find(p.after.begin(), p.after.end(), id) != p.after.end();
      if (waited && is_ready(c, p)) push(t, EventKind::finish, resident, p.id);
    }
    if (tma) {
      SmUnits& sm = sms_[issuer.cta % sms_.size()];
      --sm.tma_in_flight;
      if (!sm.tma_waiting.empty()) {
        const auto [next_resident, next] = sm.tma_waiting.front();
        sm.tma_waiting.pop_front();
        Cluster& other = *residents_[next_resident].cluster;
        queue_tma(next_resident, other.pending[index_of(other, next)], t);
      }
    }
  }
  wake_changed(r, async_wake(t));
  if (r.live_warps == 0) try_end_cluster(resident, t);
}

}  // namespace drywell::sim
