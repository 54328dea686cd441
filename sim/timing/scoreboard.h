// When the registers of a warp are there, and what makes them.
#pragma once

#include <array>
#include <span>

#include "drywell/sim/stall.h"
#include "sim/state/state_vector.h"
#include "sim/timing/server.h"

namespace drywell::sim {

/// The registers of one instruction.
struct Operands {
  static constexpr uint32_t kNoGuard = ~0u;
  std::span<const uint32_t> reads, writes;
  uint32_t guard = kNoGuard;
  Time guard_extra = 0;  // cycles a guard needs beyond its value's latency
};

/// What an instruction's operands let it do.
struct Readiness {
  static constexpr uint64_t kNoLoad = ~uint64_t{0};
  Time ready = 0;   // its operands are there and the warp may go on
  Time inputs = 0;  // its operands alone
  Stall why = Stall::register_dependency;  // what makes the last of them
  uint64_t load = kNoLoad;                 // memory has to answer it first; the cycles above are then those of the others
};

/// The registers of one warp. Of most results the cycle is known when the instruction that makes them issues; a load's is not before memory
/// answers.
class Scoreboard {
 public:
  explicit Scoreboard(StateMemory* memory = nullptr) : slots_(memory) {}

  /// A new warp: every register is there.
  void reset(uint32_t registers);

  void set(uint32_t slot, Time ready, Stall why) { slots_[slot] = ready << kWhyBits | static_cast<uint8_t>(why); }
  void set(std::span<const uint32_t> slots, Time ready, Stall why) {
    for (const uint32_t s : slots) set(s, ready, why);
  }
  /// A folded instruction: its results are there with the last of its operands.
  void fold(const Operands& o);

  /// The number of a load that issues now.
  uint64_t begin_load();
  /// The register is there when memory answers that load.
  void set_load(uint32_t slot, uint64_t load) { slots_[slot] = kLoad | load << kWhyBits | static_cast<uint8_t>(Stall::memory); }
  void answer(uint64_t load, Time t);
  /// The load that has to be answered before the warp may issue one more; kNoLoad: there is room.
  uint64_t blocking_load() const;

  /// When an instruction with these operands may issue, if the warp itself may go on at `from`.
  Readiness find(const Operands& o, Time from);

 private:
  static constexpr size_t kLoads = 128;  // in flight at most
  // A slot: the cycle or the load's number, then a byte for what makes the register.
  static constexpr uint64_t kLoad = uint64_t{1} << 63;
  static constexpr unsigned kWhyBits = 8;

  void need(uint32_t slot, Time extra, Readiness& r);
  uint64_t resolve(uint64_t slot) const;

  StateVector<uint64_t> slots_;
  uint64_t next_load_ = 0;
  std::array<Time, kLoads> answered_{};  // of the last loads
};

}  // namespace drywell::sim
