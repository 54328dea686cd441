#include "sim/check/gathering.h"

namespace drywell::sim::check {

void Gathering::begin(const Launch& launch, LaunchState& state) {
  state_ = &state;
  const uint64_t clusters = launch.grid.count() / launch.cluster.count();
  monitors_.clear();
  monitors_.resize(clusters);
  over_.assign(clusters, false);
  next_ = 0;
  started_ = 0;
  told_.assign(clusters, 0);
  waits_.clear();
  reporter_.begin(*launch.program);
  met_.begin(*launch.program);
  global_.begin(launch, state);
}

std::unique_ptr<KnownFootprints> Gathering::started(const Cluster& c) {
  const std::lock_guard lock(mutex_);
  started_ = std::max(started_, c.index + 1);
  if (footprints_.empty()) return std::make_unique<KnownFootprints>();
  std::unique_ptr<KnownFootprints> known = std::move(footprints_.back());
  footprints_.pop_back();
  return known;
}

void Gathering::collect(const Cluster& c) {
  if (!monitors_[c.index]->sealed()) return;
  const std::lock_guard lock(mutex_);
  footprints_.push_back(monitors_[c.index]->take_footprints());
  over_[c.index] = true;
  while (next_ < over_.size() && over_[next_]) take(next_++);
}

void Gathering::take(uint64_t cluster) {
  ClusterMonitor& m = *monitors_[cluster];
  meet(cluster);
  reporter_.merge(m.reporter());
  const size_t own = reporter_.found();
  global_.merge(m, reporter_);
  met_.merge(reporter_, own);
  for (const auto& [pc, news] : m.waits()) {
    bool& any = waits_[state_->program->instruction(state_->program->code[pc]).ptx_line];
    any = any || news;
  }
  monitors_[cluster].reset();
}

void Gathering::meet(uint64_t cluster) {
  const Reporter& r = monitors_[cluster]->reporter();
  met_.merge(r, told_[cluster]);
  told_[cluster] = r.found();
}

std::vector<uint32_t> Gathering::waits_without_news() const {
  std::vector<uint32_t> lines;
  for (const auto& [line, news] : waits_) {
    if (!news) lines.push_back(line);
  }
  return lines;
}

const std::vector<Finding>& Gathering::so_far() {
  for (uint64_t c = next_; c < started_ && c < monitors_.size(); ++c) {
    if (monitors_[c] != nullptr) meet(c);
  }
  return met_.all();
}

void Gathering::finish() {
  const std::lock_guard lock(mutex_);
  for (; next_ < monitors_.size(); ++next_) {
    if (monitors_[next_] == nullptr) continue;  // cancelled: it never started
    const bool over = over_[next_];
    take(next_);
    if (!over) break;
  }
  next_ = monitors_.size();
  if (state_ != nullptr) global_.finish(*state_, reporter_);
  monitors_.clear();
}

}  // namespace drywell::sim::check
