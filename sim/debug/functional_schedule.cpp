// The order of run_functional on one host thread: one cluster after the other, then clusters that wait for each other in turns.
#include <algorithm>

#include "sim/debug/schedule.h"
#include "sim/debug/snapshot.h"
#include "sim/schedule/cluster_stepper.h"

namespace drywell::sim {
namespace {

struct Position {
  uint64_t taken = 0;  // clusters started
  bool together = false;
  static constexpr size_t kNone = ~size_t{0};
  size_t current = kNone;  // index in live_
  uint64_t slice_end = 0;
  bool progressed = false;
  uint64_t quiet = 0;
  uint64_t instructions = 0;
};

struct Image : ScheduleImage {
  Position at;
  uint64_t cancelled = 0;
  std::vector<ClusterImage> clusters;
};

class FunctionalSchedule : public Schedule {
 public:
  FunctionalSchedule(Launch& launch, const RunOptions& options) : launch_(launch), options_(options), bounds_(options) {
    start_queue(0, 0);
    choose_cluster();
  }

  Piece advance() override;
  const std::optional<Fault>& fault() const override { return fault_; }
  RunResult result() override {
    RunResult r;
    r.warp_instructions = at_.instructions;
    return r;
  }
  std::vector<Cluster*> clusters() override;
  std::optional<WarpRef> next_warp() const override;
  std::unique_ptr<ScheduleImage> image() override;
  void restore(const ScheduleImage& image) override;
  std::vector<uint64_t> fingerprint() const override;

 private:
  void start_queue(uint64_t taken, uint64_t cancelled);
  bool choose_cluster();
  void begin_slice(uint64_t instructions) {
    live_[at_.current]->begin_slice();
    at_.slice_end = live_[at_.current]->instructions() + instructions;
  }
  void end_slice_between_rounds();
  void take_turns(bool erased, bool progressed);
  Piece end(Fault f) {
    fault_ = std::move(f);
    return Piece::fault;
  }

  Launch& launch_;
  const RunOptions& options_;
  RunBounds bounds_;
  std::optional<LaunchQueue> queue_;
  std::vector<std::unique_ptr<ClusterStepper>> live_;
  Position at_;
  std::optional<Fault> fault_;
};

// The queue counts clusters from both ends: the same numbers of `take` and `cancel` restore its state.
void FunctionalSchedule::start_queue(uint64_t taken, uint64_t cancelled) {
  queue_.emplace(launch_.grid.count() / launch_.cluster.count(), cancels_of(options_));
  launch_.queue = &*queue_;
  for (uint64_t i = 0; i < taken; ++i) queue_->take();
  for (uint64_t i = 0; i < cancelled; ++i) queue_->cancel();
}

// Chooses the next current cluster; false if there is none left.
bool FunctionalSchedule::choose_cluster() {
  if (!at_.together) {
    if (const std::optional<uint64_t> next = queue_->take(); next.has_value()) {
      ++at_.taken;
      live_.push_back(std::make_unique<ClusterStepper>(launch_, options_, bounds_, *next));
      at_.current = live_.size() - 1;
      begin_slice(slices_of(launch_).alone);
      return true;
    }
    at_.together = true;
  }
  if (live_.empty()) return false;
  at_.current = 0;
  at_.progressed = false;
  begin_slice(slices_of(launch_).together);
  return true;
}

// Ends the current cluster's slice; `erased`: the cluster has finished.
void FunctionalSchedule::take_turns(bool erased, bool progressed) {
  if (erased) live_.erase(live_.begin() + static_cast<ptrdiff_t>(at_.current));
  if (!at_.together) {
    at_.current = Position::kNone;
    return;
  }
  at_.progressed = at_.progressed || progressed;
  if (!erased) ++at_.current;
  if (at_.current < live_.size()) {
    begin_slice(slices_of(launch_).together);
    return;
  }
  at_.current = Position::kNone;
  at_.quiet = at_.progressed ? 0 : at_.quiet + 1;
}

void FunctionalSchedule::end_slice_between_rounds() {
  ClusterStepper& c = *live_[at_.current];
  if (c.at_round() && (c.instructions() >= at_.slice_end || c.gives_way())) take_turns(false, true);
}

Piece FunctionalSchedule::advance() {
  if (at_.quiet > kQuietRounds) {
    fault_ = deadlock_of(live_[0]->cluster());
    return Piece::fault;
  }
  if (at_.current == Position::kNone && !choose_cluster()) return Piece::done;
  ClusterStepper& c = *live_[at_.current];
  if (options_.max_instructions != 0 && at_.instructions >= options_.max_instructions) return end(over_instructions(options_, place_of_first(c.cluster())));
  if (bounds_.ended()) return end(bounds_.fault(place_of_first(c.cluster())));
  switch (c.advance(1)) {
    case Advance::instruction: ++at_.instructions; return Piece::instruction;
    case Advance::moment: end_slice_between_rounds(); return Piece::moment;
    case Advance::finished: take_turns(true, true); return Piece::nothing;
    case Advance::stuck: take_turns(false, false); return Piece::nothing;
    case Advance::fault: fault_ = c.fault(); return Piece::fault;
    case Advance::decision: end_slice_between_rounds(); return Piece::nothing;
  }
  return Piece::nothing;
}

std::vector<Cluster*> FunctionalSchedule::clusters() {
  std::vector<Cluster*> all;
  for (auto& c : live_) all.push_back(&c->cluster());
  return all;
}

std::optional<WarpRef> FunctionalSchedule::next_warp() const {
  if (at_.current == Position::kNone || at_.current >= live_.size()) return std::nullopt;
  const ClusterStepper& c = *live_[at_.current];
  const SchedulePosition& p = c.position();
  if (p.turn >= p.order.size()) return std::nullopt;
  return ref_of(*c.warps()[p.order[p.turn]]);
}

std::unique_ptr<ScheduleImage> FunctionalSchedule::image() {
  auto image = std::make_unique<Image>();
  image->at = at_;
  image->cancelled = queue_->cancelled();
  for (auto& c : live_) image->clusters.emplace_back(*c);
  return image;
}

// Reuses the objects of clusters that exist now and in the image.
void FunctionalSchedule::restore(const ScheduleImage& kept) {
  const auto& image = static_cast<const Image&>(kept);
  start_queue(image.at.taken, image.cancelled);
  std::vector<std::unique_ptr<ClusterStepper>> live;
  for (const ClusterImage& of : image.clusters) {
    const auto same = std::find_if(live_.begin(), live_.end(), [&](const auto& c) { return c != nullptr && c->cluster().index == of.index(); });
    live.push_back(same != live_.end() ? std::move(*same) : std::make_unique<ClusterStepper>(launch_, options_, bounds_, of.index()));
    of.restore(*live.back());
  }
  live_ = std::move(live);
  at_ = image.at;
  fault_.reset();
}

std::vector<uint64_t> FunctionalSchedule::fingerprint() const {
  std::vector<uint64_t> all = {queue_->cancelled(), at_.taken, at_.together, at_.current, at_.slice_end, at_.progressed, at_.quiet, at_.instructions};
  for (const auto& stepper : live_) {
    const SchedulePosition& p = stepper->position();
    Random random = p.random;
    all.insert(all.end(), {static_cast<uint64_t>(p.at), static_cast<uint64_t>(p.then), random.next(), p.turn, p.budget, p.turn_start, p.ran, p.settled, p.op, p.round_progress,
                           p.issue_progress, p.instructions, p.idle_progress, p.idle_rounds});
    all.insert(all.end(), p.order.begin(), p.order.end());
  }
  return all;
}

}  // namespace

std::unique_ptr<Schedule> make_functional_schedule(Launch& launch, const RunOptions& options) { return std::make_unique<FunctionalSchedule>(launch, options); }

}  // namespace drywell::sim
