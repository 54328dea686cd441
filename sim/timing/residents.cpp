#include "sim/timing/residents.h"

#include <algorithm>

#include "sim/schedule/functional.h"

namespace drywell::sim {

using WarpState = WarpIssueState::State;

uint32_t Residents::announce(uint64_t index) {
  announced_.push_back(index);
  ++live_;
  return static_cast<uint32_t>(announced_.size() - 1);
}

uint32_t Residents::free_place() {
  if (free_.empty()) {
    all_.emplace_back();
    return static_cast<uint32_t>(all_.size() - 1);
  }
  const uint32_t r = free_.back();
  free_.pop_back();
  return r;
}

uint32_t Residents::begin(uint32_t announced, Time t) {
  const uint32_t place = free_place();
  all_[place] = {};
  all_[place].cluster = make_cluster(*context_.launch, announced_[announced], t);
  Cluster& c = *all_[place].cluster;
  ++begun_;
  for (auto& cta : c.ctas) place_cta(place, *cta, t);
  all_[place].waits.reset(c);
  return place;
}

// A CTA's rank determines its SM.
void Residents::place_cta(uint32_t place, Cta& cta, Time t) {
  const auto at = static_cast<uint16_t>(cta.rank % sms_.size());
  SmUnits& sm = sms_[at];
  cta.sm = sm.id;
  if (sm.tensor_memory == nullptr) sm.tensor_memory = std::move(cta.own_tmem);
  cta.own_tmem.reset();
  cta.tmem = sm.tensor_memory.get();
  sm.use(context_.l1_bytes);
  const size_t first = first_partition(sm, cta.warps.size());
  for (Warp& w : cta.warps) place_warp(place, w, at, first, t);
  all_[place].live_warps += static_cast<uint32_t>(cta.warps.size());
}

// The sub-partition of a CTA's first warp: the one after the last of the CTA before, so that CTAs in which one warp works share the SM
// (sub-partitions of traces/hw/h200-2026-11-23-mechanisms.csv). Where a warp's lanes of tensor memory are in its own, it never changes.
size_t Residents::first_partition(SmUnits& sm, size_t warps) const {
  if (context_.arch->tensor == TensorCore::umma) return 0;
  const size_t first = sm.next_partition, all = sm.partitions.size();
  sm.next_partition = (first + (warps % all != 0 ? warps % all : 1)) % all;
  return first;
}

uint32_t Residents::free_warp() {
  if (free_warps_.empty()) {
    warps_.push_back(std::make_unique<WarpIssueState>());
    warps_.back()->registers = Scoreboard(context_.launch->memory);
    return static_cast<uint32_t>(warps_.size() - 1);
  }
  const uint32_t id = free_warps_.back();
  free_warps_.pop_back();
  return id;
}

void Residents::place_warp(uint32_t place, Warp& warp, uint16_t sm, size_t first_partition, Time t) {
  const uint32_t id = free_warp();
  WarpIssueState& w = *warps_[id];
  w.restart(context_.program->slot_count);
  w.warp = &warp;
  w.resident = place;
  w.sm = sm;
  w.role = context_.role_of_warp[warp.index];
  w.unit = &sms_[sm].partitions[(first_partition + warp.index) % sms_[sm].partitions.size()];
  w.hold = w.block_start = t;
  w.place = w.unit->slot.add(id, begun_);
  account_.begin(w, t);
  all_[place].warps.push_back(id);
}

void Residents::end_warp(WarpIssueState& w) {
  Resident& r = all_[w.resident];
  w.state = WarpState::finished;
  ++w.serial;
  account_.end(w);
  w.unit->slot.offer(w.place, kNever);
  --w.warp->cta->live_warps;
  --r.live_warps;
  r.cluster->wake_all();
}

void Residents::take_away(uint32_t id, Time t) {
  WarpIssueState& w = *warps_[id];
  account_.charge(w, Stall::finished, t);
  const uint32_t moved = w.unit->slot.remove(w.place);
  warps_[moved]->place = w.place;
  w.state = WarpState::none;
  free_warps_.push_back(id);
}

std::optional<Fault> Residents::end_if_complete(uint32_t place, Time t) {
  Resident& r = all_[place];
  if (r.cluster == nullptr || r.live_warps != 0 || !r.cluster->pending.empty()) return std::nullopt;
  if (auto f = check_finished(*r.cluster); f.has_value()) return f;
  for (const uint32_t id : r.warps) take_away(id, t);
  finished.push_back({r.cluster->index, t});
  ended_progress_ += r.cluster->progress + 1;
  r.cluster.reset();
  r.warps.clear();
  free_.push_back(place);
  --live_;
  return std::nullopt;
}

const WarpIssueState* Residents::find(const Warp& warp) const {
  const auto at = std::find_if(warps_.begin(), warps_.end(), [&](const auto& w) { return w->warp == &warp && w->state != WarpState::none; });
  return at == warps_.end() ? nullptr : at->get();
}

bool Residents::holds(uint64_t cluster) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Resident& r) { return r.cluster != nullptr && r.cluster->index == cluster; });
}

void Residents::add_clusters(std::vector<Cluster*>& all) const {
  for (const Resident& r : all_) {
    if (r.cluster != nullptr) all.push_back(r.cluster.get());
  }
}

const Cluster* Residents::first() const {
  const Cluster* first = nullptr;
  for (const Resident& r : all_) {
    if (r.cluster != nullptr && (first == nullptr || r.cluster->index < first->index)) first = r.cluster.get();
  }
  return first;
}

uint64_t Residents::progress() const {
  uint64_t n = ended_progress_;
  for (const Resident& r : all_) {
    if (r.cluster != nullptr) n += r.cluster->progress;
  }
  return n;
}

}  // namespace drywell::sim
