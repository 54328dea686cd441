// Functional driver, without a clock: runs clusters one after the other (or one per host thread) to their end. The policy
// decides when asynchronous operations complete.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "drywell/sim/run.h"
#include "sim/events/mbarrier_ops.h"
#include "sim/state/cta.h"

namespace drywell::sim {

/// Makes cluster `index` of a launch with all its CTAs ready to run, at clock `now`.
std::unique_ptr<Cluster> make_cluster(const Launch& launch, uint64_t index, uint64_t now = 0);

/// Place of a warp for messages.
GuestPlace place_of(const Warp& w, uint32_t pc, LaneMask lanes);
/// Writes into `g` the text of the instruction at `pc`, its function if it is not the kernel, and the author's lines.
void locate(GuestPlace& g, const Program& p, uint32_t pc);
/// Place of the first warp that has not finished.
GuestPlace place_of_first(const Cluster& c);
/// Text of an mbarrier's tx-count: "512 bytes expected and not delivered", or "… delivered and not expected" if negative.
std::string bytes_owed(int64_t tx);
Fault fault_of(const Warp& w);
/// Place of the instruction that issued an operation.
Fault fault_of(const Cluster& c, const Issuer& issuer, const GuestError& e);
inline Fault fault_of(const Cluster& c, const AsyncOp& op, const GuestError& e) { return fault_of(c, op.issuer, e); }

/// One line per waiting warp of a deadlocked cluster (or the explanation of an observer that has one).
std::string describe_deadlock(const Cluster& c);
Fault deadlock_of(const Cluster& c);
/// F3602, F3604: RunOptions::max_instructions, max_cycles.
inline Fault over_instructions(const RunOptions& o, GuestPlace place) { return {Code::F3602, fmt::format("more than {} warp instructions", o.max_instructions), std::move(place)}; }
inline Fault over_cycles(const RunOptions& o, GuestPlace place) { return {Code::F3604, fmt::format("more than {} cycles", o.max_cycles), std::move(place)}; }
/// Text of the condition that a blocked warp waits for.
std::string describe_wait(const Cluster& c, const Warp& w);
/// The state of the mbarrier at a shared address (shared_rank, shared_offset), whose phase of this parity is waited for.
std::string describe_mbarrier(const Cluster& c, uint32_t address, uint32_t parity);
/// Notifies the observers that the cluster's CTAs have finished; F3214 for a CTA with tensor memory still allocated.
std::optional<Fault> check_finished(Cluster& c);

/// Instructions of a slice. A cluster first runs alone for `alone` instructions; if it is then unfinished or stuck, or spins before, it takes
/// turns of `together` instructions with the other such clusters. More than kQuietRounds rounds of turns without progress are
/// a deadlock.
struct Slices {
  uint64_t alone = 64'000'000, together = 1'000'000;
};
/// Short slices for a cooperative launch: its CTAs spin while they wait at a grid barrier, and one that leaves it must not be at the next one before the
/// others have seen that they may go on. The order that this would give them hid races from the checker.
Slices slices_of(const Launch& l);
inline constexpr uint64_t kQuietRounds = 4;
/// The cluster that try_cancel returns: the last one under shuffled drivers with odd seeds, otherwise the first.
inline LaunchQueue::Cancels cancels_of(const RunOptions& o) {
  return o.driver == DriverKind::shuffled && o.seed % 2 != 0 ? LaunchQueue::Cancels::last : LaunchQueue::Cancels::first;
}

RunResult run_functional(const Launch& launch, const RunOptions& options);

}  // namespace drywell::sim
