#include "sim/check/convergence.h"

#include <fmt/format.h>

#include <bit>

#include "drywell/isa/opcode.h"
#include "sim/exec/exec.h"
#include "sim/state/payload/control.h"

namespace drywell::sim::check {
namespace {

constexpr uint32_t kGroupWarps = 4;  // warps of a warpgroup

}  // namespace

// Every lane issues an operation of its own: 32 products where one is meant, 32 arrivals of a commit.
void Convergence::product(const Warp& w, const DecodedOp& op, LaneMask mask) {
  if (std::popcount(mask) < 2) return;
  parts_.reporter.report(Rule::many_lanes, nullptr, parts_.access(w, op, mask, Agent::mma, true), [&] { return fmt::format("{} lanes", std::popcount(mask)); });
}

void Convergence::commit(const Warp& w, const DecodedOp& op, LaneMask mask) {
  check_commit(w, op, mask);
  product(w, op, mask);
}

// A commit tracks all operations that its own thread has issued (PTX ISA 9.7.16.12.1), also those that an earlier commit of the thread
// tracks: a second commit tells another consumer of the same operations.
void Convergence::check_commit(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = parts_.state_of(w);
  const Access who = parts_.access(w, op, mask, Agent::mma, false);
  for_lanes(mask, [&](uint32_t lane) {
    OperationQueue& q = state.tensor.of(lane, parts_.components);
    q.committed = q.issued;
    if (q.issued != 0) return;
    for (const WarpState& other : parts_.warps.of_cta(w.cta->rank)) {
      for (const auto& [l, theirs] : other.tensor) {
        if (theirs.issued == theirs.committed || theirs.last == 0) continue;
        parts_.reporter.report(Rule::commit_of_nothing, &parts_.accesses[theirs.last], who, [] { return std::string("no tcgen05 operation of this thread"); });
        return;
      }
    }
  });
}

void Convergence::set_registers(const Warp& w, const DecodedOp& op, LaneMask mask) {
  WarpState& state = parts_.state_of(w);
  const Access who = parts_.access(w, op, mask, Agent::thread, false);
  const uint32_t count = op.as<payload::SetRegisters>().count;
  // A second one with the same number changes nothing, on silicon too.
  const bool changes = state.resizes.empty() || state.resizes.back().count != count;
  if (state.resized && changes) parts_.reporter.report(Rule::setmaxnreg_twice, nullptr, who, [&] { return fmt::format("warp {}", w.index); });
  state.resized = true;
  state.resizes.push_back({parts_.pc_of(op), count});
}

// All warps of a warpgroup execute the same setmaxnreg (PTX ISA 9.7.19.5). Triton and CuTe give each role its own copy of the
// instruction, with equal numbers, so that the numbers decide.
void Convergence::finish(const Cta& cta) {
  const auto warps = parts_.warps.of_cta(cta.rank);
  for (size_t i = 0; i < warps.size(); ++i) {
    const auto &mine = warps[i].resizes, &first = warps[i / kGroupWarps * kGroupWarps].resizes;
    const size_t common = std::min(mine.size(), first.size());
    const auto same = [](const WarpState::Resize& x, const WarpState::Resize& y) { return x.count == y.count; };
    const auto [a, b] = std::mismatch(mine.begin(), mine.begin() + static_cast<ptrdiff_t>(common), first.begin(), same);
    const bool differ = a != mine.begin() + static_cast<ptrdiff_t>(common);
    if (!differ && mine.size() == first.size()) continue;
    const uint32_t pc = differ ? a->pc : mine.size() > common ? mine[common].pc
                                                              : first[common].pc;
    const size_t warp = mine.size() > common || common != mine.size() ? i : i / kGroupWarps * kGroupWarps;
    parts_.reporter.report(Rule::setmaxnreg_part, nullptr, parts_.warps.access(cta.warps[warp], pc, kFullMask, Agent::thread, false),
                           [&] { return fmt::format("warps {} to {}", i / kGroupWarps * kGroupWarps, std::min(i / kGroupWarps * kGroupWarps + kGroupWarps, warps.size()) - 1); });
    return;
  }
}

}  // namespace drywell::sim::check
