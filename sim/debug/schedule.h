// Order of the steps in a stepped launch: that of a functional driver or of the timing driver.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drywell/sim/device.h"
#include "sim/debug/warp_ref.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// Kind of one piece of a schedule. `nothing`: only the next warp or operation was chosen.
enum class Piece : uint8_t {
  nothing,
  instruction,
  moment,
  done,
  fault
};

/// A saved state of a schedule.
struct ScheduleImage {
  virtual ~ScheduleImage() = default;
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  /// Runs one piece: at most one instruction of a warp (under the timing driver with the instructions folded into it) or one
  /// moment of an operation.
  virtual Piece advance() = 0;
  virtual const std::optional<Fault>& fault() const = 0;
  /// The result of the run, without the fault.
  virtual RunResult result() = 0;
  /// Clusters that have started and not finished, in launch order.
  virtual std::vector<Cluster*> clusters() = 0;
  /// The warp that has the turn, or the warp that is expected to execute the next instruction.
  virtual std::optional<WarpRef> next_warp() const = 0;
  /// Clock of the SMs of a resident cluster; nullopt under a driver without a clock.
  virtual std::optional<uint64_t> cycle(uint64_t /*cluster*/) const { return std::nullopt; }
  /// The cycle and stall reason of a waiting warp; "" under a driver without a clock.
  virtual std::string waiting(const Warp&) const { return {}; }

  /// Saves the state; nullptr if the schedule can only return to its beginning.
  virtual std::unique_ptr<ScheduleImage> image() { return nullptr; }
  virtual void restore(const ScheduleImage&) {}
  /// The schedule's position as numbers, for digests.
  virtual std::vector<uint64_t> fingerprint() const = 0;
};

/// `launch` must outlive the schedule. make_functional_schedule sets launch.queue.
std::unique_ptr<Schedule> make_functional_schedule(Launch& launch, const RunOptions& options);
std::unique_ptr<Schedule> make_timed_schedule(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
