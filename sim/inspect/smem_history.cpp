#include "drywell/sim/inspect/smem_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>

#include "sim/engine/umma_form.h"
#include "sim/events/hub.h"
#include "sim/exec/exec.h"
#include "sim/inspect/smem_forms.h"
#include "sim/inspect/tmem_spans.h"

namespace drywell::sim {
namespace {

/// "TMA load", …: what a step is when no operand's letter says it.
std::string role_of(const AsyncOp& op) {
  if (const auto* t = std::get_if<TensorCopy>(&op.payload))
    return t->direction == TensorCopy::Direction::load ? "TMA load" : t->direction == TensorCopy::Direction::store ? "TMA store"
                                                                                                                   : "TMA reduce";
  if (std::holds_alternative<BulkCopy>(op.payload)) return "bulk copy";
  if (std::holds_alternative<AsyncCopy>(op.payload)) return "cp.async";
  if (std::holds_alternative<TmemCopy>(op.payload)) return "tcgen05.cp";
  if (std::holds_alternative<RemoteStore>(op.payload)) return "remote store";
  return "matrix";
}

/// Puts runs in order and joins those that touch.
std::vector<SmemRun> joined(std::vector<SmemRun> runs) {
  std::sort(runs.begin(), runs.end(), [](const SmemRun& a, const SmemRun& b) { return a.begin < b.begin; });
  std::vector<SmemRun> out;
  for (const SmemRun& r : runs) {
    if (out.empty() || r.begin > out.back().begin + out.back().bytes)
      out.push_back(r);
    else
      out.back().bytes = std::max(out.back().bytes, r.begin + r.bytes - out.back().begin);
  }
  return out;
}

std::string words_of(const isa::TensorMapFields& f) {
  std::string dims, box;
  for (uint32_t i = f.rank; i-- > 0;) {
    dims += fmt::format("{}{}", dims.empty() ? "" : " x ", f.dim[i]);
    box += fmt::format("{}{}", box.empty() ? "" : " x ", f.box[i]);
  }
  return fmt::format("{} tensor of {}, box {}, swizzle {}", isa::to_string(f.type), dims, box, isa::to_string(f.swizzle));
}

constexpr const char* kBarrierWords[] = {"init", "inval", "expect_tx", "complete_tx", "arrive", "phase complete", "wait"};

}  // namespace

class SmemHistory::Impl : public Listener {
 public:
  Impl(Dim3 cta, size_t value_bytes) : cta_(cta), value_bytes_(value_bytes) {}
  const SmemHistoryData& data() const { return d_; }

  bool wants_waits() const override { return false; }
  bool wants_instruction(const Program& p, const DecodedOp& op) const override {
    const isa::Function& f = p.function_of(op);
    return op.instr < f.body.size() && isa::spec(f.body[op.instr].op).memory != isa::MemoryRole::none;
  }
  void cta_started(const Cta& cta) override {
    if (cta.index == cta_) begin(cta);
  }
  void memory(const Warp& w, const DecodedOp& op, LaneMask lanes, Space space, uint32_t bytes, bool store) override;
  void instruction(const Warp& w, const DecodedOp&, LaneMask) override;
  void mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t) override;
  void async(const Cluster& c, const AsyncOp& op, AsyncMoment m) override;

 private:
  bool is_ours(const Cluster& c) const { return d_.seen && c.index == cluster_ && c.launch == launch_; }
  bool has_rank(uint32_t rank) const { return rank >= d_.first_rank && rank < d_.first_rank + d_.ranks; }
  void begin(const Cta& cta);
  uint32_t place_of(const Launch& launch, uint32_t pc);
  void issue(const Cluster& c, const AsyncOp& op);
  void issue_copy(const Cluster& c, const AsyncOp& op, const TensorCopy& t);
  void issue_product(const Cluster& c, const AsyncOp& op, const Umma& u);
  void issue_operand(const Cluster& c, const AsyncOp& op, const char* name, uint64_t descriptor, const isa::OperandTile& tile, std::string type, uint32_t ctas);
  int32_t form_of_box(const TensorPlan& plan, uint32_t smem);
  std::string name_of(uint64_t tensor);
  void add_spans(const Cluster& c, const AsyncOp& op, SmemStep step, bool writes);
  void add(const Cluster& c, uint32_t pc, SmemStep step, uint32_t rank);
  void complete(const Cluster& c, size_t index);
  void keep_values(const Cta& cta, SmemStep& s);

  Dim3 cta_;
  size_t value_bytes_, kept_ = 0;
  uint64_t cluster_ = 0;
  const Launch* launch_ = nullptr;
  SmemHistoryData d_;
  std::map<uint32_t, uint32_t> places_;                                             // by program counter
  std::map<std::tuple<std::string, uint64_t, uint32_t, uint32_t>, int32_t> forms_;  // operand and what its places depend on
  std::map<uint64_t, size_t> tensors_;                                              // by address: its number
  std::multimap<uint64_t, size_t> open_;                                            // operation -> its steps
  std::map<const Warp*, size_t> storing_;                                           // a warp's store that is about to happen
  std::deque<size_t> with_values_;                                                  // oldest first
};

SmemHistory::SmemHistory(Dim3 cta, size_t value_bytes) : impl_(std::make_unique<Impl>(cta, value_bytes)) {}
SmemHistory::~SmemHistory() = default;
Listener* SmemHistory::listener() { return impl_.get(); }
const SmemHistoryData& SmemHistory::data() const { return impl_->data(); }

/// Of several launches with that CTA, the last one is kept.
void SmemHistory::Impl::begin(const Cta& cta) {
  const Cluster& c = *cta.cluster;
  d_ = {};
  d_.seen = true;
  d_.from = d_.to = c.now;
  d_.bytes = c.launch->smem_bytes;
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
  tensors_.clear();
  open_.clear();
  storing_.clear();
  with_values_.clear();
  kept_ = 0;
}

uint32_t SmemHistory::Impl::place_of(const Launch& launch, uint32_t pc) {
  const auto [it, fresh] = places_.try_emplace(pc, static_cast<uint32_t>(d_.places.size()));
  if (fresh) d_.places.push_back(mnemonic_at(launch, pc) + " at " + source_at(launch, pc));
  return it->second;
}

void SmemHistory::Impl::add(const Cluster& c, uint32_t pc, SmemStep step, uint32_t rank) {
  if (!has_rank(rank) || step.runs.empty()) return;
  if (d_.steps.size() >= kMostSteps) {
    d_.truncated = true;
    return;
  }
  step.cta = static_cast<uint8_t>(rank);
  step.issued = c.now;
  step.place = place_of(*c.launch, pc);
  d_.steps.push_back(std::move(step));
}

// ---- loads and stores of warps

void SmemHistory::Impl::memory(const Warp& w, const DecodedOp& op, LaneMask lanes, Space space, uint32_t bytes, bool store) {
  const Cluster& c = *w.cta->cluster;
  if (!is_ours(c) || (space != Space::shared_cta && space != Space::shared_cluster)) return;
  SmemStep step;
  step.role = store ? "st" : "ld";
  step.writes = store;
  step.warp = w.index;
  uint32_t rank = w.cta->rank;
  for_lanes(lanes, [&](uint32_t lane) {
    const auto address = static_cast<uint32_t>(lane_address(w, op, lane));
    if (space == Space::shared_cluster) rank = shared_rank(address);
    step.runs.push_back({shared_offset(address), bytes});
  });
  step.runs = joined(std::move(step.runs));
  const size_t before = d_.steps.size();
  add(c, static_cast<uint32_t>(&op - c.launch->program->code.data()), std::move(step), rank);
  if (d_.steps.size() == before) return;
  d_.steps.back().done = std::max<uint64_t>(c.now, 1);
  if (store) storing_[&w] = before;
}

void SmemHistory::Impl::instruction(const Warp& w, const DecodedOp&, LaneMask) {
  const Cluster& c = *w.cta->cluster;
  if (!is_ours(c)) return;
  d_.to = std::max(d_.to, c.now);
  const auto stored = storing_.find(&w);
  if (stored == storing_.end()) return;
  complete(c, stored->second);
  storing_.erase(stored);
}

void SmemHistory::Impl::mbarrier(const Cta& cta, uint32_t offset, const Mbarrier& b, MbarrierEvent e, int64_t) {
  if (!is_ours(*cta.cluster) || !has_rank(cta.rank)) return;
  d_.barriers.push_back({static_cast<uint8_t>(cta.rank), offset, cta.cluster->now, b.phase, b.pending, b.expected, b.tx, kBarrierWords[static_cast<size_t>(e)]});
}

// ---- asynchronous operations

void SmemHistory::Impl::async(const Cluster& c, const AsyncOp& op, AsyncMoment m) {
  if (!is_ours(c)) return;
  d_.to = std::max(d_.to, c.now);
  if (m == AsyncMoment::issue) issue(c, op);
  if (m != AsyncMoment::signal) return;
  const auto [first, last] = open_.equal_range(op.id);
  for (auto it = first; it != last; ++it) complete(c, it->second);
  open_.erase(first, last);
}

void SmemHistory::Impl::issue(const Cluster& c, const AsyncOp& op) {
  if (const auto* u = std::get_if<Umma>(&op.payload)) return issue_product(c, op, *u);
  if (const auto* t = std::get_if<TensorCopy>(&op.payload)) return issue_copy(c, op, *t);
  SmemStep step;
  step.role = role_of(op);
  add_spans(c, op, step, false);
  add_spans(c, op, step, true);
}

void SmemHistory::Impl::add_spans(const Cluster& c, const AsyncOp& op, SmemStep step, bool writes) {
  std::map<uint32_t, std::vector<SmemRun>> by_rank;
  const auto visit = [&](const Span& s) {
    if (s.memory == Memory::shared) by_rank[s.cta].push_back({static_cast<uint32_t>(s.begin), static_cast<uint32_t>(s.bytes)});
  };
  writes ? for_each_write(c, op, visit) : for_each_read(c, op, visit, only(Memory::shared));
  step.writes = writes;
  step.warp = op.issuer.warp;
  for (auto& [rank, runs] : by_rank) {
    step.runs = joined(std::move(runs));
    const size_t before = d_.steps.size();
    add(c, op.issuer.pc, step, rank);
    if (d_.steps.size() != before) open_.emplace(op.id, before);
  }
}

std::string SmemHistory::Impl::name_of(uint64_t tensor) {
  return fmt::format("T{}", tensors_.try_emplace(tensor, tensors_.size()).first->second);
}

int32_t SmemHistory::Impl::form_of_box(const TensorPlan& plan, uint32_t smem) {
  const std::string name = name_of(plan.map.address);
  const auto [it, fresh] = forms_.try_emplace({name, smem, plan.box.geometry.rows, plan.box.geometry.row_bytes}, static_cast<int32_t>(d_.forms.size()));
  if (fresh) d_.forms.push_back({name, element_name(plan.map.type), words_of(plan.map), {"y", "x"}, box_blocks(plan, smem), smem});
  return it->second;
}

void SmemHistory::Impl::issue_copy(const Cluster& c, const AsyncOp& op, const TensorCopy& t) {
  SmemStep step;
  step.role = role_of(op);
  TensorPlan plan;
  if (!plan_copy(t, plan).has_value()) {
    step.form = form_of_box(plan, shared_offset(t.smem));
    step.row = t.rank > 1 ? t.coord[1] : 0;
    step.index = t.coord[0];
  }
  add_spans(c, op, step, t.direction == TensorCopy::Direction::load);
}

void SmemHistory::Impl::issue_product(const Cluster& c, const AsyncOp& op, const Umma& u) {
  UmmaForm f;
  if (decode_form(u, f).has_value()) return;
  if (!u.a_in_tmem) issue_operand(c, op, "A", u.a, f.a, std::string(isa::to_string(f.idesc.a_element())), u.cta_group);
  issue_operand(c, op, "B", u.b, f.b, std::string(isa::to_string(f.idesc.b_element())), u.cta_group);
}

/// Each CTA of the pair has a part of the operand at the same place of its own window.
void SmemHistory::Impl::issue_operand(const Cluster& c, const AsyncOp& op, const char* name, uint64_t descriptor, const isa::OperandTile& tile, std::string type,
                                      uint32_t ctas) {
  const isa::SmemDescriptor d = isa::SmemDescriptor::decode(descriptor);
  const auto [it, fresh] = forms_.try_emplace({name, descriptor, tile.mn, tile.k}, static_cast<int32_t>(d_.forms.size()));
  const bool is_a = name[0] == 'A';
  if (fresh) {
    const std::string doc = fmt::format("{} of {} x {} {}, descriptor {:#018x}", name, tile.mn, tile.k, type, descriptor);
    d_.forms.push_back({name, std::move(type), doc, {is_a ? "m" : "n", "k"}, operand_blocks(d, tile, 0), d.start});
  }
  SmemStep step;
  step.role = name;
  step.form = it->second;
  step.warp = op.issuer.warp;
  for (const isa::TmemBlock& b : d_.forms[static_cast<size_t>(step.form)].blocks)
    step.runs.push_back({b.lane * kSmemLineBytes + b.column * 4u, b.columns * 4u});
  step.runs = joined(std::move(step.runs));
  for (uint32_t part = 0; part < ctas; ++part) {
    step.row = static_cast<int32_t>(part * tile.mn);
    const size_t before = d_.steps.size();
    add(c, op.issuer.pc, step, ctas == 2 ? (op.issuer.cta & ~1u) + part : op.issuer.cta);
    if (d_.steps.size() != before) open_.emplace(op.id, before);
  }
}

// ---- values

void SmemHistory::Impl::complete(const Cluster& c, size_t index) {
  SmemStep& s = d_.steps[index];
  s.done = std::max<uint64_t>(c.now, 1);
  if (s.writes && c.ctas[s.cta] != nullptr) keep_values(*c.ctas[s.cta], s);
}

/// Whole lines; drops the values of the oldest writes when there are too many.
void SmemHistory::Impl::keep_values(const Cta& cta, SmemStep& s) {
  const uint32_t first = s.runs.front().begin / kSmemLineBytes * kSmemLineBytes;
  const uint32_t end = std::min(cta.smem.size(), static_cast<uint32_t>((s.runs.back().begin + s.runs.back().bytes + kSmemLineBytes - 1) / kSmemLineBytes * kSmemLineBytes));
  if (end <= first || end - first > value_bytes_) return;
  s.values.resize((end - first + kSmemLineBytes - 1) / kSmemLineBytes * kSmemBanks);
  std::memcpy(s.values.data(), cta.smem.data() + first, end - first);
  kept_ += 4 * s.values.size();
  with_values_.push_back(static_cast<size_t>(&s - d_.steps.data()));
  for (; kept_ > value_bytes_; with_values_.pop_front()) {
    std::vector<uint32_t>& oldest = d_.steps[with_values_.front()].values;
    kept_ -= 4 * oldest.size();
    oldest = {};
    d_.values_dropped = true;
  }
}

}  // namespace drywell::sim
