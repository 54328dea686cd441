#include "sim/debug/session.h"

#include <algorithm>

#include "sim/driver/warp_runner.h"

namespace drywell::sim {
namespace {

constexpr size_t kMostSnapshots = 48;
// Steps between snapshots at first: comparing memory must not cost much more than the steps do.
uint64_t first_interval(const Gmem& gmem) { return 2048 + MemoryImage::bytes(gmem) / 2048; }

}  // namespace

/// Listens to what one step does.
class Session::Recorder : public Listener {
 public:
  explicit Recorder(Session& s) : session_(s) {}

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override {
    if (session_.probe_ != nullptr) session_.probe_->instruction(w, op, mask);
    StepRecord& r = session_.record_;
    r.pc = static_cast<uint32_t>(&op - session_.program().code.data());
    r.lanes = mask;
    told_ = true;
  }
  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) override {
    if (session_.probe_ != nullptr) session_.probe_->memory(w, op, mask, space, bytes, store);
  }
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override {
    if (session_.probe_ != nullptr) session_.probe_->async(c, op, m);
    StepRecord& r = session_.record_;
    if (m == AsyncMoment::issue) {
      r.issued.push_back(op.id);
    } else if (m != AsyncMoment::write) {
      r.op = op.id;
      r.who = {r.who.cluster, op.issuer.cta, op.issuer.warp};
      r.pc = op.issuer.pc;
      r.moment = m;
      r.payload = op.payload;
    }
  }
  void mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t) override {
    if (e == MbarrierEvent::phase_complete) session_.record_.phases.push_back({(cta.rank << 24) | offset, b.phase});
  }

  void begin() { told_ = false; }
  bool told() const { return told_; }

 private:
  Session& session_;
  bool told_ = false;
};

Session::Session(const Launch& launch, const RunOptions& options)
    : launch_(launch), options_(options), recorder_(std::make_unique<Recorder>(*this)), interval_(first_interval(*launch.gmem)) {
  if (options_.driver == DriverKind::timed) options_.driver = DriverKind::eager;
  for (Listener* l : options.listeners) hub_.attach(l);
  hub_.attach(recorder_.get());
  launch_.observers = &hub_;
  start_queue(0, 0);
  output_.emplace(options_.max_output);
  launch_.output = &*output_;
  choose_cluster();
  keep_snapshot();
}
Session::~Session() = default;

// The queue counts clusters from both ends: doing the same number of each operation again brings it where it was.
void Session::start_queue(uint64_t taken, uint64_t cancelled) {
  queue_.emplace(launch_.grid.count() / launch_.cluster.count(), cancels_of(options_));
  launch_.queue = &*queue_;
  for (uint64_t i = 0; i < taken; ++i) queue_->take();
  for (uint64_t i = 0; i < cancelled; ++i) queue_->cancel();
}

void Session::end_with(std::optional<Fault> f) {
  fault_ = std::move(f);
  record_ = {};
  record_.kind = StepRecord::Kind::end;
  ++position_;
}

// Makes a cluster the current one; false if there is none left.
bool Session::choose_cluster() {
  if (!at_.together) {
    if (const std::optional<uint64_t> next = queue_->take(); next.has_value()) {
      ++at_.taken;
      live_.push_back(std::make_unique<ClusterStepper>(launch_, options_, *next));
      at_.current = live_.size() - 1;
      at_.slice_end = slices_of(launch_).alone;
      return true;
    }
    at_.together = true;
  }
  if (live_.empty()) return false;
  at_.current = 0;
  at_.progressed = false;
  at_.slice_end = live_[0]->instructions() + slices_of(launch_).together;
  return true;
}

// The current cluster's time is up; `erased`: because it ended.
void Session::take_turns(bool erased, bool progressed) {
  if (erased) live_.erase(live_.begin() + static_cast<ptrdiff_t>(at_.current));
  if (!at_.together) {
    at_.current = LaunchPosition::kNone;
    return;
  }
  at_.progressed = at_.progressed || progressed;
  if (!erased) ++at_.current;
  if (at_.current < live_.size()) {
    at_.slice_end = live_[at_.current]->instructions() + slices_of(launch_).together;
    return;
  }
  at_.current = LaunchPosition::kNone;
  at_.quiet = at_.progressed ? 0 : at_.quiet + 1;
}

// One piece of the schedule. True when it was a step.
bool Session::advance() {
  if (at_.quiet > kQuietRounds) {
    end_with(deadlock_of(live_[0]->cluster()));
    return true;
  }
  if (at_.current == LaunchPosition::kNone && !choose_cluster()) {
    end_with(std::nullopt);
    return true;
  }
  ClusterStepper& c = *live_[at_.current];
  const Advance a = c.advance(1);
  switch (a) {
    case Advance::instruction:
    case Advance::moment: {
      record_.who.cluster = c.cluster().index;
      record_.kind = a == Advance::instruction ? StepRecord::Kind::instruction : StepRecord::Kind::moment;
      ++position_;
      if (a == Advance::instruction) ++at_.instructions;
      return true;
    }
    case Advance::finished: take_turns(true, true); return false;
    case Advance::stuck: take_turns(false, false); return false;
    case Advance::fault: end_with(c.fault()); return true;
    case Advance::decision:
      if (c.at_round() && c.instructions() >= at_.slice_end) take_turns(false, true);
      return false;
  }
  return false;
}

bool Session::step() {
  if (over()) return false;
  record_ = {};
  while (true) {
    // The warp whose turn it may be: run_warp tells its listeners nothing of instructions no lane executes.
    const std::optional<WarpRef> turn = next_warp();
    Warp* w = turn.has_value() ? find(*turn) : nullptr;
    recorder_->begin();
    const size_t groups = w == nullptr ? 0 : w->waiting.size();
    if (!advance()) continue;
    if (record_.kind == StepRecord::Kind::instruction) {
      record_.who = *turn;
      if (!recorder_->told()) record_.pc = w->pc == 0 ? 0 : w->pc - 1;
      record_.diverged = w->waiting.size() != groups;
    }
    break;
  }
  if (position_ >= snapshots_.back()->position + interval_) keep_snapshot();
  return true;
}

void Session::keep_snapshot() {
  const MemoryImage* earlier = snapshots_.empty() ? nullptr : &snapshots_.back()->memory;
  auto s = std::make_unique<Snapshot>(Snapshot{position_, at_, {}, queue_->cancelled(), MemoryImage(*launch_.gmem, earlier), output_->text(), record_});
  for (auto& c : live_) s->clusters.emplace_back(*c);
  snapshots_.push_back(std::move(s));
  if (snapshots_.size() <= kMostSnapshots) return;
  // Every second one goes.
  size_t kept = 0;
  for (size_t i = 0; i < snapshots_.size(); i += 2) snapshots_[kept++] = std::move(snapshots_[i]);
  snapshots_.resize(kept);
  interval_ *= 2;
}

void Session::restore(const Snapshot& s) {
  start_queue(s.launch.taken, s.cancelled);
  output_.emplace(options_.max_output);
  output_->append(0, s.output);
  std::vector<std::unique_ptr<ClusterStepper>> live;
  for (const ClusterImage& image : s.clusters) {
    const auto same = std::find_if(live_.begin(), live_.end(), [&](const auto& c) { return c != nullptr && c->cluster().index == image.index(); });
    live.push_back(same != live_.end() ? std::move(*same) : std::make_unique<ClusterStepper>(launch_, options_, image.index()));
    image.restore(*live.back());
  }
  live_ = std::move(live);
  s.memory.restore(*launch_.gmem);
  at_ = s.launch;
  position_ = s.position;
  record_ = s.record;
  fault_.reset();
}

uint64_t Session::snapshot_before(uint64_t position) const {
  const auto after = std::upper_bound(snapshots_.begin(), snapshots_.end(), position, [](uint64_t p, const auto& s) { return p < s->position; });
  return (*std::prev(after))->position;
}

void Session::seek(uint64_t position) {
  const uint64_t from = snapshot_before(position);
  if (position < position_ || from > position_) {
    for (const auto& s : snapshots_) {
      if (s->position == from) restore(*s);
    }
  }
  while (position_ < position && step()) {
  }
}

void Session::restart(DriverKind policy, uint64_t seed) {
  seek(0);
  options_.driver = policy == DriverKind::timed ? DriverKind::eager : policy;
  options_.seed = seed;
  start_queue(0, 0);
  live_.clear();
  at_ = {};
  record_ = {};
  choose_cluster();
  snapshots_.clear();
  interval_ = first_interval(*launch_.gmem);
  keep_snapshot();
}

RunResult Session::result() const {
  RunResult r;
  r.fault = fault_;
  r.warp_instructions = at_.instructions;
  return r;
}

std::vector<Cluster*> Session::clusters() {
  std::vector<Cluster*> all;
  for (auto& c : live_) all.push_back(&c->cluster());
  return all;
}

Cluster* Session::find_cluster(uint64_t index) {
  for (auto& c : live_) {
    if (c->cluster().index == index) return &c->cluster();
  }
  return nullptr;
}

Warp* Session::find(const WarpRef& w) {
  Cluster* c = find_cluster(w.cluster);
  if (c == nullptr || w.cta >= c->ctas.size() || w.warp >= c->ctas[w.cta]->warps.size()) return nullptr;
  return &c->ctas[w.cta]->warps[w.warp];
}

std::optional<WarpRef> Session::next_warp() {
  if (at_.current == LaunchPosition::kNone || at_.current >= live_.size()) return std::nullopt;
  const ClusterStepper& c = *live_[at_.current];
  const SchedulePosition& p = c.position();
  if (p.turn >= p.order.size()) return std::nullopt;
  const Warp& w = *c.warps()[p.order[p.turn]];
  return WarpRef{c.cluster().index, w.cta->rank, w.index};
}

}  // namespace drywell::sim
