#include "sim/timing/tensor_units.h"

#include <algorithm>
#include <cmath>

#include "sim/timing/umma_cost.h"

namespace drywell::sim {

Partition& TensorUnits::partition_of(const Issuer& who) {
  SmUnits& sm = sm_of(who);
  return sm.partitions[who.warp % sm.partitions.size()];
}

double TensorUnits::arrival(Time t, Time after) const {
  return std::max(static_cast<double>(t) + static_cast<double>(arch_.umma.latency_start), static_cast<double>(after));
}

Service TensorUnits::mma(const Issuer& who, const Umma& u, Time t, Time after) {
  const UmmaShape shape = umma_shape(u);
  const UmmaCost cost = umma_cost(arch_, shape);
  SmUnits& own = sm_of(who);
  SmUnits& peer = shape.pair ? peer_of(who) : own;
  double at = arrival(t, after);
  const double free = std::max(own.tensor.free_at(), peer.tensor.free_at());
  // A batch: the second of several queued instructions has an extra cost (docs/facts/timing.md §4.2).
  if (free > at && !own.in_batch) {
    at = free + arch_.umma.first_extra;
    own.in_batch = true;
  } else if (free <= at) {
    own.in_batch = false;
  }
  const double start = own.tensor.begin(std::max(at, free), cost.interval);
  own.smem.reserve(start, cost.fetch);
  own.tensor_instructions += 1;
  if (&peer != &own) {
    peer.tensor.begin(start, cost.interval);
    peer.smem.reserve(start, cost.fetch);
  }
  own.last_mma_done = std::max(start + cost.pass, own.last_mma_done);  // results are written in order
  partition_of(who).tensor_queue.take(start + cost.interval);
  return {ceil_time(start), ceil_time(own.last_mma_done)};
}

Service TensorUnits::copy(const Issuer& who, const TmemCopy& c, Time t, Time after) {
  SmUnits& sm = sm_of(who);
  const double interval = tmem_copy_interval(arch_, c);
  const double start = sm.tmem_copy.begin(arrival(t, after), interval);
  sm.smem.reserve(start, std::min(interval, interval * arch_.tmem.cp_bytes_per_clk / arch_.smem.bytes_per_clk));
  if (c.cta_group == 2) peer_of(who).tmem_copy.begin(start, interval);
  partition_of(who).tensor_queue.take(start + interval);
  return {ceil_time(start), ceil_time(start + interval + arch_.umma.latency_drain)};
}

// Accumulators are forwarded in the pipe, so a chain on the same registers runs at the pipe's rate (docs/facts/timing.md §10).
Service TensorUnits::wgmma(const Issuer& who, const Wgmma& m, Time t) {
  SmUnits& sm = sm_of(who);
  const double array = m.n * arch_.wgmma.array_per_column, row_bytes = static_cast<double>(arch_.wgmma.k_bytes);
  const uint32_t rows_b = m.sparse ? 2 * m.n : m.n;  // B is dense: twice the K of a sparse A's row
  const double fetch = ((m.a_in_registers ? 0 : 64) + rows_b) * row_bytes / arch_.wgmma.fetch_bytes_per_clk;
  const double start = sm.tensor.begin(static_cast<double>(t), std::max({array, fetch, m.a_in_registers ? arch_.wgmma.register_a_floor : 0.0}));
  sm.smem.reserve(start, fetch);
  sm.tensor_instructions += 1;
  return {ceil_time(start), ceil_time(start + arch_.wgmma.latency + array)};
}

// For a load, the port reads TMEM during its service, and the registers are ready at the end; a store writes at its end.
Service TensorUnits::access(const Issuer& who, const TmemLdSt& l, Time t) {
  double service = tmem_port_service(arch_, l);
  // Continuous accumulation uses a few of the port's slots.
  if (sm_of(who).tensor.free_at() > static_cast<double>(t)) service *= 1 + arch_.tmem.mma_slot_loss;
  const ClassCost& cost = arch_.cost(l.load ? isa::TimingClass::tmem_ld : isa::TimingClass::tmem_st);
  const double start = partition_of(who).tmem.begin(static_cast<double>(t), std::max(service, cost.interval));
  const Time done = ceil_time(start + service + cost.latency);
  return {l.load ? ceil_time(start + service) : done, done};
}

Time TensorUnits::shift(Time t, Time after) const { return std::max(t, after) + static_cast<Time>(arch_.cost(isa::TimingClass::tmem_shift).latency); }

Time TensorUnits::commit(Time t, Time after) const {
  return std::max(t + static_cast<Time>(arch_.umma.latency_start), after) + static_cast<Time>(std::lround(arch_.umma.latency_commit));
}

}  // namespace drywell::sim
