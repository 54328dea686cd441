// Who does what next in a launch that is stepped: the order of a functional driver, or of the timing driver.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drywell/sim/device.h"
#include "sim/debug/warp_ref.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// What one piece of a schedule was. `nothing`: only who is next was decided.
enum class Piece : uint8_t { nothing, instruction, moment, done, fault };

/// A schedule's state, kept.
struct ScheduleImage {
  virtual ~ScheduleImage() = default;
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  /// One piece: at most one instruction of a warp (the timing driver: with those it folds into it) or one moment of an operation.
  virtual Piece advance() = 0;
  virtual const std::optional<Fault>& fault() const = 0;
  /// What the run came to, but for the fault.
  virtual RunResult result() = 0;
  /// Clusters that started and have not ended, in launch order.
  virtual std::vector<Cluster*> clusters() = 0;
  /// The warp whose turn it is, or that will do the next instruction as far as is known.
  virtual std::optional<WarpRef> next_warp() const = 0;
  /// Clock of the SMs a resident cluster is on; nothing where there is no clock.
  virtual std::optional<uint64_t> cycle(uint64_t /*cluster*/) const { return std::nullopt; }
  /// What a warp waits for in time; "" where there is no clock.
  virtual std::string waiting(const Warp&) const { return {}; }

  /// nullptr: only the beginning can be gone back to.
  virtual std::unique_ptr<ScheduleImage> image() { return nullptr; }
  virtual void restore(const ScheduleImage&) {}
  /// Numbers that say where the schedule is, for digests.
  virtual std::vector<uint64_t> fingerprint() const = 0;
};

/// `launch` must outlive the schedule; its queue is set.
std::unique_ptr<Schedule> make_functional_schedule(Launch& launch, const RunOptions& options);
std::unique_ptr<Schedule> make_timed_schedule(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
