#include "sim/timing/memory_system.h"

#include <algorithm>
#include <bit>

namespace drywell::sim {

MemorySystem::MemorySystem(const ArchConfig& arch, const Gmem& gmem, uint32_t sms)
    : arch_(arch),
      sms_(sms),
      base_(window::kGlobalBase),
      hbm_latency_(arch.cycles_from_ns(arch.hbm.latency)) {
  uint64_t end = base_;
  for (const Gmem::Allocation* a : gmem.allocations()) end = std::max(end, a->base + a->size);
  lines_.resize((end - base_ + 127) / 128);
  ring_.resize(std::min<uint64_t>(lines_.size(), arch.l2.bytes / 128) + 1);
}

// Reads and writes that share the bus slow each other: the write's cost is what makes a copy reach
// copy_efficiency.
double MemorySystem::hbm_cycles_per_byte(MemoryKind k) const {
  const double peak = arch_.hbm.peak * 1e3 / arch_.chip.clock;  // bytes per cycle
  switch (k) {
    case MemoryKind::tma_load: return 1 / (peak * arch_.hbm.tma_efficiency);
    case MemoryKind::store: return (2 / arch_.hbm.copy_efficiency - 1 / arch_.hbm.load_efficiency) / peak;
    default: return 1 / (peak * arch_.hbm.load_efficiency);
  }
}

double MemorySystem::l2_cycles_per_byte(MemoryKind k) const {
  const double per_sm = k == MemoryKind::tma_load ? arch_.l2.tma_bytes_per_clk : arch_.l2.load_bytes_per_clk;
  return 1 / (per_sm * static_cast<double>(sms_));
}

Time MemorySystem::stores_wait_until() const {
  const double ahead = static_cast<double>(arch_.l2.bytes) / 2 * hbm_cycles_per_byte(MemoryKind::store);
  return hbm_.free_at() > ahead ? static_cast<Time>(hbm_.free_at() - ahead) : 0;
}

void MemorySystem::evict_one() {
  uint32_t& line = lines_[ring_[ring_head_]];
  line = 0;
  ring_head_ = (ring_head_ + 1) % ring_.size();
  --ring_count_;
}

void MemorySystem::look_up(const ByteRange& r, bool store, Lookup& out) {
  out.bytes += r.bytes;
  const uint64_t end = r.address + r.bytes;
  for (uint64_t at = r.address; at < end;) {
    const uint64_t line_end = std::min(end, (at / 128 + 1) * 128);
    const uint64_t index = (at - base_) / 128;
    const auto first = static_cast<uint32_t>(at % 128 / 32),
               last = static_cast<uint32_t>((line_end - 1) % 128 / 32);
    const uint32_t want = ((2u << last) - 1) & ~((1u << first) - 1);
    at = line_end;
    if (index >= lines_.size()) continue;
    uint32_t& line = lines_[index];
    if (line == 0) {
      if (ring_count_ == ring_.size() - 1) evict_one();
      ring_[(ring_head_ + ring_count_++) % ring_.size()] = static_cast<uint32_t>(index);
    }
    const uint32_t absent = want & ~line;
    if (store) {
      out.newly_dirty += 32u * static_cast<uint32_t>(std::popcount(want & ~(line >> 4)));
      line |= want | (want << 4);
      continue;
    }
    if (absent == 0) {
      out.arriving = std::max<Time>(out.arriving, Time{line >> kArrivalShift} * kArrivalUnit);
      continue;
    }
    out.missing += 32u * static_cast<uint32_t>(std::popcount(absent));
    line |= want;
  }
}

void MemorySystem::serve(MemoryRequest& r, const ByteRange* runs) {
  const bool store = r.kind == MemoryKind::store;
  Lookup found;
  for (uint32_t i = 0; i < r.count; ++i) look_up(runs[r.first + i], store, found);
  l2_bytes_ += found.bytes;
  const double l2_time = static_cast<double>(found.bytes) * l2_cycles_per_byte(r.kind);
  const double start = l2_.begin(r.time, l2_time);
  const double latency = r.kind == MemoryKind::atomic
                             ? arch_.cost(isa::TimingClass::atom_global).latency
                         : r.kind == MemoryKind::tma_load ? static_cast<double>(arch_.tma.l2_latency)
                                                          : static_cast<double>(arch_.l2.latency);
  double done = start + l2_time + latency;
  if (store) {
    // Written sectors reach device memory once: at the price of a write-back in steady state, without holding
    // up the store.
    if (found.newly_dirty != 0)
      hbm_.begin(start, static_cast<double>(found.newly_dirty) * hbm_cycles_per_byte(r.kind));
    hbm_written_ += found.newly_dirty;
  } else if (found.missing != 0) {
    const double time = static_cast<double>(found.missing) * hbm_cycles_per_byte(r.kind);
    const double from = hbm_.begin(start, time);
    hbm_read_ += found.missing;
    done = std::max(done, from + time + hbm_latency_);
    const auto arrival = static_cast<uint32_t>(std::min<double>(done / kArrivalUnit, (1u << 24) - 1));
    for (uint32_t i = 0; i < r.count; ++i) {
      const ByteRange& x = runs[r.first + i];
      for (uint64_t at = x.address / 128 * 128; at < x.address + x.bytes; at += 128) {
        const uint64_t index = (at - base_) / 128;
        if (index < lines_.size()) lines_[index] = (lines_[index] & 0xFF) | (arrival << kArrivalShift);
      }
    }
  }
  if (!store) done = std::max(done, static_cast<double>(found.arriving));
  r.done = ceil_time(done);
}

}  // namespace drywell::sim
