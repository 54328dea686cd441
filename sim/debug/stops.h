// Where a session stops by itself: breakpoints, events and watched values. Whether a step is a stop depends on that step
// alone, so that running forward and running back find the same ones.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sim/debug/expression.h"
#include "sim/debug/session.h"

namespace drywell::sim {

class HazardMap;
class WriteProbe;

/// A warp came to one of these instructions and will execute it next.
struct CodeStop {
  std::vector<uint32_t> pcs;  // sorted
};
/// A phase of an mbarrier completed.
struct PhaseStop {
  std::optional<uint32_t> offset;  // in its CTA; nothing: any
};
/// An asynchronous operation reached a moment.
struct AsyncStop {
  std::optional<size_t> kind;  // index in AsyncOp::Payload; nothing: any
  AsyncMoment moment = AsyncMoment::signal;
};
/// The hazard checker found something.
struct HazardStop {
  HazardMap* map = nullptr;
};
/// Bytes whose value changed.
struct WatchSmem {
  WarpRef cta;
  uint32_t offset = 0, bytes = 4;
};
struct WatchGmem {
  uint64_t address = 0, bytes = 4;
};
struct WatchTmem {
  WarpRef cta;
  uint32_t lane = 0, lanes = 1, column = 0, columns = 1;
};
struct WatchRegister {
  WarpRef warp;
  std::string name;
  uint32_t frame = 0;  // index in Warp::frames: the function's call path it belongs to
};

using StopWhat = std::variant<CodeStop, PhaseStop, AsyncStop, HazardStop, WatchSmem, WatchGmem, WatchTmem, WatchRegister>;

struct Stop {
  uint32_t id = 0;
  StopWhat what;
  std::string text;                     // as the user wrote it
  std::optional<Expression> condition;  // of the lanes that came there, or of the warp that did the step or issued its operation
  std::optional<WarpRef> warp;          // only this warp (CodeStop)
  bool on_write = false;                // watches: at every write, equal values included
  bool once = false;                    // gone after its first hit
  bool enabled = true;
  uint64_t hits = 0;
};

/// A stop that a step hit.
struct Hit {
  uint32_t id = 0;
  WarpRef who;
  std::string text;  // "breakpoint 1: …", and what changed
};

class Stops {
 public:
  Stops();
  ~Stops();
  Stops(const Stops&) = delete;
  Stops& operator=(const Stops&) = delete;
  Stop& add(StopWhat what, std::string text);
  Stop& add(Stop stop, std::string text);
  /// False if there is none of that number.
  bool remove(uint32_t id);
  void clear() { all_.clear(); }
  std::vector<Stop>& all() { return all_; }
  const std::vector<Stop>& all() const { return all_; }
  Stop* find(uint32_t id);

  /// Takes the values watched as they are now: before the first step of a run, and after every jump.
  void prime(Session& s);
  /// Stops looking: after the last step of a run.
  void release(Session& s);
  /// Some stop is a HazardStop.
  bool needs_hazards() const;
  /// Looks at the step just done. A condition that cannot be evaluated hits, saying so.
  std::optional<Hit> check(Session& s);

 private:
  std::vector<Stop> all_;
  std::vector<std::vector<uint8_t>> values_;  // per stop: what is watched, as it was before the step
  std::vector<std::unique_ptr<WriteProbe>> probes_;  // per stop; nullptr: it needs none
  uint32_t next_ = 1;
};

/// The bytes a watch looks at; empty if they are not there now.
std::vector<uint8_t> watched_bytes(Session& s, const StopWhat& what);
bool is_watch(const StopWhat& what);

/// Instructions `w` came to with the step just done; the lanes that came.
struct Arrival {
  uint32_t pc;
  LaneMask lanes;
};
std::vector<Arrival> arrivals(Session& s);

}  // namespace drywell::sim
