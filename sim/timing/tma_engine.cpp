#include "sim/timing/tma_engine.h"

#include <algorithm>

namespace drywell::sim {

bool TmaEngine::admit(const Copy& copy) {
  const bool room = in_flight_ < arch_->tma.in_flight;
  if (room) ++in_flight_;
  else waiting_.push_back(copy);
  return room;
}

std::optional<TmaEngine::Copy> TmaEngine::end() {
  --in_flight_;
  if (waiting_.empty()) return std::nullopt;
  ++in_flight_;
  const Copy next = waiting_.front();
  waiting_.pop_front();
  return next;
}

Time TmaEngine::start(Time t, std::optional<uint64_t> tensor_map) {
  auto from = static_cast<double>(t);
  if (tensor_map.has_value() && std::find(tensor_maps_.begin(), tensor_maps_.end(), *tensor_map) == tensor_maps_.end()) {
    tensor_maps_.push_back(*tensor_map);
    from += arch_->tma.tensor_map_miss;
  }
  return ceil_time(issue_.begin(from, arch_->tma.load_spacing));
}

Time TmaEngine::fill(Time t, uint32_t bytes, bool multicast) {
  const double time = bytes / arch_->tma.load_bytes_per_clk;
  const double done = fill_.begin(static_cast<double>(t), time) + time + arch_->tma.load_overhead;
  return ceil_time(multicast ? done + arch_->tma.multicast_extra : done);
}

Time TmaEngine::drain(Time t, uint32_t bytes, bool reduce, bool tensor_active) {
  double time = bytes / arch_->tma.store_bytes_per_clk;
  if (reduce) time *= arch_->tma.reduce_slowdown;
  if (tensor_active) time /= arch_->tma.store_rate_under_mma;
  bytes_out_ += bytes;
  return ceil_time(drain_.begin(static_cast<double>(t), time) + time + arch_->tma.store_overhead);
}

Time TmaEngine::send(Time t, uint32_t bytes) {
  const double time = bytes / arch_->dsmem.bulk_bytes_per_clk;
  bytes_out_ += bytes;
  return ceil_time(drain_.begin(static_cast<double>(t), time) + time + arch_->cost(isa::TimingClass::dsmem).latency);
}

}  // namespace drywell::sim
