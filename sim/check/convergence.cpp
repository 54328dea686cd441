#include "sim/check/convergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "drywell/isa/opcode.h"
#include "sim/exec/exec.h"
#include "sim/state/payload/control.h"

namespace drywell::sim::check {
namespace {

constexpr uint32_t kGroupWarps = 4;  // warps of a warpgroup

/// The operand that is the instruction's member mask; nullptr: it has none.
const isa::Operand* members_of(const isa::Function& f, const isa::Instruction& i) {
  const isa::InstrSpec& row = isa::spec(i.op);
  const auto at = std::find_if(row.operands.begin(), row.operands.end(), names_members);
  if (at == row.operands.end()) return nullptr;
  const int position = isa::operand_positions(f, i)[static_cast<size_t>(at - row.operands.begin())];
  return position < 0 ? nullptr : &f.operands(i)[static_cast<size_t>(position)];
}

/// Lanes of `mask`, which have executed the instruction, that their member masks exclude. A result may have taken the mask's register: 0.
LaneMask outside_members(const Program& p, const Warp& w, const DecodedOp& op, LaneMask mask) {
  const isa::Operand* o = members_of(p.function_of(op), p.instruction(op));
  if (o == nullptr) return 0;
  if (o->kind == isa::Operand::Kind::imm) return mask & ~static_cast<LaneMask>(o->value);
  if (o->kind != isa::Operand::Kind::reg) return 0;
  const uint32_t offset = p.functions[op.function].reg_offset[o->index];
  const Program::RegUse& use = p.reg_use[static_cast<size_t>(&op - p.code.data())];
  const uint32_t* writes = p.reg_lists.data() + use.first + use.reads;
  if (std::find(writes, writes + use.writes, offset) != writes + use.writes) return 0;
  LaneMask outside = 0;
  for_lanes(mask, [&](uint32_t lane) { outside |= ~static_cast<LaneMask>(lane_value(w, {offset, 0}, lane, false)) & LaneMask{1} << lane; });
  return outside;
}

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

void Convergence::members(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const LaneMask outside = outside_members(*parts_.launch.program, w, op, mask);
  if (outside == 0) return;
  parts_.reporter.report(Rule::outside_mask, nullptr, parts_.access(w, op, outside, Agent::thread, false), [&] { return fmt::format("{} lanes", std::popcount(outside)); });
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
