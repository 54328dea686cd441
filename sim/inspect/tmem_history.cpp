#include "drywell/sim/inspect/tmem_history.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include "sim/engine/umma_form.h"
#include "sim/events/hub.h"
#include "sim/inspect/tmem_spans.h"
#include "sim/state/program.h"

namespace drywell::sim {
namespace {

std::string type_of(const UmmaForm& f, isa::TmemOperand o) {
  switch (o) {
    case isa::TmemOperand::d: return std::string(isa::to_string(f.idesc.accumulator()));
    case isa::TmemOperand::a: return std::string(isa::to_string(f.idesc.a_element()));
    case isa::TmemOperand::sfa:
    case isa::TmemOperand::sfb: return f.idesc.scale_ue8m0 ? "ue8m0" : "ue4m3";
  }
  return {};
}

}  // namespace

class TmemHistory::Impl : public Listener {
 public:
  Impl(Dim3 cta, size_t value_bytes) : cta_(cta), value_bytes_(value_bytes) {}
  const TmemHistoryData& data() const { return d_; }

  bool wants_memory() const override { return false; }
  bool wants_waits() const override { return false; }
  bool wants_instruction(const Program&, const DecodedOp& op) const override {
    return op.sync == isa::SyncRole::tmem_alloc || op.sync == isa::SyncRole::tmem_dealloc;
  }
  void instruction(const Warp& w, const DecodedOp&, LaneMask) override {
    if (is_ours(*w.cta->cluster)) note_allocations(*w.cta->cluster);
  }
  void cta_started(const Cta& cta) override;
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override;

 private:
  bool is_ours(const Cluster& c) const { return d_.seen && c.index == cluster_ && c.launch == launch_; }
  bool has_rank(uint32_t rank) const { return rank >= d_.first_rank && rank < d_.first_rank + d_.ranks; }
  void begin(const Cta& cta);
  void note_allocations(const Cluster& c);
  void note_allocations(const Cta& c, uint64_t now);
  uint32_t place_of(const Launch& launch, uint32_t pc);
  int32_t form_of(const Umma& u, const UmmaForm& f, isa::TmemOperand o);
  void issue(const Cluster& c, const AsyncOp& op);
  void issue_mma(const Cluster& c, const AsyncOp& op, const Umma& u);
  void add_operand(const Cluster& c, const AsyncOp& op, TmemStep step, uint32_t address, uint32_t columns);
  void add_spans(const Cluster& c, const AsyncOp& op, TmemStep step);
  void add(const Cluster& c, const AsyncOp& op, TmemStep step, uint32_t rank);
  void complete(const Cluster& c, uint64_t id);
  void keep_values(const Cluster& c, size_t index);

  Dim3 cta_;
  size_t value_bytes_, kept_ = 0;
  uint64_t cluster_ = 0;
  const Launch* launch_ = nullptr;
  TmemHistoryData d_;
  std::map<uint32_t, uint32_t> places_;  // by program counter
  std::map<std::tuple<uint32_t, isa::TmemOperand, unsigned, bool, unsigned>, int32_t> forms_;
  std::multimap<uint64_t, size_t> open_;  // operation -> its steps
  std::deque<size_t> with_values_;        // oldest first
};

TmemHistory::TmemHistory(Dim3 cta, size_t value_bytes) : impl_(std::make_unique<Impl>(cta, value_bytes)) {}
TmemHistory::~TmemHistory() = default;
Listener* TmemHistory::listener() { return impl_.get(); }
const TmemHistoryData& TmemHistory::data() const { return impl_->data(); }

/// Of several launches with that CTA, the last one is kept.
void TmemHistory::Impl::cta_started(const Cta& cta) {
  if (cta.index == cta_) begin(cta);
}

void TmemHistory::Impl::begin(const Cta& cta) {
  const Cluster& c = *cta.cluster;
  d_ = {};
  d_.seen = true;
  d_.from = d_.to = c.now;
  cluster_ = c.index;
  launch_ = c.launch;
  d_.ranks = c.ctas.size() % 2 == 0 ? 2 : 1;
  d_.first_rank = d_.ranks == 2 ? cta.rank & ~1u : cta.rank;
  for (const auto& other : c.ctas) d_.ctas.push_back(other == nullptr ? Dim3{} : other->index);
  d_.warps = static_cast<uint32_t>(cta.warps.size());
  d_.roles.resize(d_.warps);
  for (const isa::WarpRole& r : c.launch->program->function->roles)
    for (uint32_t w = r.first; w <= r.last && w < d_.warps; ++w) d_.roles[w] = r.name;
  places_.clear();
  forms_.clear();
  open_.clear();
  with_values_.clear();
  kept_ = 0;
}

void TmemHistory::Impl::note_allocations(const Cluster& c) {
  for (const auto& cta : c.ctas)
    if (cta != nullptr && has_rank(cta->rank) && cta->tmem != nullptr) note_allocations(*cta, c.now);
  d_.to = std::max(d_.to, c.now);
}

void TmemHistory::Impl::note_allocations(const Cta& c, uint64_t now) {
  const auto rank = static_cast<uint8_t>(c.rank);
  for (TmemHeld& a : d_.held)
    if (a.cta == rank && a.to == 0 && c.tmem->allocation_at(a.column, c.serial + 1) == 0) a.to = now;
  for (uint32_t column = 0; column < kTmemColumns; column += kTmemUnit) {
    const uint32_t columns = c.tmem->allocation_at(column, c.serial + 1);
    const bool known = std::any_of(d_.held.begin(), d_.held.end(), [&](const TmemHeld& a) {
      return a.cta == rank && a.to == 0 && a.column == column;
    });
    if (columns != 0 && !known) d_.held.push_back({rank, column, columns, now, 0});
  }
}

uint32_t TmemHistory::Impl::place_of(const Launch& launch, uint32_t pc) {
  const auto [it, fresh] = places_.try_emplace(pc, static_cast<uint32_t>(d_.places.size()));
  if (fresh) d_.places.push_back(mnemonic_at(launch, pc) + " at " + source_at(launch, pc));
  return it->second;
}

int32_t TmemHistory::Impl::form_of(const Umma& u, const UmmaForm& f, isa::TmemOperand o) {
  const auto [it, fresh] =
      forms_.try_emplace({u.idesc, o, u.cta_group, u.ws, u.scale_vec}, static_cast<int32_t>(d_.forms.size()));
  if (!fresh) return it->second;
  const isa::TmemUseForm use{o, f.form, f.m, f.n, f.idesc.a_element()};
  d_.forms.push_back({use, type_of(f, o), isa::tmem_blocks(use)});
  return it->second;
}

void TmemHistory::Impl::async(const Cluster& c, const AsyncOp& op, AsyncMoment m) {
  if (!is_ours(c)) return;
  d_.to = std::max(d_.to, c.now);
  if (m == AsyncMoment::issue) issue(c, op);
  if (m == AsyncMoment::signal) complete(c, op.id);
}

void TmemHistory::Impl::issue(const Cluster& c, const AsyncOp& op) {
  TmemStep step;
  if (const auto* u = std::get_if<Umma>(&op.payload)) issue_mma(c, op, *u);
  step.writes = true;
  if (std::holds_alternative<TmemCopy>(op.payload)) step.role = TmemRole::copied, add_spans(c, op, step);
  if (std::holds_alternative<TmemShift>(op.payload)) step.role = TmemRole::shifted, add_spans(c, op, step);
  if (const auto* t = std::get_if<TmemLdSt>(&op.payload)) {
    step.writes = !t->load;
    step.role = t->load ? TmemRole::loaded : TmemRole::stored;
    add_spans(c, op, step);
  }
}

void TmemHistory::Impl::issue_mma(const Cluster& c, const AsyncOp& op, const Umma& u) {
  UmmaForm f;
  if (decode_form(u, f).has_value()) return;
  const auto operand = [&](TmemRole role, isa::TmemOperand o, uint32_t address, unsigned byte = 0) {
    TmemStep s;
    s.role = role;
    s.writes = o == isa::TmemOperand::d;
    s.form = form_of(u, f, o);
    s.base_lane = static_cast<uint16_t>(TmemAddr(address).lane());
    s.base_column = static_cast<uint16_t>(TmemAddr(address).column());
    s.base_byte = static_cast<uint8_t>(byte);
    return s;
  };
  add_spans(c, op, operand(TmemRole::accumulator, isa::TmemOperand::d, u.d));
  if (u.a_in_tmem)
    add_operand(c, op, operand(TmemRole::a, isa::TmemOperand::a, static_cast<uint32_t>(u.a)),
                static_cast<uint32_t>(u.a), isa::a_columns(f.idesc.k96));
  if (f.factors != 0) {
    const uint32_t sfa = u.sfa & isa::kScaleAddressMask, sfb = u.sfb & isa::kScaleAddressMask;
    add_operand(c, op, operand(TmemRole::sfa, isa::TmemOperand::sfa, sfa, f.idesc.sfa_id), sfa,
                isa::sfa_columns(f.layout, f.idesc.sfa_id + f.factors));
    add_operand(c, op, operand(TmemRole::sfb, isa::TmemOperand::sfb, sfb, f.idesc.sfb_id), sfb,
                isa::sfb_columns(f.layout, f.n, f.idesc.sfb_id + f.factors));
  }
  TmemStep metadata;
  metadata.role = TmemRole::metadata;
  if (u.sparse) add_operand(c, op, metadata, u.meta, isa::metadata_columns(f.idesc.kind));
}

/// An operand that the tensor core reads: all lanes of its columns, in each CTA of the MMA.
void TmemHistory::Impl::add_operand(const Cluster& c, const AsyncOp& op, TmemStep step, uint32_t address,
                                    uint32_t columns) {
  step.lanes = kTmemLanes;
  step.column = static_cast<uint16_t>(TmemAddr(address).column());
  step.columns = static_cast<uint16_t>(columns);
  const uint32_t ctas = std::get<Umma>(op.payload).cta_group;
  for (uint32_t k = 0; k < ctas; ++k) add(c, op, step, ctas == 2 ? (op.issuer.cta & ~1u) + k : op.issuer.cta);
}

void TmemHistory::Impl::add_spans(const Cluster& c, const AsyncOp& op, TmemStep step) {
  for (uint32_t rank = d_.first_rank; rank < d_.first_rank + d_.ranks; ++rank) {
    const Rectangle r = cover(rank, [&](const SpanVisitor& v) {
      step.writes ? for_each_write(c, op, v) : for_each_read(c, op, v);
    });
    if (r.empty()) continue;
    const Span s = r.span();
    step.lane = static_cast<uint16_t>(s.lane);
    step.lanes = static_cast<uint16_t>(s.lanes);
    step.column = static_cast<uint16_t>(s.column);
    step.columns = static_cast<uint16_t>(s.columns);
    add(c, op, step, rank);
  }
}

void TmemHistory::Impl::add(const Cluster& c, const AsyncOp& op, TmemStep step, uint32_t rank) {
  if (!has_rank(rank)) return;
  if (d_.steps.size() >= kMostSteps) {
    d_.truncated = true;
    return;
  }
  step.cta = static_cast<uint8_t>(rank);
  step.issued = c.now;
  step.place = place_of(*c.launch, op.issuer.pc);
  step.warp = op.issuer.warp;
  open_.emplace(op.id, d_.steps.size());
  d_.steps.push_back(std::move(step));
}

void TmemHistory::Impl::complete(const Cluster& c, uint64_t id) {
  const auto [first, last] = open_.equal_range(id);
  for (auto it = first; it != last; ++it) {
    d_.steps[it->second].done = std::max<uint64_t>(c.now, 1);
    if (d_.steps[it->second].writes) keep_values(c, it->second);
  }
  open_.erase(first, last);
}

/// Drops the values of the oldest writes when there are too many.
void TmemHistory::Impl::keep_values(const Cluster& c, size_t index) {
  TmemStep& s = d_.steps[index];
  const Tmem* tmem = c.ctas[s.cta] == nullptr ? nullptr : c.ctas[s.cta]->tmem;
  if (tmem == nullptr || size_t{4} * s.lanes * s.columns > value_bytes_) return;
  for (uint32_t lane = 0; lane < s.lanes; ++lane)
    for (uint32_t column = 0; column < s.columns; ++column)
      s.values.push_back(tmem->at(s.lane + lane, s.column + column));
  kept_ += 4 * s.values.size();
  with_values_.push_back(index);
  for (; kept_ > value_bytes_; with_values_.pop_front()) {
    std::vector<uint32_t>& oldest = d_.steps[with_values_.front()].values;
    kept_ -= 4 * oldest.size();
    oldest = {};
    d_.values_dropped = true;
  }
}

}  // namespace drywell::sim
