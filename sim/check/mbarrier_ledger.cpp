#include "sim/check/mbarrier_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace drywell::sim::check {
namespace {

bool arrives(MbarrierEvent e) { return e == MbarrierEvent::arrive || e == MbarrierEvent::complete_tx; }

std::string place_of(uint32_t address) { return fmt::format("mbarrier at {:#x} of CTA rank {}", shared_offset(address), shared_rank(address)); }

}  // namespace

const BarrierState* MbarrierLedger::find(uint32_t address) const {
  if (shared_rank(address) >= ctas_.size()) return nullptr;
  const auto& all = ctas_[shared_rank(address)];
  const auto found = all.find(shared_offset(address));
  return found == all.end() ? nullptr : &found->second;
}

// An object whose initialisation the checker did not see is followed all the same.
BarrierState& MbarrierLedger::of(uint32_t address) {
  BarrierState& b = ctas_[shared_rank(address)][shared_offset(address)];
  if (b.component == 0) b.component = components_.next();
  return b;
}

AccessId MbarrierLedger::init(uint32_t address, const Access& who) {
  BarrierState& b = of(address);
  if (b.live) {
    const Access& old = accesses_[b.init];
    // Lanes of one instruction that all initialise the same object leave one state.
    if (old.pc == who.pc && old.issuer == who.issuer && old.issued_at == who.issued_at) return 0;
    reporter_.report(Rule::double_init, &old, who, [&] { return fmt::format("{}, phase {}", place_of(address), b.phase); });
  }
  const Component component = b.component;
  const uint32_t before = b.phase;
  b = {};
  b.component = component;
  b.phase = b.base = b.observed = before;
  b.live = true;
  return b.init = accesses_.add(who);
}

// Lanes of one instruction may all end the same object.
void MbarrierLedger::end_of_none(uint32_t address, const BarrierState& b, const Access& who) {
  const Access* before = b.ended == 0 ? nullptr : &accesses_[b.ended];
  if (before != nullptr && before->pc == who.pc && before->issuer == who.issuer && before->issued_at == who.issued_at) return;
  reporter_.report(Rule::inval_of_none, before, who, [&] { return place_of(address); });
}

bool MbarrierLedger::inval(uint32_t address, const Access& who, const Clock& seen) {
  BarrierState& b = of(address);
  if (!b.live) {
    end_of_none(address, b, who);
    return false;
  }
  b.live = false;
  b.ended = accesses_.add(who);
  for (const Access& user : b.users) {
    if (seen[user.issuer] < user.issued_at) reporter_.report(Rule::inval_in_use, &user, who, [&] { return place_of(address); });
  }
  for (const Access& c : b.copies) {
    if (c.done_at == kInFlight || seen[c.done] < c.done_at) reporter_.report(Rule::inval_in_use, &c, who, [&] { return place_of(address); });
  }
  return true;
}

void MbarrierLedger::keep_last(std::vector<Access>& of_warps, const Access& who) {
  const auto known = std::find_if(of_warps.begin(), of_warps.end(), [&](const Access& a) { return a.issuer == who.issuer; });
  known == of_warps.end() ? of_warps.push_back(who) : void(*known = who);
}

void MbarrierLedger::copies_arrive(uint32_t address, const Access& who) {
  if (!ends_) return;
  Access arrival = who;
  arrival.agent = Agent::arrival;
  arrival.done_at = kInFlight;
  keep_last(of(address).copies, arrival);
}

void MbarrierLedger::copies_arrived(uint32_t address, const Access& who) {
  if (!ends_) return;
  const End end = end_of_phase(address);
  for (Access& c : of(address).copies) {
    if (c.issuer != who.issuer || c.issued_at != who.issued_at) continue;
    c.done = end.component;
    c.done_at = end.value;
  }
}

void MbarrierLedger::check_overwritten(uint32_t address, AccessId init) {
  accesses_.at(init).spare = false;
  const auto found = overwritten_.find(init);
  if (found == overwritten_.end()) return;
  reporter_.report(Rule::mbarrier_bytes, &accesses_[init], accesses_[found->second], [&] { return place_of(address); });
  overwritten_.erase(found);
}

void MbarrierLedger::check_init(uint32_t address, const Access& who, const Clock& seen) {
  const BarrierState* b = find(address);
  if (b == nullptr || !b->live || b->init == 0) return;
  if (ends_) keep_last(of(address).users, who);
  check_overwritten(address, b->init);
  const Access& init = accesses_[b->init];
  const bool fenced = init.done != init.issuer && seen[init.done] >= init.done_at;
  if (!fenced && seen[init.issuer] < init.issued_at) reporter_.report(Rule::init_not_seen, &init, who, [&] { return place_of(address); });
}

void MbarrierLedger::check_observed(uint32_t address, const BarrierState& b, MbarrierEvent what, const Access& who) {
  if (arrives(what) && b.phase > b.base && b.observed < b.phase)
    reporter_.report(Rule::phase_not_observed, nullptr, who, [&] { return fmt::format("{}, phase {}", place_of(address), b.phase - b.base); });
}

// Arrivals of later phases are read-modify-writes, so they continue the release sequence.
void MbarrierLedger::complete_phase(uint32_t address) {
  BarrierState& b = of(address);
  b.collecting.seen.raise(b.component, b.phase + 1);
  b.done_wide_home[b.phase & 1] = b.wide_home;
  b.done[b.phase & 1] = b.collecting;
  ++b.phase;
  std::swap(b.last_ledger, b.ledger);
  b.ledger.clear();
}

// A thread that try_wait suspended may resume one phase later.
std::optional<MbarrierLedger::Observed> MbarrierLedger::observe(uint32_t address, uint32_t parity, const Clock& seen) {
  BarrierState& b = of(address);
  const uint32_t phases = b.phase - b.base, waited = (phases & 1) != parity ? phases : phases - 1;
  if (waited == 0 || waited > phases) return std::nullopt;
  b.observed = std::max(b.observed, b.base + waited);
  const uint32_t which = (b.base + waited - 1) & 1;
  return Observed{b.done[which], b.done_wide_home[which], seen[b.component] < b.base + waited, {b.component, b.base + waited}};
}

std::optional<MbarrierLedger::Counted> MbarrierLedger::counted_by(Component c) const {
  for (uint32_t rank = 0; rank < ctas_.size(); ++rank) {
    for (const auto& [offset, b] : ctas_[rank]) {
      if (b.component == c) return Counted{cluster_address(rank, offset), b.base};
    }
  }
  return std::nullopt;
}

std::vector<uint32_t> MbarrierLedger::siblings(uint32_t address, const Program& p) const {
  const BarrierState* own = find(address);
  std::vector<uint32_t> all;
  if (own == nullptr || own->init == 0) return all;
  const auto line = [&](const BarrierState& b) {
    const isa::Instruction& i = p.instruction(p.code[accesses_[b.init].pc]);
    return std::tuple(i.source.file, i.source.file != 0 ? i.source.line : i.ptx_line, i.source.call_site);
  };
  for (const auto& [offset, b] : ctas_[shared_rank(address)]) {
    if (b.init != 0 && line(b) == line(*own)) all.push_back(offset);
  }
  std::sort(all.begin(), all.end());
  return all;
}

void MbarrierLedger::report_given_up(uint32_t rank) const {
  if (overwritten_.empty()) return;
  for (const auto& [offset, b] : ctas_[rank]) {
    const auto found = overwritten_.find(b.init);
    if (found != overwritten_.end()) reporter_.report(Rule::mbarrier_given_up, &accesses_[b.init], accesses_[found->second], [&, at = offset] { return place_of(cluster_address(rank, at)); });
  }
}

void MbarrierLedger::finish(const Cta& cta) const {
  report_given_up(cta.rank);
  for (const Smem::Slot& s : cta.smem.mbarriers()) {
    const BarrierState* b = find(cluster_address(cta.rank, s.offset));
    if (!s.barrier.live || s.barrier.tx == 0 || b == nullptr) continue;
    Access who = accesses_[b->init];
    for (const LedgerEntry& e : b->ledger) {
      if (e.what != MbarrierEvent::expect_tx && e.what != MbarrierEvent::complete_tx) continue;
      who.agent = e.what == MbarrierEvent::expect_tx ? Agent::expect : e.asynchronous ? Agent::load
                                                                                      : Agent::arrival;
      who.write = e.asynchronous;
      who.pc = e.pc;
      who.cta = e.cta;
      who.warp = e.warp;
    }
    reporter_.report(Rule::bytes_left, nullptr, who, [&] {
      return fmt::format("{}, phase {}: {} bytes expected, {} delivered", place_of(cluster_address(cta.rank, s.offset)), b->phase - b->base, s.barrier.tx_expected, s.barrier.tx_completed);
    });
  }
}

}  // namespace drywell::sim::check
