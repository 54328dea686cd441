#include "sim/timing/timed.h"

#include <fmt/format.h>

#include <algorithm>

#include "drywell/core/error.h"
#include "drywell/core/parallel.h"
#include "sim/events/hub.h"
#include "sim/exec/entry_registers.h"
#include "sim/schedule/fingerprint.h"
#include "sim/schedule/functional.h"
#include "sim/schedule/spins.h"
#include "sim/timing/branch_on_results.h"
#include "sim/timing/make_report.h"
#include "sim/timing/timed_run.h"
#include "sim/timing/window_workers.h"

namespace drywell::sim {

// Times in nanoseconds and bytes per second become other numbers of cycles.
static std::optional<ArchConfig> at_fixed_clock(const ArchConfig& arch, const ClockChoice& c) {
  if (c.kind != ClockChoice::Kind::fixed) return std::nullopt;
  ArchConfig own = arch;
  own.chip.clock = own.chip.tensor_clock = c.ghz;
  return own;
}

TimedRun::TimedRun(const Launch& launch, const RunOptions& options)
    : queue_(launch.grid.count() / launch.cluster.count()),
      launch_(launch),
      options_(options),
      bounds_(options),
      own_arch_(at_fixed_clock(*launch.arch, options.clock)),
      arch_(own_arch_.has_value() ? *own_arch_ : *launch.arch),
      program_(*launch.program, arch_),
      memory_(arch_, *launch.gmem, launch.sm_count, &state_) {
  launch_.arch = &arch_;
  launch_.queue = &queue_;
  launch_.memory = &state_;
  if (const auto line = options.values ? std::nullopt : branch_on_results(program_); line.has_value()) {
    const TimedProgram::Line& where = program_.lines[*line];
    throw InputError(Code::E4522, fmt::format("'{}' branches on results of the tensor core at {}:{}: without values it cannot be timed", launch.program->function->name, where.file, where.line));
  }
  const isa::Function& f = *launch.program->function;
  residency_ = resident_at_once();
  context_.launch = &launch_;
  context_.arch = &arch_;
  context_.program = &program_;
  context_.values = options.values;
  context_.clock = options.clock;
  context_.bounds = &bounds_;
  const uint64_t smem = uint64_t{residency_.ctas_per_sm} * launch.smem_bytes;
  context_.l1_bytes = arch_.l1.bytes > smem ? arch_.l1.bytes - smem : 0;
  const uint64_t warps = (launch.block.count() + kWarpSize - 1) / kWarpSize;
  for (const isa::WarpRole& r : f.roles) {
    if (std::find(context_.roles.begin(), context_.roles.end(), r.name) == context_.roles.end())
      context_.roles.push_back(r.name);
  }
  context_.roles.emplace_back("warps");
  context_.role_of_warp.assign(warps, static_cast<uint16_t>(context_.roles.size() - 1));
  for (const isa::WarpRole& r : f.roles) {
    const auto name = std::find(context_.roles.begin(), context_.roles.end(), r.name);
    for (uint64_t w = r.first; w <= r.last && w < warps; ++w)
      context_.role_of_warp[w] = static_cast<uint16_t>(name - context_.roles.begin());
  }
  const auto size = static_cast<uint32_t>(launch.cluster.count());
  const std::vector<uint32_t> gpcs = gpc_of_sms(arch_, launch.sm_count);
  for (const uint32_t first : cluster_places(arch_, launch.sm_count, size)) {
    groups_.push_back(std::make_unique<Group>(context_, first, size));
    gpc_of_group_.push_back(gpcs[first]);
    first_sm_of_group_.push_back(first);
  }
  starters_.resize(groups_.size());
  memory_.start(options.caches, *launch.gmem, launch.l2);
  deal_first_wave();
}

// A kernel whose CTAs exchange values may wait for CTAs that the program knows to be resident: if the grid fits without the estimate of
// registers, the estimate does not keep it apart.
Residency TimedRun::resident_at_once() const {
  const Residency most = residency(arch_, launch_, registers_of_directives(launch_));
  const uint64_t places = cluster_places(arch_, launch_.sm_count, static_cast<uint32_t>(launch_.cluster.count())).size() * most.ctas_per_sm;
  const bool talks = program_.talks_between_ctas || launch_.program->ordered_across_ctas;
  if (talks && launch_.grid.count() / launch_.cluster.count() <= places) return most;
  return residency(arch_, launch_, entry_registers(launch_));
}

// One dispatcher deals the CTAs of the whole chip, and each SM starts their warps. Empty places are filled fast; to take note of an end takes
// longer (docs/lab/calibration.md, "How a launch begins and ends"). Returns when the next cluster of a group starts, whose place is free at `t`
// and which is `on_the_way` for so many cycles.
Time TimedRun::deal(uint32_t group, double t, double on_the_way) {
  const auto ctas = static_cast<double>(launch_.cluster.count());
  const double dealt = dispatcher_.begin(t, ctas / arch_.launch.first_wave_per_clk);
  const double warps = std::ceil(static_cast<double>(launch_.block.count()) / kWarpSize);
  return static_cast<Time>(starters_[group].begin(dealt + on_the_way, warps * arch_.launch.warp_start));
}

// Returns when the dispatcher has taken note of a cluster that ended at `t`.
double TimedRun::note_end(Time t) {
  const double each = std::max(0.0, 1 / arch_.launch.ctas_per_clk - 1 / arch_.launch.first_wave_per_clk);
  const double time = static_cast<double>(launch_.cluster.count()) * each;
  ends_noted_ = dispatcher_.begin(static_cast<double>(t), time) + time;
  return ends_noted_;
}

// The launch reaches the SMs one after another while the dispatcher already goes on: the slowest SM of the chip starts its first CTA launch.start_spread
// after the first SM's, and an empty launch does not last longer for it.
double TimedRun::way_to(uint32_t group) const {
  return arch_.launch.start_spread * static_cast<double>(first_sm_of_group_[group]) / arch_.chip.sms;
}

// The first wave goes to the SMs in turn; each later CTA goes to an SM where one ended.
void TimedRun::deal_first_wave() {
  for (uint32_t wave = 0; wave < residency_.ctas_per_sm; ++wave) {
    for (uint32_t g = 0; g < groups_.size(); ++g) {
      const std::optional<uint64_t> next = queue_.take();
      if (!next.has_value()) return;
      groups_[g]->start_cluster(*next, deal(g, 0, wave == 0 ? way_to(g) : 0));
      ++started_;
    }
  }
}

void TimedRun::serve_memory() {
  struct Entry {
    double time;
    uint32_t group, index;
  };
  std::vector<Entry> order;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    const auto& list = groups_[g]->memory().requests();
    for (uint32_t i = 0; i < list.size(); ++i) order.push_back({list[i].time, g, i});
  }
  std::sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.group != b.group ? a.group < b.group : a.index < b.index;
  });
  const auto prefetch = [&](size_t i) {
    if (i >= order.size()) return;
    const MemoryPort& port = groups_[order[i].group]->memory();
    memory_.prefetch(port.requests()[order[i].index], port.asked().data());
  };
  for (size_t i = 0; i < order.size(); ++i) {
    constexpr size_t kAhead = 4;
    prefetch(i + kAhead);
    const Entry& e = order[i];
    MemoryPort& port = groups_[e.group]->memory();
    MemoryRequest& r = port.requests()[e.index];
    memory_.serve(r, port.asked().data(), gpc_of_group_[e.group], first_sm_of_group_[e.group]);
    port.answer(r);
  }
  for (auto& g : groups_) g->memory().clear();
}

void TimedRun::replace_finished() {
  struct Entry {
    Time at;
    uint32_t group;
  };
  std::vector<Entry> order;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    for (const Residents::Finished& f : groups_[g]->finished()) order.push_back({f.at, g});
    groups_[g]->finished().clear();
  }
  finished_ += order.size();
  if (options_.progress != nullptr) options_.progress->ctas_done += order.size() * launch_.cluster.count();
  std::sort(order.begin(), order.end(),
            [](const Entry& a, const Entry& b) { return a.at != b.at ? a.at < b.at : a.group < b.group; });
  for (const Entry& e : order) {
    const double noted = note_end(e.at);
    const std::optional<uint64_t> next = queue_.take();
    if (!next.has_value()) continue;
    groups_[e.group]->start_cluster(*next, deal(e.group, noted) + static_cast<Time>(arch_.launch.cta_replacement));
    ++started_;
  }
}

// Faults, the instruction limit, and deadlock: for a while only time-outs of waits have happened.
bool TimedRun::stop(Time now) {
  uint64_t first = ~uint64_t{0}, instructions = 0, progress = 0, moved = started_ + finished_;
  bool stuck = true;
  for (const auto& g : groups_) {
    if (g->fault().has_value() && g->fault_cluster() < first) {
      first = g->fault_cluster();
      fault_ = g->fault();
    }
    instructions += g->account().instructions;
    progress += g->progress();
    moved += g->moved();
    stuck = stuck && g->stuck();
  }
  if (fault_.has_value()) return true;
  if (finished_ == started_ && queue_.empty()) return true;
  fault_ = bound_reached(instructions);
  if (!fault_.has_value() && !launch_.program->closed_waits.empty() && wait_.proven(now, moved + progress, [this] { return clusters(); })) fault_ = wait_.fault(clusters());
  if (fault_.has_value()) return true;
  if (!stuck || progress != quiet_progress_) {
    quiet_progress_ = progress;
    quiet_since_ = compared_at_ = now;
    quiet_state_.reset();
    return false;
  }
  const bool hopeless = std::all_of(groups_.begin(), groups_.end(), [](const auto& g) { return g->next_time() == kNever; });
  if (!hopeless && !time_outs_are_in_vain(now)) return false;
  const Cluster* waiting = first_live_cluster();
  if (waiting == nullptr) throw InternalError("timing: clusters are missing");
  fault_ = deadlock_of(*waiting);
  return true;
}

// `instructions`: of the warps that have ended.
std::optional<Fault> TimedRun::bound_reached(uint64_t instructions) const {
  if (options_.max_instructions != 0 && instructions + instructions_of_live_warps() > options_.max_instructions) return with_spins(over_instructions(options_, a_place()), live_clusters());
  if (bounds_.ended()) return with_spins(bounds_.fault(a_place()), live_clusters());
  return std::nullopt;
}

const Cluster* TimedRun::first_live_cluster() const {
  const Cluster* first = nullptr;
  for (const auto& g : groups_) {
    const Cluster* c = g->a_live_cluster();
    if (c != nullptr && (first == nullptr || c->index < first->index)) first = c;
  }
  return first;
}

std::vector<const Cluster*> TimedRun::live_clusters() const {
  std::vector<Cluster*> all;
  for (const auto& g : groups_) g->add_clusters(all);
  std::sort(all.begin(), all.end(), [](const Cluster* a, const Cluster* b) { return a->index < b->index; });
  return {all.begin(), all.end()};
}

// Every CTA may have ended at this moment, and others follow.
GuestPlace TimedRun::a_place() const {
  if (const Cluster* c = first_live_cluster(); c != nullptr) return place_of_first(*c);
  GuestPlace place;
  place.kernel = launch_.program->function->name;
  return place;
}

// Suspended waits have returned false for a while, and their warps are at the same places with the same registers.
bool TimedRun::time_outs_are_in_vain(Time now) {
  if (!quiet_state_.has_value()) quiet_state_ = state_of_all();
  if (static_cast<double>(now - compared_at_) < 4 * arch_.mbarrier.suspend_limit) return false;
  if (*quiet_state_ == state_of_all()) return true;
  compared_at_ = now;
  quiet_state_ = state_of_all();
  return static_cast<double>(now - quiet_since_) > static_cast<double>(kMostTimeOuts) * static_cast<double>(arch_.mbarrier.suspend_limit);
}

// The account has the instructions of warps that have ended: a warp that never ends counts here.
uint64_t TimedRun::instructions_of_live_warps() const {
  std::vector<Cluster*> all;
  for (const auto& g : groups_) g->add_clusters(all);
  uint64_t n = 0;
  for (const Cluster* c : all) {
    for (const auto& cta : c->ctas)
      for (const Warp& w : cta->warps) n += w.finished() ? 0 : w.instructions;
  }
  return n;
}

uint64_t TimedRun::state_of_all() const {
  std::vector<Cluster*> all;
  for (const auto& g : groups_) g->add_clusters(all);
  uint64_t state = 0;
  for (const Cluster* c : all) state ^= fingerprint(*c) + c->index * 0x9E3779B97F4A7C15ull;
  return state;
}

// CTAs that exchange values while they run are simulated in a fixed order.
bool TimedRun::in_order() const {
  const bool watched = launch_.observers != nullptr && !launch_.observers->concurrent();
  return watched || program_.orders_ctas || launch_.program->ordered_across_ctas;
}

unsigned TimedRun::host_threads() const {
  if (in_order()) return 1;
  return std::max(1u, static_cast<unsigned>(std::min<size_t>(drywell::host_threads(options_.threads), groups_.size())));
}

// No answer of the memory arrives sooner.
Time TimedRun::window() const { return std::max<Time>(1, static_cast<Time>(memory_.soonest())); }

bool TimedRun::open_window() {
  Time start = kNever;
  for (const auto& g : groups_) start = std::min(start, g->next_time());
  if (start == kNever) {
    stop(quiet_since_);
    return false;
  }
  if (options_.max_cycles != 0 && start > options_.max_cycles) {
    fault_ = with_spins(over_cycles(options_, a_place()), live_clusters());
    return false;
  }
  until_ = start + window();
  if (options_.max_cycles != 0) until_ = std::min<Time>(until_, options_.max_cycles + 1);
  if (options_.progress != nullptr) options_.progress->cycles = start;
  active_.clear();
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g]->next_time() < until_) active_.push_back(g);
  }
  turn_ = 0;
  return true;
}

bool TimedRun::close_window() {
  serve_memory();
  for (const auto& g : groups_) g->hold_stores(memory_.stores_wait_until());
  replace_finished();
  return !stop(until_);
}

RunResult TimedRun::run() {
  const unsigned threads = host_threads();
  launch_.threads = threads > 1;
  WindowWorkers workers(groups_, threads, in_order());
  while (open_window()) {
    workers.run(active_, until_);
    if (!close_window()) break;
  }
  return result();
}

bool TimedRun::advance() {
  if (!window_open_) {
    window_open_ = open_window();
    for (auto& g : groups_) g->take_answers();
    return window_open_;
  }
  if (turn_ == active_.size() || bounds_.ended()) {
    window_open_ = false;
    return close_window();
  }
  if (!groups_[active_[turn_]]->advance(until_)) ++turn_;
  return true;
}

const Group* TimedRun::next_group() const { return window_open_ && turn_ < active_.size() ? groups_[active_[turn_]].get() : nullptr; }

std::vector<Cluster*> TimedRun::clusters() {
  std::vector<Cluster*> all;
  for (const auto& g : groups_) g->add_clusters(all);
  std::sort(all.begin(), all.end(), [](const Cluster* a, const Cluster* b) { return a->index < b->index; });
  return all;
}

const Group* TimedRun::group_of(uint64_t cluster) const {
  for (const auto& g : groups_) {
    if (g->holds(cluster)) return g.get();
  }
  return nullptr;
}

RunResult TimedRun::result() {
  RunResult r;
  r.fault = fault_;
  Time end = 0;
  for (const auto& g : groups_) {
    r.warp_instructions += g->account().instructions;
    end = std::max(end, g->last_activity());
  }
  end = std::max({end, ceil_time(memory_.drained()), ceil_time(ends_noted_)});
  r.cycles = end;
  r.timing = make_report(context_, groups_, memory_, residency_, end);
  if (launch_.l2 != nullptr) memory_.leave(*launch_.l2);
  return r;
}

RunResult run_timed(const Launch& launch, const RunOptions& options) {
  return TimedRun(launch, options).run();
}

}  // namespace drywell::sim
