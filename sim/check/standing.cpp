#include "sim/check/standing.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <optional>

#include "drywell/isa/spec.h"
#include "sim/exec/exec.h"
#include "sim/exec/shared_layout.h"
#include "sim/schedule/look_ahead.h"
#include "sim/state/payload/mbarrier.h"

namespace drywell::sim::check {
namespace {

using isa::SyncRole;

bool waits_on_mbarrier(const Program& p, size_t pc) {
  return pc < p.code.size() && p.code[pc].sync == SyncRole::mbarrier_wait;
}

// Lanes that spin may be at the branch behind the wait, or where libcu++ sleeps and reads the clock.
uint32_t place_of_wait(const Program& p, uint32_t pc) {
  const ClosedWait* const loop = waits_on_mbarrier(p, pc) ? nullptr : closed_wait(p, pc);
  if (loop != nullptr && !loop->waits.empty()) return loop->waits.front();
  return pc != 0 && p.code[pc].flow == isa::Flow::branch && waits_on_mbarrier(p, pc - 1) ? pc - 1 : pc;
}

// The barrier and the parity that a lane of the group asks for; the first lane whose phase is incomplete.
void take_mbarrier(const Warp& w, const DecodedOp& op, Standing& s) {
  const isa::Instruction& i = w.cta->cluster->launch->program->instruction(op);
  const bool parity = i.has(isa::Mod::parity);
  s.reason = BlockReason::mbarrier;
  for (LaneMask left = s.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(left));
    const uint64_t a = lane_address(w, op, lane), phase = lane_value(w, op.src[1], lane, !parity);
    s.address = shared_address(w, a, op.as<payload::Mbarrier>().cluster_space || is_shared_generic(a));
    s.parity = parity ? static_cast<uint32_t>(phase) & 1 : static_cast<uint32_t>(phase >> 63);
    const Mbarrier* m = w.cta->smem.find_mbarrier(shared_offset(s.address));
    if (m == nullptr || !m->parity_done(s.parity)) return;
  }
}

BlockReason reason_at(const Warp& w, const DecodedOp& op, LaneMask lanes) {
  if (op.sync == SyncRole::warp_barrier || (op.aligned && lanes != w.alive)) return BlockReason::warp_sync;
  return op.sync == SyncRole::cta_barrier ? BlockReason::named_barrier : BlockReason::none;
}

Standing standing(const Warp& w, const LaneGroup& g, bool last_tried) {
  const Program& p = *w.cta->cluster->launch->program;
  Standing s;
  s.lanes = g.lanes;
  s.pc = place_of_wait(p, g.pc);
  if (last_tried && w.block.reason == BlockReason::mbarrier) {
    s.reason = BlockReason::mbarrier;
    s.address = w.block.address;
    s.parity = w.block.parity;
  } else if (waits_on_mbarrier(p, s.pc) && g.frame == w.frame) {
    const std::optional<Warp> there = s.pc == g.pc ? std::nullopt : look_ahead(w, g, s.pc);
    take_mbarrier(there.has_value() ? *there : w, p.code[s.pc], s);
  } else {
    s.pc = g.pc;
    s.reason = last_tried && w.block.reason != BlockReason::none ? w.block.reason
                                                                 : reason_at(w, p.code[g.pc], g.lanes);
  }
  return s;
}

// nvcc's name of a function's variable, "_ZZ8tma_copyE4full": "full".
std::string author_name(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || plain == nullptr) return name;
  const std::string text = plain.get();
  const size_t scope = text.rfind("::");
  return scope == std::string::npos ? text : text.substr(scope + 2);
}

}  // namespace

std::vector<Standing> standings(const Warp& w) {
  std::vector<Standing> all{standing(w, {w.pc, w.active, w.frame, 0}, true)};
  for (const LaneGroup& g : w.waiting) all.push_back(standing(w, g, false));
  std::stable_partition(all.begin(), all.end(), [](const Standing& s) { return s.on_mbarrier(); });
  return all;
}

std::string shared_variable_at(const Program& p, uint32_t offset) {
  const SharedLayout layout = lay_out_shared(*p.module, p.functions);
  const SharedVariable* best = nullptr;
  for (const SharedVariable& v : layout.variables) {
    const bool inside = offset >= v.offset && (v.dynamic || offset < v.offset + v.variable->bytes());
    if (inside && (best == nullptr || v.offset >= best->offset)) best = &v;
  }
  if (best == nullptr) return {};
  const std::string name = author_name(best->variable->name);
  return offset == best->offset ? name : fmt::format("{}+{:#x}", name, offset - best->offset);
}

}  // namespace drywell::sim::check
