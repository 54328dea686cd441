#include "sim/debug/session.h"

#include <algorithm>

namespace drywell::sim {
namespace {

constexpr size_t kMostSnapshots = 48;
// Initial number of steps between snapshots: the comparison of memory must not cost much more than the steps.
uint64_t first_interval(const Gmem& gmem) { return 2048 + MemoryImage::bytes(gmem) / 2048; }

}  // namespace

/// Records the events of one step.
class Session::Recorder : public Listener {
 public:
  explicit Recorder(Session& s) : session_(s) {}

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override {
    executed_.push_back({ref_of(w), static_cast<uint32_t>(&op - session_.program().code.data()), mask});
  }
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override {
    StepRecord& r = session_.record_;
    if (m == AsyncMoment::issue) {
      r.issued.push_back(op.id);
    } else if (m != AsyncMoment::write) {
      r.read_too = r.moved && r.op == op.id && m == AsyncMoment::signal;
      r.moved = true;
      r.op = op.id;
      r.moment = m;
      r.payload = op.payload;
      issuer_ = {{c.index, op.issuer.cta, op.issuer.warp}, op.issuer.pc, 0};
    }
  }
  void mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t) override {
    if (e == MbarrierEvent::phase_complete) session_.record_.phases.push_back({cluster_address(cta.rank, offset), b.phase});
  }

  void begin() { executed_.clear(); }
  bool executed() const { return !executed_.empty(); }
  /// Fills the record of a step; `turn`: the warp that the schedule expected to execute.
  void finish(StepRecord::Kind kind, const std::optional<WarpRef>& turn) {
    StepRecord& r = session_.record_;
    r.kind = kind;
    if (kind == StepRecord::Kind::moment) {
      r.who = issuer_.who;
      r.pc = issuer_.pc;
      return;
    }
    if (executed_.empty()) {  // there is no event for an instruction that no lane executes
      r.who = *turn;
      const Warp* w = session_.find(r.who);
      r.pc = w == nullptr || w->pc == 0 ? 0 : w->pc - 1;
      return;
    }
    r.who = executed_[0].who;
    r.pc = executed_[0].pc;
    r.lanes = executed_[0].lanes;
    r.folded.assign(executed_.begin() + 1, executed_.end());
  }

 private:
  Session& session_;
  std::vector<StepRecord::Executed> executed_;
  StepRecord::Executed issuer_;
};

Session::Session(const Launch& launch, const RunOptions& options)
    : launch_(launch), options_(options), recorder_(std::make_unique<Recorder>(*this)), interval_(first_interval(*launch.gmem)) {
  rebuild_hub();
  launch_.observers = &hub_;
  output_.emplace(options_.max_output);
  launch_.output = &*output_;
  schedule_ = make_schedule();
  launch_.gmem->freeze_heap(true);  // images are of the allocations at the start
  keep_snapshot();
}
Session::~Session() { launch_.gmem->freeze_heap(false); }

std::unique_ptr<Schedule> Session::make_schedule() {
  return options_.driver == DriverKind::timed ? make_timed_schedule(launch_, options_) : make_functional_schedule(launch_, options_);
}

void Session::rebuild_hub() {
  hub_ = {};
  for (Listener* l : options_.listeners) hub_.attach(l);
  hub_.attach(recorder_.get());
  for (Listener* l : probes_) hub_.attach(l);
}

void Session::attach(Listener& probe) {
  probes_.push_back(&probe);
  rebuild_hub();
}

void Session::detach(Listener& probe) {
  std::erase(probes_, &probe);
  rebuild_hub();
}

void Session::begin_with(Listener& probe) {
  seek(0);
  probe.launch_started(launch_);
  for (const Cluster* c : clusters()) {
    for (const auto& cta : c->ctas) probe.cta_started(*cta);
  }
  attach(probe);
}

void Session::end_with(std::optional<Fault> f) {
  fault_ = std::move(f);
  record_ = {};
  record_.kind = StepRecord::Kind::end;
  ++position_;
}

bool Session::step() {
  if (over()) return false;
  record_ = {};
  while (record_.kind == StepRecord::Kind::none) {
    const std::optional<WarpRef> turn = next_warp();
    const Warp* w = turn.has_value() ? find(*turn) : nullptr;
    const size_t groups = w == nullptr ? 0 : w->waiting.size();
    recorder_->begin();
    const Piece p = schedule_->advance();
    if (p == Piece::done || p == Piece::fault) {
      end_with(p == Piece::fault ? schedule_->fault() : std::nullopt);
      return true;
    }
    if (p == Piece::instruction || recorder_->executed()) {
      recorder_->finish(StepRecord::Kind::instruction, turn);
      const Warp* now = turn.has_value() ? find(*turn) : nullptr;
      record_.diverged = now != nullptr && now->waiting.size() != groups;
    } else if (p == Piece::moment || record_.moved) {
      recorder_->finish(StepRecord::Kind::moment, turn);
    }
  }
  ++position_;
  if (position_ >= snapshots_.back()->position + interval_) keep_snapshot();
  edit_again(position_);
  return true;
}

bool Session::edit(std::function<bool(Session&)> change) {
  if (!change(*this)) return false;
  const auto behind = [&](const auto& x) { return x->position > position_; };
  std::erase_if(snapshots_, behind);
  std::erase_if(edits_, [&](const Edit& e) { return e.position > position_; });
  edits_.push_back({position_, std::move(change)});
  ++generation_;
  return true;
}

void Session::edit_again(uint64_t position) {
  for (const Edit& e : edits_)
    if (e.position == position) e.change(*this);
}

void Session::keep_snapshot() {
  std::unique_ptr<ScheduleImage> schedule = schedule_->image();
  if (schedule == nullptr && position_ != 0) return;
  const MemoryImage* earlier = snapshots_.empty() ? nullptr : &snapshots_.back()->memory;
  snapshots_.push_back(std::make_unique<Snapshot>(Snapshot{position_, std::move(schedule), MemoryImage(*launch_.gmem, earlier), output_->text(), record_}));
  if (snapshots_.size() <= kMostSnapshots) return;
  // Deletes every second snapshot.
  size_t kept = 0;
  for (size_t i = 0; i < snapshots_.size(); i += 2) snapshots_[kept++] = std::move(snapshots_[i]);
  snapshots_.resize(kept);
  interval_ *= 2;
}

void Session::restore(const Snapshot& s) {
  output_.emplace(options_.max_output);
  output_->append(0, s.output);
  if (s.schedule != nullptr) schedule_->restore(*s.schedule);
  s.memory.restore(*launch_.gmem);
  if (s.schedule == nullptr) schedule_ = make_schedule();
  position_ = s.position;
  record_ = s.record;
  fault_.reset();
  edit_again(position_);
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
  edits_.clear();
  restore(*snapshots_.front());
  options_.driver = policy;
  options_.seed = seed;
  record_ = {};
  schedule_ = make_schedule();
  snapshots_.clear();
  interval_ = first_interval(*launch_.gmem);
  ++generation_;
  keep_snapshot();
}

RunResult Session::result() const {
  RunResult r = schedule_->result();
  r.fault = fault_;
  return r;
}

Cluster* Session::find_cluster(uint64_t index) {
  for (Cluster* c : clusters()) {
    if (c->index == index) return c;
  }
  return nullptr;
}

Warp* Session::find(const WarpRef& w) {
  Cluster* c = find_cluster(w.cluster);
  if (c == nullptr || w.cta >= c->ctas.size() || w.warp >= c->ctas[w.cta]->warps.size()) return nullptr;
  return &c->ctas[w.cta]->warps[w.warp];
}

}  // namespace drywell::sim
