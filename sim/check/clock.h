// Vector clocks. A component counts events that happen in order: the steps of a warp, the operations of a unit that
// complete together, the phases of an mbarrier. An event with (component, value) happens before the present of every clock that
// has reached the value.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "drywell/core/types.h"
#include "sim/check/cross_cluster_clock.h"
#include "sim/check/lane_places.h"
#include "sim/exec/exec.h"

namespace drywell::sim::check {

using Component = uint32_t;
/// A value that no clock reaches: the operation is complete for no thread.
inline constexpr uint32_t kInFlight = ~uint32_t{0};

class Clock {
 public:
  uint32_t operator[](Component c) const { return c < v_.size() ? v_[c] : 0; }
  void raise(Component c, uint32_t value) {
    if (c >= v_.size()) v_.resize(c + 1);
    v_[c] = std::max(v_[c], value);
  }
  void join(const Clock& o) {
    if (v_.size() < o.v_.size()) v_.resize(o.v_.size());
    for (size_t i = 0; i < o.v_.size(); ++i) v_[i] = std::max(v_[i], o.v_[i]);
  }
  void clear() { v_.clear(); }
  Component size() const { return static_cast<Component>(v_.size()); }
  const std::vector<uint32_t>& values() const { return v_; }  // by component

 private:
  std::vector<uint32_t> v_;
};

/// The state that a release passes to the thread that acquires it.
struct Message {
  Clock seen;                           // happened before
  Clock proxy_shared, proxy_global;     // ordinary accesses in `seen` that a fence.proxy.async covers
  Clock tensor;                         // tcgen05 work in `seen` that a tcgen05.fence::before_thread_sync covers
  Clock wide;                           // the part of `seen` that came by scopes wide enough for the holder
  Clock map_released, map_acquired;     // edits of tensor maps in `seen` that a fence.proxy.tensormap covers
  Clock executed;                       // of cluster barriers only: steps that ran before it, also if nothing orders their memory
  Clock fenced_gpu;                     // steps in `seen` that a fence covers, of any thread, that reaches other clusters; if clusters order each other
  CrossClusterKnowledge cross_cluster;  // the clock of other clusters
  void join(const Message& m) {
    seen.join(m.seen);
    proxy_shared.join(m.proxy_shared);
    proxy_global.join(m.proxy_global);
    tensor.join(m.tensor);
    wide.join(m.wide);
    executed.join(m.executed);
    join_rest(m);
  }
  struct Part;
  void join(const Part& p);
  void clear() {
    for (Clock* c : {&seen, &proxy_shared, &proxy_global, &tensor, &wide, &map_released, &map_acquired, &executed, &fenced_gpu}) c->clear();
    cross_cluster.clear();
  }
  void join_rest(const Message& m) {
    map_released.join(m.map_released);
    map_acquired.join(m.map_acquired);
    fenced_gpu.join(m.fenced_gpu);
    cross_cluster.join(m.cross_cluster);
  }
};

/// A message as its sender holds it: the arrival makes the copy.
struct Message::Part {
  const Message& from;
  const Clock& tensor;  // takes the place of from.tensor
  bool reaches;         // the scope is wider than the CTA: from.wide is included
};

inline void Message::join(const Part& p) {
  seen.join(p.from.seen);
  proxy_shared.join(p.from.proxy_shared);
  proxy_global.join(p.from.proxy_global);
  tensor.join(p.tensor);
  if (p.reaches) wide.join(p.from.wide);
  join_rest(p.from);
}

/// The clocks of one warp.
struct WarpClock {
  Component self = 0;                 // the next component, self + 1, counts the same time for what several lanes did together
  Component inits = 0;                // its mbarrier.init instructions, which fence.mbarrier_init releases; 0: none
  Message now;                        // `tensor`: ordered by tcgen05.fence::after_thread_sync, or issued by the warp itself
  Clock tensor_observed;              // covered by other threads' before-fences; an after-fence moves it to now.tensor
  Clock tensor_released;              // the tcgen05 work that a before-fence covered
  Message fenced;                     // state at the last releasing fence: a relaxed arrival releases it
  bool fenced_cross_cluster = false;  // that fence reached other clusters
  Message observed;                   // acquired by relaxed waits; the next acquiring fence makes it take effect

  // Parts of `now` that only some lanes acquired, until the warp synchronises; `behind` is what every lane has.
  struct Gain {
    Component event;  // what the lanes waited for: a component and its value
    uint32_t value;
    LaneMask lanes;
    Clock seen;
  };
  std::vector<Gain> gains;
  LaneMask ahead = kFullMask;  // lanes that have all of `now`
  Clock behind;
  uint32_t met = 0;         // time of the warp's last synchronisation
  RecentPlaces places;      // of its ordinary accesses since then
  RecentPlaces copied;      // of its cp.async
  Component copies = 0;     // counts them; 0: there are none
  uint32_t copies_met = 0;  // those that were complete when the lanes last met: each lane waits for its own

  // What a lane has of its own warp by an acquire, of an mbarrier or a flag: a lock that lanes take in turns orders them, too.
  struct Learnt {
    std::array<uint32_t, kWarpSize> steps{};  // by lane: what that lane had done by then
    uint32_t copies = 0;
  };
  std::vector<Learnt> learnt;                     // by lane, since the lanes last met; empty: nothing
  std::array<uint32_t, kWarpSize> released_at{};  // by lane: what its latest release covers

  uint32_t time() const { return now.seen[self]; }
  void tick() {
    now.seen.raise(self, time() + 1);
    now.wide.raise(self, time());
    if (ahead != kFullMask) behind.raise(self, time());
  }
  /// The clock that each of the lanes has.
  Clock common(LaneMask lanes) const {
    Clock c = behind;
    for (const Gain& g : gains)
      if ((lanes & ~g.lanes) == 0) c.join(g.seen);
    return c;
  }
  /// Some lanes, of those alive, have waited for an event, which brings `seen`. Call before `now` has it.
  void part(LaneMask lanes, LaneMask alive, Component event, uint32_t value, const Clock& seen) {
    if ((alive & ~lanes) == 0) return gains.empty() ? void() : behind.join(seen);
    if (gains.empty()) behind = now.seen;
    auto at = std::find_if(gains.begin(), gains.end(), [&](const Gain& g) { return g.event == event && g.value == value; });
    if (at == gains.end()) at = gains.insert(at, {event, value, 0, seen});
    at->lanes |= lanes;
    if ((alive & ~at->lanes) == 0) {
      behind.join(at->seen);
      gains.erase(at);
    }
    ahead = kFullMask;
    for (const Gain& g : gains) ahead &= g.lanes;
  }
  /// Some lanes release, all that they did or (relaxed) what the last fence covers.
  void note_release(LaneMask lanes, bool ordered) {
    const uint32_t until = ordered ? time() : fenced.seen[self];
    for_lanes(lanes, [&](uint32_t l) { released_at[l] = std::max(released_at[l], until); });
  }
  /// Some lanes have acquired `message`, which may have what other lanes of the warp released.
  void learn(LaneMask lanes, const Clock& message) {
    const uint32_t until = message[self];
    if (until < met) return;
    learnt.resize(kWarpSize);
    for_lanes(lanes, [&](uint32_t l) {
      for (uint32_t of = 0; of < kWarpSize; ++of) learnt[l].steps[of] = std::max(learnt[l].steps[of], std::min(until, released_at[of]));
      if (copies != 0) learnt[l].copies = std::max(learnt[l].copies, message[copies]);
    });
  }
  /// Whether each of `lanes` has learnt of what the others of `of` did at that time.
  bool knows_step(LaneMask lanes, LaneMask of, uint32_t time) const {
    bool all = !learnt.empty();
    for_lanes(all ? lanes : 0, [&](uint32_t l) {
      for_lanes(of & ~(LaneMask{1} << l), [&](uint32_t other) { all = all && learnt[l].steps[other] >= time; });
    });
    return all;
  }
  bool knows_copy(LaneMask lanes, uint32_t number) const {
    bool all = !learnt.empty();
    for_lanes(all ? lanes : 0, [&](uint32_t l) { all = all && learnt[l].copies >= number; });
    return all;
  }
  /// Calls f(lanes) for the lanes of `mask`, together those that have waited for the same events.
  template <class F>
  void each_class(LaneMask mask, F f) const {
    while (mask != 0) {
      LaneMask lanes = mask;
      const LaneMask first = mask & (~mask + 1);
      for (const Gain& g : gains) lanes &= (g.lanes & first) != 0 ? g.lanes : ~g.lanes;
      f(lanes);
      mask &= ~lanes;
    }
  }
  /// fence.mbarrier_init: relaxed arrivals release the warp's initialisations, and nothing else that it did (PTX ISA 9.7.13.4).
  void fence_inits() {
    if (inits == 0) return;
    now.seen.raise(inits, time());
    fenced.seen.raise(inits, time());
    tick();
  }
  /// What all lanes did until now is released with whatever one of them releases from now on.
  void join_lanes() {
    now.seen.raise(self + 1, time());
    fenced.seen.raise(self + 1, fenced.seen[self]);
  }
  /// The same if more than one lane releases now, or the only one there is.
  void join_lanes(LaneMask releasing, LaneMask alive) {
    if ((releasing & (releasing - 1)) != 0 || (alive & ~releasing) == 0) join_lanes();
  }
  /// All lanes synchronise.
  void meet() {
    join_lanes();
    gains.clear();
    ahead = kFullMask;
    tick();
    met = time();
    learnt.clear();
    places.meet();
    copies_met = now.seen[copies];
  }
  /// Some lanes synchronise.
  void meet(LaneMask lanes) {
    join_lanes();
    places.meet(lanes);
    copies_met = now.seen[copies];
  }
  Message release() const {
    Message m = now;
    m.tensor = tensor_released;
    return m;
  }
  /// The state that an arrival releases: the present one if `ordered`, else that of the last releasing fence.
  Message::Part arrival(bool ordered, bool reaches) const { return {ordered ? now : fenced, tensor_released, reaches}; }
  /// `reaches`: the scope includes the thread that released.
  void acquire(const Message& m, bool reaches = true) {
    now.seen.join(m.seen);
    now.proxy_shared.join(m.proxy_shared);
    now.proxy_global.join(m.proxy_global);
    tensor_observed.join(m.tensor);
    if (reaches) now.wide.join(m.wide);
    now.join_rest(m);
  }
};

}  // namespace drywell::sim::check
