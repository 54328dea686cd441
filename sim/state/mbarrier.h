// The mbarrier object: phase, expected and pending arrivals, transaction count (PTX ISA 9.7.13.15; the completion rule
// and limits are those measured on an H200, docs/facts/tma-mbarrier.md §1.1).
#pragma once

#include <cstdint>
#include <vector>

#include "drywell/core/types.h"

namespace drywell::sim {

/// Status of an operation on an mbarrier; any status except ok ends the launch (error 719 on an H200).
enum class MbarrierStatus : uint8_t {
  ok,
  not_initialised,
  tx_overflow,
  arrive_overflow,
  bad_expect
};

/// Operations on an mbarrier. hold_tx and release_tx: cp.async.mbarrier.arrive (docs/facts/tma-mbarrier.md §1.5).
enum class MbarrierOp : uint8_t {
  arrive,
  arrive_expect_tx,
  arrive_drop,
  arrive_drop_expect_tx,
  expect_tx,
  complete_tx,
  hold_tx,
  release_tx
};

struct Mbarrier {
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;

  bool live = false;
  uint64_t phase = 0;     // number of the incomplete phase; only its parity is visible to the guest
  uint32_t expected = 0;  // arrivals per phase
  uint32_t pending = 0;   // arrivals still missing in this phase
  int32_t tx = 0;         // bytes expected minus bytes completed
  // Counts of the current phase, for deadlock reports.
  uint32_t arrivals = 0;
  int64_t tx_expected = 0, tx_completed = 0;

  void init(uint32_t count) {
    *this = {};
    live = true;
    expected = pending = count;
  }

  /// Each returns a status. If it is ok, `completed` says whether the operation completed the phase.
  MbarrierStatus expect_tx(uint32_t bytes, bool& completed) {
    if (!live) return MbarrierStatus::not_initialised;
    if (bytes > kMaxCount) return MbarrierStatus::bad_expect;
    return add_tx(bytes, completed);
  }
  MbarrierStatus complete_tx(uint32_t bytes, bool& completed) {
    if (!live) return MbarrierStatus::not_initialised;
    tx_completed += bytes;
    return add_tx(-static_cast<int64_t>(bytes), completed);
  }
  MbarrierStatus arrive(uint32_t count, bool& completed) {
    if (!live) return MbarrierStatus::not_initialised;
    if (count > pending) return MbarrierStatus::arrive_overflow;
    pending -= count;
    arrivals += count;
    completed = try_complete();
    return MbarrierStatus::ok;
  }
  MbarrierStatus arrive_expect_tx(uint32_t bytes, bool& completed) {
    if (!live) return MbarrierStatus::not_initialised;
    if (bytes > kMaxCount) return MbarrierStatus::bad_expect;
    if (pending == 0) return MbarrierStatus::arrive_overflow;
    const int64_t t = int64_t{tx} + bytes;
    if (t > kMaxCount) return MbarrierStatus::tx_overflow;
    tx = static_cast<int32_t>(t);
    tx_expected += bytes;
    return arrive(1, completed);
  }
  MbarrierStatus arrive_drop(uint32_t count, bool& completed) {
    if (!live) return MbarrierStatus::not_initialised;
    if (count > pending || count > expected) return MbarrierStatus::arrive_overflow;
    expected -= count;
    return arrive(count, completed);
  }
  /// Keeps the phase incomplete (cp.async.mbarrier.arrive): the chip counts this in T (docs/facts/tma-mbarrier.md §1.5).
  MbarrierStatus hold_tx(bool& completed) { return live ? add_tx(1, completed) : MbarrierStatus::not_initialised; }

  /// The test of the hardware: true unless `parity` is the parity of the incomplete phase.
  bool parity_done(uint32_t parity) const { return (phase & 1) != (parity & 1); }

  /// The 64-bit word as the chip stores it (docs/facts/tma-mbarrier.md §1.6).
  uint64_t word() const {
    const uint64_t p = ((uint64_t{1} << 20) - pending) & 0xFFFFF;
    const uint64_t t = static_cast<uint64_t>(-int64_t{tx}) & 0x1FFFFF;
    const uint64_t e = ((uint64_t{1} << 20) - expected) & 0xFFFFF;
    return ((phase & 1) << 63) | (p << 43) | (t << 21) | (e << 1);
  }

 private:
  MbarrierStatus add_tx(int64_t bytes, bool& completed) {
    const int64_t t = int64_t{tx} + bytes;
    if (t > kMaxCount || t < -int64_t{kMaxCount}) return MbarrierStatus::tx_overflow;
    tx = static_cast<int32_t>(t);
    if (bytes > 0) tx_expected += bytes;
    completed = try_complete();
    return MbarrierStatus::ok;
  }
  bool try_complete() {
    if (pending != 0 || tx != 0) return false;
    ++phase;
    pending = expected;
    arrivals = 0;
    tx_expected = tx_completed = 0;
    return true;
  }
};

}  // namespace drywell::sim
