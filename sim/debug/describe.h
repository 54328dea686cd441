// The machine's state in words: what operations do, what warps wait for, how barriers stand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/debug/code_map.h"
#include "sim/debug/session.h"

namespace drywell::sim {

/// The unit at work: "TMA load", "UMMA", "tcgen05.ld", …
std::string_view kind_name(const AsyncOp::Payload& p);
/// "UMMA f16 D=TMEM 0x0 A=SMEM desc 0x… B=…", one line.
std::string describe_op(const Session& s, const AsyncOp::Payload& p, const WarpRef& issuer);
/// "issued", "operands read", and what it must wait for.
std::string describe_stage(const Cluster& c, const AsyncOp& op);

/// "tmem_ld wait", "ready", "finished": one or two words, then details.
struct WarpState {
  std::string state, detail;
};
/// `woken`: a warp that will try again counts as such; where there is a clock, it waits until it has tried.
WarpState state_of(const Warp& w, bool woken = true);
/// The role the kernel's author gave the warp; may be empty.
std::string_view role_of(const Program& p, uint32_t warp);

/// "GMEM x+0x40", with the allocation's name, or the plain address.
std::string describe_gmem(const Gmem& g, uint64_t address);
/// "SMEM 0x1400", "CTA 1 SMEM 0x1400" if it is another CTA's than `own`.
std::string describe_smem(uint32_t address, uint32_t own);
std::string describe_tmem(uint32_t address);

/// What a step did, in a line, and one for each phase it completed.
std::string describe_step(const Session& s, const StepRecord& r, const CodeMap& code);
inline std::string describe_step(const Session& s, const CodeMap& code) { return describe_step(s, s.last(), code); }

/// Warps that wait for a phase of the barrier at rank << 24 | offset.
std::vector<const Warp*> waiters(const Cluster& c, uint32_t address);

}  // namespace drywell::sim
