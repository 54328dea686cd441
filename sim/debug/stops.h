// Stops of a session: breakpoints, events and watched values. Whether a step is a stop depends only on that step, so that
// runs forward and back find the same stops.
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

/// A warp arrived at one of these instructions and will execute it next.
struct CodeStop {
  std::vector<uint32_t> pcs;  // sorted
};
/// A phase of an mbarrier completed.
struct PhaseStop {
  std::optional<uint32_t> offset;  // in its CTA; nullopt: any
};
/// An asynchronous operation reached a moment.
struct AsyncStop {
  std::optional<size_t> kind;  // index in AsyncOp::Payload; nullopt: any
  AsyncMoment moment = AsyncMoment::signal;
};
/// The hazard checker reported a hazard.
struct HazardStop {
  HazardMap* map = nullptr;
};
// The value of a place changed.
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
  std::optional<Expression> condition;  // for the lanes that arrived, or for the warp of the step or of its operation's issue
  std::optional<WarpRef> warp;          // only this warp (CodeStop)
  bool on_write = false;                // watches: stop at every write, also of an equal value
  bool once = false;                    // deleted after its first hit
  bool enabled = true;
  uint64_t hits = 0;
};

/// A stop that a step hit.
struct Hit {
  uint32_t id = 0;
  WarpRef who;
  std::string text;  // "breakpoint 1: …", and the change
};

class Stops {
 public:
  Stops();
  ~Stops();
  Stops(const Stops&) = delete;
  Stops& operator=(const Stops&) = delete;
  Stop& add(StopWhat what, std::string text);
  Stop& add(Stop stop, std::string text);
  /// Returns false if no stop has that number.
  bool remove(uint32_t id);
  void clear() { all_.clear(); }
  std::vector<Stop>& all() { return all_; }
  const std::vector<Stop>& all() const { return all_; }
  Stop* find(uint32_t id);

  /// Saves the current watched values. Call it before the first step of a run and after every seek.
  void prime(Session& s);
  /// Detaches the probes. Call it after the last step of a run.
  void release(Session& s);
  /// True if a stop is a HazardStop.
  bool needs_hazards() const;
  /// Checks the last step. A condition that cannot be evaluated is a hit, with the error in its text.
  std::optional<Hit> check(Session& s);

 private:
  std::vector<Stop> all_;
  std::vector<std::vector<uint8_t>> values_;         // per stop: watched bytes before the step
  std::vector<std::unique_ptr<WriteProbe>> probes_;  // per stop; nullptr: it needs none
  uint32_t next_ = 1;
};

/// The bytes of a watch; empty if the place does not exist now.
std::vector<uint8_t> watched_bytes(Session& s, const StopWhat& what);
bool is_watch(const StopWhat& what);

/// Instructions at which the last step's warp arrived, and the lanes that arrived.
struct Arrival {
  uint32_t pc;
  LaneMask lanes;
};
std::vector<Arrival> arrivals(Session& s);

}  // namespace drywell::sim
