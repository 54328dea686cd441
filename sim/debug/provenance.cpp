#include "sim/debug/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "drywell/core/error.h"
#include "sim/debug/describe.h"
#include "sim/exec/exec.h"

namespace drywell::sim {
namespace {

bool meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

/// A rectangle or run of `place` that `span` of cluster `cluster` covers in part.
bool covers(const Place& place, uint64_t cluster, const Span& span) {
  if (const auto* w = std::get_if<WatchSmem>(&place)) {
    return span.memory == Memory::shared && w->cta.cluster == cluster && w->cta.cta == span.cta && meet(w->offset, w->bytes, span.begin, span.bytes);
  }
  if (const auto* w = std::get_if<WatchGmem>(&place)) return span.memory == Memory::global && meet(w->address, w->bytes, span.begin, span.bytes);
  const auto* w = std::get_if<WatchTmem>(&place);
  return w != nullptr && span.memory == Memory::tmem && w->cta.cluster == cluster && w->cta.cta == span.cta && meet(w->lane, w->lanes, span.lane, span.lanes) &&
         meet(w->column, w->columns, span.column, span.columns);
}

/// Watches steps for one that writes a place.
class WriteProbe : public Listener {
 public:
  WriteProbe(Debugger& d, const Place& place) : d_(d), place_(place) {
    const auto* r = std::get_if<WatchRegister>(&place);
    const Warp* w = r == nullptr ? nullptr : d.session().find(r->warp);
    if (w == nullptr || r->frame >= w->frames.size()) return;
    register_ = find_register(*w, r->name, r->frame);
    frame_base_ = w->frames[r->frame].registers;
  }

  void memory(const Warp& w, const DecodedOp& op, LaneMask mask, Space space, uint32_t bytes, bool store) override {
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

  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override {
    if (m != AsyncMoment::write) return;
    bool writes = writes_register(c, op);
    if (!register_.has_value()) for_each_write(c, op, [&](const Span& s) { writes = writes || covers(place_, c.index, s); });
    if (!writes) return;
    hit_ = true;
    detail_.clear();
    origins_ = origins_of(d_.session(), c, op, place_, detail_);
    const auto* u = std::get_if<Umma>(&op.payload);
    accumulates_ = (u != nullptr && u->accumulate) || is_reduction(op);
    op_ = op.id;
  }

  void instruction(const Warp& w, const DecodedOp& op, LaneMask mask) override {
    const auto* r = std::get_if<WatchRegister>(&place_);
    if (r == nullptr || mask == 0 || !is_warp(w, r->warp) || !register_.has_value() || w.frame != r->frame) return;
    const Program& p = d_.session().program();
    const Program::RegUse& use = p.reg_use[static_cast<size_t>(&op - p.code.data())];
    const auto first = p.reg_lists.begin() + use.first + use.reads;
    // What tcgen05.ld and wgmma write comes later.
    const bool pending = is_register_pending(w, *register_);
    if (!register_->predicate && !pending && std::find(first, first + use.writes, register_->offset) != first + use.writes) hit_ = true;
  }

  /// Since the last call.
  bool take() { return std::exchange(hit_, false); }
  const std::vector<Origin>& origins() const { return origins_; }
  const std::string& detail() const { return detail_; }
  bool accumulates() const { return accumulates_; }
  uint64_t op() const { return op_; }
  bool is_predicate() const { return register_.has_value() && register_->predicate; }

 private:
  static bool is_warp(const Warp& w, const WarpRef& r) { return w.index == r.warp && w.cta->rank == r.cta && w.cta->cluster->index == r.cluster; }

  bool writes_register(const Cluster& c, const AsyncOp& op) const {
    const auto* r = std::get_if<WatchRegister>(&place_);
    if (r == nullptr || !register_.has_value() || !(r->warp == WarpRef{c.index, op.issuer.cta, op.issuer.warp})) return false;
    const auto has = [&](const std::vector<uint32_t>& slots) { return std::find(slots.begin(), slots.end(), register_->offset) != slots.end(); };
    if (const auto* t = std::get_if<TmemLdSt>(&op.payload)) return t->load && t->frame == frame_base_ && has(t->regs);
    const auto* m = std::get_if<Wgmma>(&op.payload);
    return m != nullptr && m->frame == frame_base_ && has(m->d_regs);
  }

  Debugger& d_;
  const Place& place_;
  std::optional<RegisterRef> register_;
  uint32_t frame_base_ = 0;
  bool hit_ = false;
  std::string detail_;
  std::vector<Origin> origins_;
  bool accumulates_ = false;
  uint64_t op_ = 0;
};

/// The step after which the operands of operation `op` had been read.
uint64_t read_position(Debugger& d, uint64_t cluster, uint64_t op, uint64_t last) {
  Stops none;
  bool stopped = false;
  Session& s = d.session();
  const auto found = d.scan_back(
      none,
      [&] {
        const StepRecord& r = s.last();
        return r.kind == StepRecord::Kind::moment && r.moment == AsyncMoment::read && r.op == op && r.who.cluster == cluster;
      },
      1, last, stopped);
  return found.has_value() ? found->position : last;
}

}  // namespace

std::optional<Provenance> find_write(Debugger& d, const Place& place, uint64_t position) {
  Session& s = d.session();
  const uint64_t here = s.position();
  WriteProbe probe(d, place);
  Stops changes;  // predicates are watched for changes: nothing tells who writes them
  if (probe.is_predicate()) changes.add(place, {});
  bool stopped = false;
  s.set_probe(&probe);
  const auto found = d.scan_back(changes, [&] { return probe.take(); }, 1, position, stopped);
  std::optional<Provenance> out;
  if (found.has_value()) {
    // Again, for this step's own details: the search went on behind it.
    s.seek(found->position - 1);
    s.step();
    out.emplace();
    out->position = out->read_position = found->position;
    out->step = s.last();
    if (out->step.kind == StepRecord::Kind::moment) {
      out->origins = probe.origins();
      out->accumulates = probe.accumulates();
    }
    if (!probe.is_predicate()) out->detail = probe.detail();
  }
  s.set_probe(nullptr);
  if (out.has_value() && !out->origins.empty()) out->read_position = read_position(d, out->step.who.cluster, out->step.op, out->position);
  s.seek(here);
  return out;
}

std::string describe_place(const Session& s, const Place& p, const WarpRef& own) {
  const auto of = [&](const WarpRef& cta) { return cta.cluster == own.cluster && cta.cta == own.cta ? std::string() : fmt::format(" of CTA rank {}", cta.cta); };
  const auto run = [](uint64_t first, uint64_t count) { return count <= 1 ? fmt::format("{}", first) : fmt::format("{}..{}", first, first + count - 1); };
  if (const auto* w = std::get_if<WatchSmem>(&p)) return fmt::format("SMEM {:#x}..{:#x}{}", w->offset, w->offset + w->bytes - 1, of(w->cta));
  if (const auto* w = std::get_if<WatchGmem>(&p)) return fmt::format("GMEM {}", describe_gmem(*s.launch().gmem, w->address));
  if (const auto* w = std::get_if<WatchTmem>(&p)) return fmt::format("TMEM lane {} column {}{}", run(w->lane, w->lanes), run(w->column, w->columns), of(w->cta));
  const auto* w = std::get_if<WatchRegister>(&p);
  return w == nullptr ? std::string() : fmt::format("{} of warp {}", w->name, w->warp.warp);
}

}  // namespace drywell::sim
