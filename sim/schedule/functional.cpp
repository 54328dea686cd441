#include "sim/schedule/functional.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "drywell/core/parallel.h"
#include "sim/events/hub.h"
#include "sim/exec/environment.h"
#include "sim/schedule/cluster_stepper.h"
#include "sim/schedule/grid_wait.h"
#include "sim/schedule/ordered_counts.h"
#include "sim/schedule/spins.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

struct Shared {
  explicit Shared(const RunOptions& options) : bounds(options) {}
  RunBounds bounds;
  std::mutex mutex;
  std::atomic<bool> stop{false};
  uint64_t instructions = 0;
  OrderedCounts counts;
  uint64_t fault_cluster = ~uint64_t{0};
  std::optional<Fault> fault;
  std::vector<std::unique_ptr<ClusterStepper>> unfinished;  // wait for other clusters, or ran a whole slice
};

void record_fault_locked(Shared& s, uint64_t cluster, const Fault& f) {
  if (cluster < s.fault_cluster) {
    s.fault_cluster = cluster;
    s.fault = f;
    s.counts.end_at(cluster);
  }
  s.stop = true;
}

void record_fault(Shared& s, uint64_t cluster, const Fault& f) {
  const std::lock_guard lock(s.mutex);
  record_fault_locked(s, cluster, f);
}

/// The limit is for the sum over all clusters, added in order of index. The cluster whose count exceeds it has the fault.
void count_finished(Shared& s, const RunOptions& options, const ClusterStepper& runner) {
  const Cluster& c = runner.cluster();
  s.counts.add(c.index, {runner.instructions(), c.ctas[0]->index}, [&](uint64_t index, const OrderedCounts::Count& count, uint64_t sum) {
    if (options.max_instructions == 0 || sum <= options.max_instructions) return;
    GuestPlace place;
    place.kernel = c.launch->program->function->name;
    place.cta = count.cta;
    record_fault_locked(s, index, over_instructions(options, std::move(place)));
  });
}

void work_through(const Launch& launch, const RunOptions& options, Shared& s) {
  while (!s.stop) {
    const std::optional<uint64_t> next = launch.queue->take();
    if (!next.has_value()) return;
    const uint64_t index = *next;
    auto runner = std::make_unique<ClusterStepper>(launch, options, s.bounds, index);
    const bool bounded = options.max_instructions != 0 && grid_workspace(launch) == 0;
    const ClusterStop stop = runner->run(bounded ? options.max_instructions : slices_of(launch).alone);
    if (stop == ClusterStop::fault) record_fault(s, index, runner->fault());
    if (stop == ClusterStop::finished && options.progress != nullptr) options.progress->ctas_done += launch.cluster.count();
    if (stop == ClusterStop::slice && bounded && runner->instructions() >= options.max_instructions) record_fault(s, index, with_spins(over_instructions(options, place_of_first(runner->cluster())), {&runner->cluster()}));
    const std::lock_guard lock(s.mutex);
    s.instructions += runner->instructions();
    count_finished(s, options, *runner);
    if (stop == ClusterStop::stuck || stop == ClusterStop::slice) s.unfinished.push_back(std::move(runner));
  }
}

// A launch that one thread cannot go on with has failed: the others end, too.
void work(const Launch& launch, const RunOptions& options, Shared& s) {
  try {
    work_through(launch, options, s);
  } catch (...) {
    s.stop = true;
    throw;
  }
}

std::vector<const Cluster*> clusters_of(const std::vector<std::unique_ptr<ClusterStepper>>& all) {
  std::vector<const Cluster*> clusters;
  for (const auto& runner : all) clusters.push_back(&runner->cluster());
  return clusters;
}

// Clusters that wait for each other (grid-wide synchronization) take turns on one thread, in cluster order.
void run_together(const Launch& launch, const RunOptions& options, Shared& s) {
  auto& all = s.unfinished;
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->cluster().index < b->cluster().index; });
  uint64_t quiet = 0;
  GridWait wait;
  while (!all.empty() && !s.fault.has_value()) {
    bool progressed = false;
    const size_t before_round = all.size();
    for (size_t i = 0; i < all.size(); ++i) {
      const uint64_t before = all[i]->instructions();
      const ClusterStop stop = wait.run(*all[i], slices_of(launch).together);
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
        record_fault(s, 0, with_spins(over_instructions(options, place_of_first(all.front()->cluster())), clusters_of(all)));
        return;
      }
    }
    quiet = progressed ? 0 : quiet + 1;
    if (quiet > kQuietRounds) record_fault(s, all[0]->cluster().index, deadlock_of(all[0]->cluster()));
    if (wait.round_over(all, all.size() != before_round)) record_fault(s, all[0]->cluster().index, grid_deadlock_of(clusters_of(all)));
  }
}

}  // namespace

Slices slices_of(const Launch& l) { return grid_workspace(l) != 0 ? Slices{16, 16} : Slices{}; }

RunResult run_functional(const Launch& given, const RunOptions& options) {
  const uint64_t clusters = given.grid.count() / given.cluster.count();
  LaunchQueue queue(clusters, cancels_of(options));
  Launch launch = given;
  launch.queue = &queue;
  Shared shared(options);
  unsigned threads = host_threads(options.threads);
  const bool in_order = launch.observers != nullptr && !launch.observers->concurrent();
  if (in_order || launch.program->ordered_across_ctas) threads = 1;
  threads = static_cast<unsigned>(std::min<uint64_t>(threads, clusters));
  launch.threads = threads > 1;
  shared.counts.begin(threads == 1);
  parallel_for(threads, threads, [&](uint64_t, uint64_t) { work(launch, options, shared); });
  if (shared.fault.has_value()) {  // what clusters behind it did depends on the host's threads
    shared.instructions = shared.counts.total();
    launch.output->end_at(shared.fault_cluster);
  } else {
    run_together(launch, options, shared);
  }
  if (options.progress != nullptr) options.progress->ctas_done += queue.cancelled() * launch.cluster.count();
  RunResult r;
  r.fault = shared.fault;
  r.warp_instructions = shared.instructions;
  return r;
}

}  // namespace drywell::sim
