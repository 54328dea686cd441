// Functional driver: no clock. Runs clusters one after the other (or one per host thread) to their end, and decides by
// policy when asynchronous operations happen.
#pragma once

#include <memory>
#include <optional>

#include "drywell/sim/run.h"
#include "sim/state/cta.h"
#include "sim/events/mbarrier_ops.h"

namespace drywell::sim {

/// Makes cluster `index` of a launch with all its CTAs ready to run, at clock `now`.
std::unique_ptr<Cluster> make_cluster(const Launch& launch, uint64_t index, uint64_t now = 0);

/// Place of a warp for messages.
GuestPlace place_of(const Warp& w, uint32_t pc, LaneMask lanes);
/// What is at `pc`, in `g`: the instruction's text, the function, the author's lines.
void locate(GuestPlace& g, const Program& p, uint32_t pc);
/// Where the first warp that has not ended stands.
GuestPlace place_of_first(const Cluster& c);
/// What a barrier's phase still lacks, or has too much: "512 bytes expected and not delivered".
std::string bytes_owed(int64_t tx);
Fault fault_of(const Warp& w);
/// Place of the instruction that issued an operation.
Fault fault_of(const Cluster& c, const Issuer& issuer, const GuestError& e);
inline Fault fault_of(const Cluster& c, const AsyncOp& op, const GuestError& e) { return fault_of(c, op.issuer, e); }

/// Who waits for what in a cluster that cannot go on.
std::string describe_deadlock(const Cluster& c);
Fault deadlock_of(const Cluster& c);
/// What a warp that is blocked waits for, in words.
std::string describe_wait(const Cluster& c, const Warp& w);
/// Checks at the end of a CTA: leaked TMEM, operations in flight.
std::optional<Fault> check_finished(Cluster& c);

/// A cluster runs alone for so many instructions; then, and when it can't go on alone, clusters take turns. Nobody made
/// progress in more than kQuietRounds rounds of turns: deadlock.
struct Slices {
  uint64_t alone = 64'000'000, together = 1'000'000;
};
/// The CTAs of a cooperative launch meet at barriers over the grid, and who waits there spins.
Slices slices_of(const Launch& l);
inline constexpr uint64_t kQuietRounds = 4;
/// Which cluster try_cancel gets: shuffled drivers with odd seeds choose the last.
inline LaunchQueue::Cancels cancels_of(const RunOptions& o) {
  return o.driver == DriverKind::shuffled && o.seed % 2 != 0 ? LaunchQueue::Cancels::last : LaunchQueue::Cancels::first;
}

RunResult run_functional(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
