// The cycles at which a warp's registers are ready, and the kinds of instruction that produce them.
#pragma once

#include <array>
#include <span>

#include "drywell/sim/stall.h"
#include "sim/state/state_vector.h"
#include "sim/timing/server.h"

namespace drywell::sim {

/// Where the values of arithmetic come from: a result that goes to another unit takes a cycle more (cross.toml of tests/corpus/timing/mechanisms).
enum class Producer : uint8_t {
  other,
  alu,
  fma,
  xu
};

/// The registers of one instruction.
struct Operands {
  static constexpr uint32_t kNoGuard = ~0u;
  std::span<const uint32_t> reads, writes;
  uint32_t guard = kNoGuard;
  Time guard_extra = 0;             // cycles that a guard needs beyond its value's latency
  Producer unit = Producer::other;  // of the instruction
};

/// The issue conditions that an instruction's operands set.
struct Readiness {
  static constexpr uint64_t kNoLoad = ~uint64_t{0};
  Time ready = 0;                          // its operands are ready and the warp may issue
  Time inputs = 0;                         // its operands alone are ready
  Stall why = Stall::register_dependency;  // the reason of the operand that is ready last
  uint64_t load = kNoLoad;                 // this load has to be answered first; the cycles above are those of the other operands
};

/// The registers of one warp. Most results have a known cycle when their instruction issues; a load's result has none before memory
/// answers.
class Scoreboard {
 public:
  explicit Scoreboard(StateMemory* memory = nullptr) : slots_(memory) {}

  /// A new warp: every register is ready.
  void reset(uint32_t registers);

  void set(uint32_t slot, Time ready, Stall why, Producer from = Producer::other) {
    slots_[slot] = ready << kLowBits | static_cast<uint64_t>(from) << kWhyBits | static_cast<uint8_t>(why);
  }
  void set(std::span<const uint32_t> slots, Time ready, Stall why, Producer from = Producer::other) {
    for (const uint32_t s : slots) set(s, ready, why, from);
  }
  /// A folded instruction: its results are ready with the last of its operands.
  void fold(const Operands& o);

  /// Returns the number of a load that issues now.
  uint64_t begin_load();
  /// The register is ready when memory answers that load.
  void set_load(uint32_t slot, uint64_t load) { slots_[slot] = kLoad | load << kLowBits | static_cast<uint8_t>(Stall::memory); }
  void answer(uint64_t load, Time t);
  /// The load that must be answered before the warp may issue another one; kNoLoad: there is room.
  uint64_t blocking_load() const;

  /// Returns when an instruction with these operands may issue, if the warp itself may issue from `from` on.
  Readiness find(const Operands& o, Time from);

 private:
  static constexpr size_t kLoads = 128;  // in flight at most
  // A slot: the cycle or the load's number, the unit that the value comes from, the stall reason.
  static constexpr uint64_t kLoad = uint64_t{1} << 63;
  static constexpr unsigned kWhyBits = 6, kLowBits = 8;
  static_assert(kStallCount <= 1u << kWhyBits);

  void need(uint32_t slot, Time extra, Readiness& r, Producer unit = Producer::other);
  uint64_t resolve(uint64_t slot) const;
  static Time crossing(uint64_t value, Producer unit);

  StateVector<uint64_t> slots_;
  uint64_t next_load_ = 0;
  std::array<Time, kLoads> answered_{};  // answer cycles of the latest loads
};

}  // namespace drywell::sim
