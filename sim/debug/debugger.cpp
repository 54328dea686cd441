#include "sim/debug/debugger.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace drywell::sim {

using Kind = StopReason::Kind;

Debugger::Debugger(const Launch& launch, const RunOptions& options) : session_(launch, options), code_(*launch.program) {}

StopReason Debugger::forward(const Wanted& wanted, uint64_t count) {
  if (stops_.needs_hazards() && !hazards_.cover(session_.position(), interrupted)) return {Kind::interrupted, {}};
  stops_.prime(session_);
  const StopReason r = run_forward(wanted, count);
  stops_.release(session_);
  return r;
}

StopReason Debugger::run_forward(const Wanted& wanted, uint64_t count) {
  for (uint64_t n = 0; session_.step(); ++n) {
    const std::optional<Hit> hit = stops_.check(session_);
    if (hit.has_value()) {
      Stop& stop = *stops_.find(hit->id);
      ++stop.hits;
      focus = hit->who;
      if (stop.once) {
        stops_.release(session_);
        stops_.remove(hit->id);
      }
      return {Kind::hit, *hit};
    }
    if (session_.over()) break;
    if (wanted && wanted() && --count == 0) return {Kind::done, {}};
    if (poll(n)) return {Kind::interrupted, {}};
  }
  return {Kind::end, {}};
}

// Replays the intervals between snapshots, the latest first, and counts matches backwards within each interval.
std::optional<Debugger::Found> Debugger::scan_back(Stops& stops, const Wanted& wanted, uint64_t count, uint64_t last, bool& stopped) {
  uint64_t n = 0;
  stopped = false;
  while (last > 0) {
    const uint64_t from = session_.snapshot_before(last - 1);
    session_.seek(from);
    stops.prime(session_);
    std::deque<Found> found;
    while (session_.position() < last && session_.step()) {
      std::optional<Hit> hit = stops.check(session_);
      if (hit.has_value() || (wanted && wanted())) found.push_back({session_.position(), std::move(hit)});
      if (found.size() > count) found.pop_front();
      if (stopped = poll(n++); stopped) break;
    }
    stops.release(session_);
    if (stopped) return std::nullopt;
    for (auto it = found.rbegin(); it != found.rend(); ++it) {
      if (it->hit.has_value() || --count == 0) return *it;
    }
    last = from;
  }
  return std::nullopt;
}

StopReason Debugger::back(const Wanted& wanted, uint64_t count) {
  const uint64_t here = session_.position();
  if (stops_.needs_hazards() && !hazards_.cover(here, interrupted)) return {Kind::interrupted, {}};
  bool stopped = false;
  const std::optional<Found> found = scan_back(stops_, wanted, count, here == 0 ? 0 : here - 1, stopped);
  if (stopped) {
    session_.seek(here);
    return {Kind::interrupted, {}};
  }
  session_.seek(found.has_value() ? found->position : 0);
  if (!found.has_value()) return {Kind::start, {}};
  if (!found->hit.has_value()) return {Kind::done, {}};
  focus = found->hit->who;
  return {Kind::hit, *found->hit};
}

Debugger::Wanted Debugger::any_step() const {
  return [] { return true; };
}

Debugger::Wanted Debugger::warp_step() {
  return [this] { return session_.last().kind == StepRecord::Kind::instruction && session_.last().who == focus; };
}

Debugger::Wanted Debugger::cta_step() {
  return [this] {
    const StepRecord& r = session_.last();
    return r.kind == StepRecord::Kind::instruction && r.who.cluster == focus.cluster && r.who.cta == focus.cta;
  };
}

Debugger::Wanted Debugger::async_step() {
  return [this] { return session_.last().kind == StepRecord::Kind::moment; };
}

Debugger::Wanted Debugger::from_cycle(uint64_t cycle) {
  return [this, cycle] { return session_.cycle(focus.cluster).value_or(~uint64_t{0}) >= cycle; };
}

Debugger::Wanted Debugger::up_to_cycle(uint64_t cycle) {
  return [this, cycle] { return session_.cycle(focus.cluster).value_or(~uint64_t{0}) <= cycle; };
}

const std::vector<Pipeline>& Debugger::pipelines() {
  constexpr uint64_t kMost = 2'000'000;  // steps: more than enough for every stage to be used
  if (pipelines_of_ != session_.generation()) pipelines_ = find_pipelines(session_, code_, kMost, interrupted);
  pipelines_of_ = session_.generation();
  return pipelines_;
}

std::string Debugger::line_of(uint32_t pc) const {
  const CodeLine& l = code_.at(pc);
  return l.file.empty() ? fmt::format("{}", l.ptx_line != 0 ? l.ptx_line : pc) : fmt::format("{}:{}", l.file, l.line);
}

Debugger::Wanted Debugger::line_step(bool over) {
  const Warp* w = focused();
  const std::string line = w == nullptr || w->finished() ? "" : line_of(w->pc);
  const uint32_t depth = w == nullptr ? 0 : w->frames[w->frame].depth;
  return [this, line, depth, over, own = warp_step()] {
    if (!own()) return false;
    const Warp* now = focused();
    return now->finished() || (line_of(now->pc) != line && (!over || now->frames[now->frame].depth <= depth));
  };
}

Debugger::Wanted Debugger::out_step() {
  const Warp* w = focused();
  const uint32_t depth = w == nullptr ? 0 : w->frames[w->frame].depth;
  return [this, depth, own = warp_step()] {
    if (!own()) return false;
    const Warp* now = focused();
    return now->finished() || now->frames[now->frame].depth < depth;
  };
}

Debugger::Wanted Debugger::arrives_at(std::vector<uint32_t> pcs) {
  return [this, pcs = std::move(pcs), own = warp_step()] {
    if (!own()) return false;
    const std::vector<Arrival> at = arrivals(session_);
    return std::any_of(at.begin(), at.end(), [&](const Arrival& a) { return std::find(pcs.begin(), pcs.end(), a.pc) != pcs.end(); });
  };
}

}  // namespace drywell::sim
