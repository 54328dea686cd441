#include "sim/driver/functional.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>

#include "sim/driver/warp_runner.h"
#include "sim/engine/engine.h"
#include "sim/exec/program.h"

namespace drywell::sim {
namespace {

/// splitmix64: small, and the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

enum class ClusterStop : uint8_t { finished, stuck, slice, fault };

// Runs one cluster under a policy.
class ClusterRunner {
 public:
  ClusterRunner(const Launch& launch, const RunOptions& options, uint64_t index)
      : cluster_(make_cluster(launch, index)), program_(*launch.program), policy_(options.driver), random_(options.seed * 0x9E3779B97F4A7C15ull + index) {
    for (auto& cta : cluster_->ctas) {
      for (Warp& w : cta->warps) order_.push_back(&w);
    }
  }

  /// Runs until the end, a fault, no possible progress, or about `slice` instructions.
  ClusterStop run(uint64_t slice);
  const Fault& fault() const { return *fault_; }
  const Cluster& cluster() const { return *cluster_; }
  uint64_t instructions() const { return instructions_; }

 private:
  // How many instructions a warp runs before others get a turn. Small enough that spinning warps do not hold up the rest.
  uint64_t quantum() { return policy_ == DriverKind::shuffled ? 1 + random_.below(256) : 4096; }

  bool round();
  bool run_one(Warp& w);
  void settle();
  bool step_one();
  bool fail(const AsyncOp& op, const GuestError& e);
  bool time_out_waits();

  std::unique_ptr<Cluster> cluster_;
  const Program& program_;
  DriverKind policy_;
  Random random_;
  std::vector<Warp*> order_;
  std::optional<Fault> fault_;
  uint64_t instructions_ = 0;
  uint64_t idle_progress_ = ~uint64_t{0};
  uint32_t idle_rounds_ = 0;
};

bool ClusterRunner::fail(const AsyncOp& op, const GuestError& e) {
  fault_ = fault_of(*cluster_, op, e);
  return false;
}

// Eager: everything that can run does, in issue order, until nothing is left that is ready.
void ClusterRunner::settle() {
  bool again = true;
  while (again && !fault_.has_value()) {
    again = false;
    for (size_t i = 0; i < cluster_->pending.size(); ++i) {
      if (!is_ready(*cluster_, cluster_->pending[i])) continue;
      const StepResult r = run_to_end(*cluster_, i);
      if (r.error.has_value()) {
        fail(cluster_->pending[i], *r.error);
        return;
      }
      again = true;
      --i;
    }
  }
}

// Lazy and shuffled: one moment of one operation.
bool ClusterRunner::step_one() {
  std::vector<size_t> ready;
  for (size_t i = 0; i < cluster_->pending.size(); ++i) {
    if (is_ready(*cluster_, cluster_->pending[i])) ready.push_back(i);
  }
  if (ready.empty()) return false;
  const size_t pick = policy_ == DriverKind::shuffled ? ready[random_.below(ready.size())] : ready.front();
  const StepResult r = policy_ == DriverKind::shuffled ? step(*cluster_, pick) : run_to_end(*cluster_, pick);
  if (r.error.has_value()) fail(cluster_->pending[pick], *r.error);
  return true;
}

bool ClusterRunner::run_one(Warp& w) {
  uint64_t budget = quantum();
  const uint64_t before = w.instructions;
  bool again = true;
  while (again) {
    again = false;
    cluster_->now = instructions_ + (w.instructions - before);
    switch (run_warp(w, program_, budget)) {
      case RunStop::enqueued: {
        const uint64_t progress = cluster_->progress;
        if (policy_ == DriverKind::eager) settle();
        // Whoever waited for what has just completed gets a turn first: a warp must not run whole phases ahead of the others
        // only because its copies take no time here.
        again = budget > 0 && !fault_.has_value() && cluster_->progress == progress;
        break;
      }
      case RunStop::fault: fault_ = fault_of(w); break;
      case RunStop::finished:
        --w.cta->live_warps;
        cluster_->wake_all();
        break;
      default: break;
    }
  }
  instructions_ += w.instructions - before;
  return w.instructions != before;
}

bool ClusterRunner::round() {
  if (policy_ == DriverKind::shuffled) {
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
  }
  bool ran = false;
  for (Warp* w : order_) {
    if (w->finished() || !may_wake(*w)) continue;
    ran = run_one(*w) || ran;
    if (fault_.has_value()) return true;
    if (policy_ == DriverKind::shuffled && random_.below(4) == 0) step_one();
  }
  return ran;
}

// Every warp waits and nothing is in flight. A try_wait may answer false after a while, and a program may do something
// useful then; if all of them timed out repeatedly and nothing changed, it is a deadlock.
bool ClusterRunner::time_out_waits() {
  if (idle_progress_ != cluster_->progress) {
    idle_progress_ = cluster_->progress;
    idle_rounds_ = 0;
  }
  if (++idle_rounds_ > 3) return false;
  bool any = false;
  for (Warp* w : order_) {
    if (!w->finished() && w->block.reason == BlockReason::mbarrier) {
      w->timed_out = true;
      any = true;
    }
  }
  return any;
}

ClusterStop ClusterRunner::run(uint64_t slice) {
  const uint64_t end = instructions_ + slice;
  while (!fault_.has_value()) {
    const bool done = std::all_of(order_.begin(), order_.end(), [](const Warp* w) { return w->finished(); });
    if (done && cluster_->pending.empty()) {
      fault_ = check_finished(*cluster_);
      return fault_.has_value() ? ClusterStop::fault : ClusterStop::finished;
    }
    const uint64_t before = cluster_->progress;
    const bool ran = round();
    if (fault_.has_value()) break;
    // Late completion: an operation happens only when no warp could go on, or all of them had their turn and still run
    // (spinning on memory).
    const bool stepped = policy_ != DriverKind::eager && !cluster_->pending.empty() && step_one();
    // An operation that happened in the middle of the round may have woken a warp whose turn was over.
    if (ran || stepped || cluster_->progress != before) {
      if (instructions_ >= end) return ClusterStop::slice;
      continue;
    }
    if (policy_ == DriverKind::eager && !cluster_->pending.empty()) {
      const uint64_t progress = cluster_->progress;
      settle();
      if (cluster_->progress != progress) continue;
    }
    if (!time_out_waits()) return ClusterStop::stuck;
  }
  return ClusterStop::fault;
}

struct Shared {
  std::mutex mutex;
  std::atomic<bool> stop{false};
  uint64_t instructions = 0;
  uint64_t fault_cluster = ~uint64_t{0};
  std::optional<Fault> fault;
  std::vector<std::unique_ptr<ClusterRunner>> unfinished;  // need other clusters to go on
};

constexpr uint64_t kSlice = 64'000'000;

void record_fault(Shared& s, uint64_t cluster, const Fault& f) {
  const std::lock_guard lock(s.mutex);
  if (cluster < s.fault_cluster) {
    s.fault_cluster = cluster;
    s.fault = f;
  }
  s.stop = true;
}

Fault deadlock(const Cluster& c) {
  GuestPlace p;
  p.kernel = c.launch->program->function->name;
  p.cta = c.ctas[0]->index;
  return {"F3601", "deadlock: no warp can go on and nothing is in flight\n" + describe_deadlock(c), p};
}

void work(const Launch& launch, const RunOptions& options, Shared& s) {
  while (!s.stop) {
    const std::optional<uint64_t> next = launch.queue->take();
    if (!next.has_value()) return;
    const uint64_t index = *next;
    auto runner = std::make_unique<ClusterRunner>(launch, options, index);
    const ClusterStop stop = runner->run(options.max_instructions != 0 ? options.max_instructions : kSlice);
    if (stop == ClusterStop::fault) record_fault(s, index, runner->fault());
    if (stop == ClusterStop::finished && options.progress != nullptr) options.progress->ctas_done += launch.cluster.count();
    const std::lock_guard lock(s.mutex);
    s.instructions += runner->instructions();
    if (stop == ClusterStop::stuck || stop == ClusterStop::slice) s.unfinished.push_back(std::move(runner));
  }
}

// Clusters that wait for each other (grid-wide synchronisation) take turns on one thread, in cluster order.
void run_together(const Launch& launch, const RunOptions& options, Shared& s) {
  auto& all = s.unfinished;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->cluster().index < b->cluster().index; });
  uint64_t quiet = 0;
  while (!all.empty() && !s.fault.has_value()) {
    bool progressed = false;
    for (size_t i = 0; i < all.size(); ++i) {
      const uint64_t before = all[i]->instructions();
      const ClusterStop stop = all[i]->run(1'000'000);
      s.instructions += all[i]->instructions() - before;
      if (stop == ClusterStop::fault) {
        record_fault(s, all[i]->cluster().index, all[i]->fault());
        return;
      }
      if (stop == ClusterStop::finished) {
        if (options.progress != nullptr) options.progress->ctas_done += launch.cluster.count();
        all.erase(all.begin() + static_cast<ptrdiff_t>(i--));
        progressed = true;
      }
      progressed = progressed || stop == ClusterStop::slice;
      if (options.max_instructions != 0 && s.instructions > options.max_instructions) {
        GuestPlace p;
        p.kernel = launch.program->function->name;
        record_fault(s, 0, {"F3602", fmt::format("more than {} warp instructions", options.max_instructions), p});
        return;
      }
    }
    quiet = progressed ? 0 : quiet + 1;
    if (quiet > 4) record_fault(s, all[0]->cluster().index, deadlock(all[0]->cluster()));
  }
}

}  // namespace

RunResult run_functional(const Launch& given, const RunOptions& options) {
  const uint64_t clusters = given.grid.count() / given.cluster.count();
  const bool odd = options.driver == DriverKind::shuffled && options.seed % 2 != 0;
  LaunchQueue queue(clusters, odd ? LaunchQueue::Cancels::last : LaunchQueue::Cancels::first);
  Launch launch = given;
  launch.queue = &queue;
  Shared shared;
  unsigned threads = options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  if (launch.observers != nullptr || launch.program->ordered_across_ctas) threads = 1;
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, clusters));
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t) pool.emplace_back([&] { work(launch, options, shared); });
  work(launch, options, shared);
  for (std::thread& t : pool) t.join();
  if (!shared.fault.has_value()) run_together(launch, options, shared);
  if (options.progress != nullptr) options.progress->ctas_done += queue.cancelled() * launch.cluster.count();
  RunResult r;
  r.fault = shared.fault;
  r.warp_instructions = shared.instructions;
  return r;
}

}  // namespace drywell::sim
