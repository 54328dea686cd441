// The machine's state in words: operations, the warps' wait conditions, barriers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/debug/code_map.h"
#include "sim/debug/session.h"

namespace drywell::sim {

/// Name of a kind of operation: "TMA load", "UMMA", "tcgen05.ld", …
std::string_view kind_name(const AsyncOp::Payload& p);
/// One line: kind_name, then sizes, sources and destinations, such as "bulk copy 1024 bytes x+0x40 -> SMEM 0x1400, …".
std::string describe_op(const Session& s, const AsyncOp::Payload& p, const WarpRef& issuer);
/// "operands read", "ready", or "after #3, #5": the operations in flight that must complete first.
std::string describe_stage(const Cluster& c, const AsyncOp& op);

/// "tmem_ld wait", "ready", "finished": one or two words, then details.
struct WarpState {
  std::string state, detail;
};
/// `woken`: a blocked warp that will try its instruction again is "woken". Pass false under a driver with a clock: there the
/// warp waits until it has tried.
WarpState state_of(const Warp& w, bool woken = true);
/// The role the kernel's author gave the warp; may be empty.
std::string_view role_of(const Program& p, uint32_t warp);

/// "x+0x40", with the allocation's name, or the plain address.
std::string describe_gmem(const Gmem& g, uint64_t address);
/// "SMEM 0x1400", or "SMEM 0x1400 of CTA rank 1" if that is not rank `own`.
std::string describe_smem(uint32_t address, uint32_t own);
std::string describe_tmem(uint32_t address);

/// One line for the step, and one line for each phase that it completed.
std::string describe_step(const Session& s, const StepRecord& r, const CodeMap& code);
inline std::string describe_step(const Session& s, const CodeMap& code) { return describe_step(s, s.last(), code); }

/// Warps that wait for a phase of the barrier at rank << 24 | offset.
std::vector<const Warp*> waiters(const Cluster& c, uint32_t address);

}  // namespace drywell::sim
