#include "sim/debug/write_probe.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/debug/view.h"
#include "sim/engine/footprint.h"
#include "sim/exec/exec.h"

namespace drywell::sim {
namespace {

bool meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

/// Whether `span` of cluster `cluster` covers a part of `place`.
bool covers(const Place& place, uint64_t cluster, const Span& span) {
  if (const auto* w = std::get_if<WatchSmem>(&place)) {
    return span.memory == Memory::shared && w->cta.cluster == cluster && w->cta.cta == span.cta && meet(w->offset, w->bytes, span.begin, span.bytes);
  }
  if (const auto* w = std::get_if<WatchGmem>(&place)) return span.memory == Memory::global && meet(w->address, w->bytes, span.begin, span.bytes);
  const auto* w = std::get_if<WatchTmem>(&place);
  return w != nullptr && span.memory == Memory::tmem && w->cta.cluster == cluster && w->cta.cta == span.cta && meet(w->lane, w->lanes, span.lane, span.lanes) &&
         meet(w->column, w->columns, span.column, span.columns);
}

}  // namespace

WriteProbe::WriteProbe(Session& s, const Place& place) : session_(s), place_(place) {
  const auto* r = std::get_if<WatchRegister>(&place);
  const Warp* w = r == nullptr ? nullptr : s.find(r->warp);
  if (w == nullptr || r->frame >= w->frames.size()) return;
  register_ = find_register(*w, r->name, r->frame);
  frame_base_ = w->frames[r->frame].registers;
}

void WriteProbe::memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) {
  if (!store) return;
  for_lanes(mask, [&](uint32_t lane) {
    const uint64_t address = lane_address(w, op, lane);
    const bool shared = space == Space::shared_cta || space == Space::shared_cluster || (space == Space::generic && is_shared_generic(address));
    if (!shared && space != Space::global && space != Space::generic) return;
    const uint32_t in_cluster = shared_address(w, address, space != Space::shared_cta);
    const Span span = shared ? Span{Memory::shared, shared_rank(in_cluster), shared_offset(in_cluster), bytes} : Span{Memory::global, 0, address, bytes};
    if (!covers(place_, w.cta->cluster->index, span)) return;
    hit_ = true;
    detail_ = fmt::format("lane {} stored {} bytes", lane, bytes);
  });
}

void WriteProbe::async(const Cluster& c, const AsyncOp& op, AsyncMoment m) {
  if (m != AsyncMoment::write) return;
  bool writes = writes_register(c, op);
  if (!register_.has_value()) for_each_write(c, op, [&](const Span& s) { writes = writes || covers(place_, c.index, s); });
  if (!writes) return;
  hit_ = true;
  detail_.clear();
  origins_ = origins_of(session_, c, op, place_, detail_);
  const auto* u = std::get_if<Umma>(&op.payload);
  accumulates_ = (u != nullptr && u->accumulate) || is_reduction(op);
}

void WriteProbe::instruction(const Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto* r = std::get_if<WatchRegister>(&place_);
  if (r == nullptr || mask == 0 || !(ref_of(w) == r->warp) || !register_.has_value() || w.frame != r->frame) return;
  const Program& p = session_.program();
  const Program::RegUse& use = p.reg_use[static_cast<size_t>(&op - p.code.data())];
  const auto first = p.reg_lists.begin() + use.first + use.reads;
  // tcgen05.ld and wgmma write their registers later.
  const bool pending = is_register_pending(w, *register_);
  if (!register_->predicate && !pending && std::find(first, first + use.writes, register_->offset) != first + use.writes) hit_ = true;
}

bool WriteProbe::writes_register(const Cluster& c, const AsyncOp& op) const {
  const auto* r = std::get_if<WatchRegister>(&place_);
  if (r == nullptr || !register_.has_value() || !(r->warp == WarpRef{c.index, op.issuer.cta, op.issuer.warp})) return false;
  const auto has = [&](const std::vector<uint32_t>& slots) { return std::find(slots.begin(), slots.end(), register_->offset) != slots.end(); };
  if (const auto* t = std::get_if<TmemLdSt>(&op.payload)) return t->load && t->frame == frame_base_ && has(t->regs);
  const auto* m = std::get_if<Wgmma>(&op.payload);
  return m != nullptr && m->frame == frame_base_ && has(m->d_regs);
}

}  // namespace drywell::sim
