// The order of the timing driver. Snapshots do not contain its state: to go back, the launch runs again from its beginning.
#include <fmt/format.h>

#include "sim/debug/schedule.h"
#include "sim/timing/timed_run.h"

namespace drywell::sim {
namespace {

class TimedSchedule : public Schedule {
 public:
  TimedSchedule(const Launch& launch, const RunOptions& options) : run_(launch, options) {}

  Piece advance() override {
    const Warp* turn = next();
    const uint64_t before = turn == nullptr ? 0 : turn->instructions, cluster = turn == nullptr ? 0 : turn->cta->cluster->index;
    if (!run_.advance()) return run_.fault().has_value() ? Piece::fault : Piece::done;
    const bool there = turn != nullptr && run_.group_of(cluster) != nullptr;  // the last exit of a cluster destroys it
    return there && turn->instructions != before ? Piece::instruction : Piece::nothing;
  }
  const std::optional<Fault>& fault() const override { return run_.fault(); }
  RunResult result() override { return run_.result(); }
  std::vector<Cluster*> clusters() override { return run_.clusters(); }
  std::optional<WarpRef> next_warp() const override {
    const Warp* w = next();
    return w == nullptr ? std::nullopt : std::optional(ref_of(*w));
  }
  std::optional<uint64_t> cycle(uint64_t cluster) const override {
    const Group* g = run_.group_of(cluster);
    return g == nullptr ? std::nullopt : std::optional<uint64_t>(g->now());
  }
  std::string waiting(const Warp& w) const override {
    const Group* g = run_.group_of(w.cta->cluster->index);
    const std::optional<Group::Waiting> wait = g == nullptr ? std::nullopt : g->waiting(w);
    if (!wait.has_value()) return {};
    return wait->known ? fmt::format("issues at cycle {} ({})", wait->cycle, stall_name(wait->reason)) : fmt::format("waits since cycle {} ({})", wait->cycle, stall_name(wait->reason));
  }
  std::vector<uint64_t> fingerprint() const override {
    std::vector<uint64_t> all;
    for (const Cluster* c : run_.clusters()) all.push_back(run_.group_of(c->index)->now());
    return all;
  }

 private:
  const Warp* next() const {
    const Group* g = run_.next_group();
    return g == nullptr ? nullptr : g->next_warp();
  }
  mutable TimedRun run_;  // the const functions above do not change its state
};

}  // namespace

std::unique_ptr<Schedule> make_timed_schedule(const Launch& launch, const RunOptions& options) { return std::make_unique<TimedSchedule>(launch, options); }

}  // namespace drywell::sim
