#include "sim/check/gathering.h"

#include <fmt/format.h>

#include "sim/check/place_words.h"
#include "sim/schedule/functional.h"

namespace drywell::sim::check {

void Gathering::begin(const Launch& launch, LaunchState& state) {
  state_ = &state;
  const uint64_t clusters = launch.grid.count() / launch.cluster.count();
  clusters_.begin(clusters);
  next_ = 0;
  started_ = 0;
  waits_.clear();
  reporter_.begin(*launch.program);
  met_.begin(*launch.program);
  global_.begin(launch, state);
  reporter_.describe_with([&state](Rule rule, const Access& prior, const Access& now) {
    return rule == Rule::global_race && prior.cluster != now.cluster ? state.loose_flags.text(*state.program) : std::string();
  });
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
  OfCluster& own = clusters_.at(c.index);
  if (!own.monitor->sealed()) return;
  const std::lock_guard lock(mutex_);
  footprints_.push_back(own.monitor->take_footprints());
  own.over = true;
  for (const OfCluster* next = clusters_.find(next_); next != nullptr && next->over;
       next = clusters_.find(next_)) {
    take(next_++);
    clusters_.forget_before(next_);
  }
}

void Gathering::take(uint64_t cluster) {
  ClusterMonitor& m = *clusters_.at(cluster).monitor;
  m.settle();
  meet(cluster);
  reporter_.merge(m.reporter());
  const size_t own = reporter_.found();
  global_.merge(m, reporter_);
  met_.merge(reporter_, own);
  for (const auto& [pc, news] : m.waits()) {
    bool& any = waits_[state_->program->instruction(state_->program->code[pc]).ptx_line];
    any = any || news;
  }
  clusters_.at(cluster).monitor.reset();
}

void Gathering::meet(uint64_t cluster) {
  OfCluster& of = clusters_.at(cluster);
  met_.merge(of.monitor->reporter(), of.told);
  of.told = of.monitor->reporter().found();
}

std::vector<uint32_t> Gathering::waits_without_news() const {
  std::vector<uint32_t> lines;
  for (const auto& [line, news] : waits_) {
    if (!news) lines.push_back(line);
  }
  return lines;
}

namespace {

std::string words_of(const Access& a, const Program& p) {
  GuestPlace at;
  locate(at, p, a.pc);
  return fmt::format("{} CTA ({},{},{}) warp {}: '{}'{}", a.modifies ? "the last atomic there was by" : "last written by", a.index.x, a.index.y, a.index.z, a.warp, at.ptx, source_of(at));
}

}  // namespace

std::string Gathering::last_writer(uint64_t cluster, uint64_t address, bool shared, bool alone) {
  std::set<std::string> all;
  const auto add = [&](const ClusterMonitor& m) {
    for (const AccessId id : m.last_writers(address, shared))
      if (id != 0) all.insert(words_of(m.accesses()[id], *state_->program));
  };
  const bool one = shared || alone;
  for (uint64_t c = one ? cluster : next_; c < (one ? cluster + 1 : started_); ++c) {
    if (const OfCluster* of = clusters_.find(c); of != nullptr && of->monitor != nullptr) add(*of->monitor);
  }
  if (const std::lock_guard lock(mutex_); !shared) {
    if (const Access* a = global_.last_writer(address); a != nullptr) all.insert(words_of(*a, *state_->program));
  }
  if (all.empty()) return alone && !shared ? "this CTA has not written it" : "nothing in this launch has written it";
  std::string out = *all.begin();
  if (all.size() > 1) out += "; or " + *all.rbegin();
  return all.size() > 2 ? out + fmt::format("; or {} more", all.size() - 2) : out;
}

const std::vector<Finding>& Gathering::so_far() {
  for (uint64_t c = next_; c < started_; ++c) {
    if (const OfCluster* of = clusters_.find(c); of != nullptr && of->monitor != nullptr) meet(c);
  }
  return met_.all();
}

void Gathering::finish() {
  const std::lock_guard lock(mutex_);
  for (; next_ < started_; ++next_) {
    const OfCluster* of = clusters_.find(next_);
    if (of == nullptr || of->monitor == nullptr) continue;  // cancelled: it never started
    const bool over = of->over;
    take(next_);
    if (!over) break;
  }
  if (state_ != nullptr) global_.finish(*state_, reporter_);
  clusters_.begin(0);
}

}  // namespace drywell::sim::check
