// The part that the command line and the editor protocol share: a session, the names of its program, its stops and a focus.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sim/debug/code_map.h"
#include "sim/debug/hazard_positions.h"
#include "sim/debug/pipelines.h"
#include "sim/debug/session.h"
#include "sim/debug/stops.h"

namespace drywell::sim {

/// The reason why a run ended.
struct StopReason {
  enum class Kind : uint8_t {
    done,
    hit,
    start,
    end,
    interrupted
  } kind = Kind::done;
  Hit hit;  // Kind::hit
};

class Debugger {
 public:
  Debugger(const Launch& launch, const RunOptions& options);

  Session& session() { return session_; }
  const CodeMap& code() const { return code_; }
  Stops& stops() { return stops_; }
  HazardMap& hazards() { return hazards_; }
  /// The kernel's stages as its mbarriers show them. Found once, by running the launch.
  const std::vector<Pipeline>& pipelines();

  /// Called after each step; returns true if the step is wanted. If empty, only stops end the run.
  using Wanted = std::function<bool()>;
  /// Runs until the `count`-th wanted step, a stop, or the end.
  StopReason forward(const Wanted& wanted, uint64_t count = 1);
  /// Goes back to the position after the `count`-th wanted step before this one, to a stop on the way, or to the start.
  StopReason back(const Wanted& wanted, uint64_t count = 1);
  /// Searches backwards from position `last` for the `count`-th wanted step, or for a stop of `stops` that comes first. The
  /// session's position afterwards is unspecified. `stopped`: `interrupted` ended the search.
  struct Found {
    uint64_t position = 0;
    std::optional<Hit> hit;
  };
  std::optional<Found> scan_back(Stops& stops, const Wanted& wanted, uint64_t count, uint64_t last, bool& stopped);

  /// Polled during a run; true ends the run.
  std::function<bool()> interrupted;

  /// The warp and lane that commands refer to.
  WarpRef focus;
  uint32_t lane = 0;
  Warp* focused() { return session_.find(focus); }

  // Wanted steps.
  Wanted any_step() const;
  Wanted warp_step();                            // an instruction of the focused warp
  Wanted cta_step();                             // of any warp of its CTA
  Wanted async_step();                           // a moment of an asynchronous operation
  Wanted from_cycle(uint64_t cycle);             // the clock of the focused CTA is at `cycle` or later (timing driver)
  Wanted up_to_cycle(uint64_t cycle);            // … or earlier
  Wanted line_step(bool over);                   // the focused warp comes to another line; `over`: not within a called function
  Wanted out_step();                             // the focused warp returns from its function
  Wanted arrives_at(std::vector<uint32_t> pcs);  // the focused warp comes to one of these instructions

 private:
  StopReason run_forward(const Wanted& wanted, uint64_t count);
  bool poll(uint64_t step) { return step % 4096 == 4095 && interrupted && interrupted(); }
  std::string line_of(uint32_t pc) const;

  Session session_;
  CodeMap code_;
  Stops stops_;
  HazardMap hazards_{session_};
  std::vector<Pipeline> pipelines_;
  uint64_t pipelines_of_ = ~uint64_t{0};  // Session::generation
};

}  // namespace drywell::sim
