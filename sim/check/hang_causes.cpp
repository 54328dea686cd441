// Which barriers a deadlock comes from, and which waits only follow.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sim/check/hang.h"
#include "sim/check/hang_words.h"
#include "sim/check/wait_roles.h"

namespace drywell::sim::check {
namespace {

bool came(const BarrierState& b) { return !b.ledger.empty() || !b.last_ledger.empty(); }

}  // namespace

// Barriers that nothing can complete, the surest first: a wait for an mbarrier on which nobody has ever arrived mostly follows from another one.
HangExplanation::Lacks HangExplanation::lacks() const {
  Lacks all;
  std::set<uint32_t> seen;
  const std::set<uint32_t> parities = wrong_parities();
  for (const auto& cta : cluster_.ctas) {
    for (const Warp& w : cta->warps) {
      if (w.finished()) continue;
      for (const Standing& s : standings(w)) {
        if (s.on_mbarrier() && seen.insert(s.address).second && nothing_completes(s.address)) add_lack(s.address, all[parities.contains(s.address) ? Certainty::parity : certainty_of(s.address)]);
      }
    }
  }
  return all;
}

// Fresh mbarriers on which nobody has arrived: who uses what is in a place waits for parity 0, and who fills one begins with parity 1, which is true
// at once. A thread that fills, and waits for parity 0, has begun with the wrong one. Empty if that is not the only kind of thread that waits so.
std::set<uint32_t> HangExplanation::wrong_parities() const {
  std::set<uint32_t> filled, others;
  for (const auto& cta : cluster_.ctas) {
    for (const Warp& w : cta->warps) {
      for (const Standing& s : w.finished() ? std::vector<Standing>{} : standings(w)) {
        const BarrierState* b = s.on_mbarrier() ? mbarriers_.find(s.address) : nullptr;
        if (b == nullptr) continue;
        const bool fresh = b->phase == b->base && s.parity == 0 && certainty_of(s.address) == Certainty::possible;
        const bool fills = fresh && role_of_wait(*cluster_.launch->program, s.pc) == WaitRole::fills;
        (fills ? filled : others).insert(s.address);
      }
    }
  }
  for (const uint32_t address : others) filled.erase(address);
  return others.empty() ? std::set<uint32_t>{} : filled;
}

// Equal barriers of several CTAs are one entry.
void HangExplanation::add_lack(uint32_t address, SameLacks& all) const {
  const uint32_t rank = shared_rank(address);
  std::string lack = without_cta(lack_of(address), *cluster_.ctas[rank]);
  const auto same = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.first == lack; });
  (same == all.end() ? all.emplace_back(std::move(lack), std::vector<uint32_t>{}) : *same).second.push_back(rank);
}

std::string HangExplanation::causes() const {
  Lacks all = lacks();
  std::string out;
  for (const Certainty c : {Certainty::sure, Certainty::likely, Certainty::parity, Certainty::possible}) {
    if (c == Certainty::likely && out.empty()) out = repeated_waits() + circle();
    out += lines_of(all[c], c, !out.empty());
  }
  return out;
}

std::string HangExplanation::lines_of(const SameLacks& all, Certainty c, bool follows) const {
  const bool one_of_them = !follows && c == Certainty::possible && all.size() > 1;
  std::string out = one_of_them ? "  the cause is one of these, and the others follow from it:\n" : "";
  for (auto [lack, ranks] : all) {
    replace_all(lack, "CTA rank", numbered("CTA rank", ranks), [](std::string_view rest) { return !rest.starts_with(' ') || digits_of(rest.substr(1)) == 0; });
    out += (one_of_them ? "    " : follows ? "  it may follow from that: "
                                           : "  the cause: ") +
           lack + (c == Certainty::parity ? "; who waits fills a place that nothing has used yet: such a wait begins with parity 1" : "") + "\n";
  }
  if (one_of_them) out += "    (a wait for parity 1 of a fresh mbarrier is true at once: so begins who waits for a free slot)\n";
  return out;
}

HangExplanation::Certainty HangExplanation::certainty_of(uint32_t address) const {
  const BarrierState* b = mbarriers_.find(address);
  const Mbarrier* m = object(address);
  if (b == nullptr || m == nullptr || m->pending == 0 || !b->last_ledger.empty() || !others_live(address)) return Certainty::sure;
  return came(*b) || came_to_a_peer(address) ? Certainty::likely : Certainty::possible;
}

// A warp that could still come: it has not arrived, and waits for something else.
bool HangExplanation::others_live(uint32_t address) const {
  const BarrierState& b = *mbarriers_.find(address);
  const auto could_come = [&](const Warp& w) {
    const std::vector<Standing> all = w.finished() ? std::vector<Standing>{} : standings(w);
    const bool has = std::any_of(b.ledger.begin(), b.ledger.end(), [&](const LedgerEntry& e) { return e.cta == w.cta->rank && e.warp == w.index; });
    return !w.finished() && !has && std::none_of(all.begin(), all.end(), [&](const Standing& s) { return s.on_mbarrier() && s.address == address; });
  };
  return std::any_of(cluster_.ctas.begin(), cluster_.ctas.end(), [&](const auto& cta) { return std::any_of(cta->warps.begin(), cta->warps.end(), could_come); });
}

// The mbarrier at this place of another CTA has been arrived on.
bool HangExplanation::came_to_a_peer(uint32_t address) const {
  return std::any_of(cluster_.ctas.begin(), cluster_.ctas.end(), [&](const auto& cta) {
    const BarrierState* b = mbarriers_.find(cluster_address(cta->rank, shared_offset(address)));
    return b != nullptr && came(*b);
  });
}

// "32768 bytes delivered and not expected (65536 delivered, 32768 expected (PLACE)".
std::string HangExplanation::bytes_of(uint32_t address) const {
  const Mbarrier& m = *object(address);
  std::set<std::string> places;
  for (const LedgerEntry& e : mbarriers_.find(address)->ledger) {
    if (e.what == MbarrierEvent::expect_tx) places.insert(source_of(place_of(cluster_.ctas[e.cta]->warps[e.warp], e.pc, 0)));
  }
  std::string at;
  for (const std::string& p : places) at += p;
  return fmt::format("{}: {} delivered, {} expected{}", bytes_owed(m.tx), m.tx_completed, m.tx_expected, at);
}

bool HangExplanation::nothing_completes(uint32_t address) const {
  const BarrierState* b = mbarriers_.find(address);
  if (b == nullptr) return true;
  for (const auto& [cta, warp] : late_at(*b)) {
    const Warp& w = cluster_.ctas[cta]->warps[warp];
    if (w.finished()) continue;
    const std::vector<Standing> all = standings(w);
    if (std::none_of(all.begin(), all.end(), [&](const Standing& s) { return s.on_mbarrier() && s.address == address; })) return false;
  }
  return true;
}

std::string HangExplanation::lack_of(uint32_t address) const {
  const BarrierState* b = mbarriers_.find(address);
  const Mbarrier* m = object(address);
  const std::string name = mbarrier_name(cluster_, address);
  if (b == nullptr || m == nullptr) return name + " was never initialised";
  std::string out = fmt::format("phase {} of the {} (parity {}) is incomplete", b->phase - b->base, name, m->phase & 1);
  if (m->pending != 0) out += fmt::format(", {} of {} arrivals are missing", m->pending, m->expected);
  if (m->tx != 0) out += ", " + bytes_of(address);
  const auto late = late_at(*b);
  for (const auto& [cta, warp] : late) out += fmt::format("; {} came in the phase before and {}", warp_name(cluster_, cta, warp), state_of_warp(cluster_, cta, warp));
  if (late.empty() && m->pending != 0) out += "; " + arrived_at(*b) + exited_before(*b, shared_rank(address));
  if (!came(*b) && came_to_a_peer(address)) out += "; that of another CTA has been arrived on";
  for (const auto& [cta, warp] : late.empty() ? late_by_neighbours(address) : WarpNumbers{})
    out += fmt::format("; {}, which arrives on other mbarriers of that line of initialisation, {}", warp_name(cluster_, cta, warp), state_of_warp(cluster_, cta, warp));
  return out;
}

// In the first phase no phase before tells who should come. The stages of a ring have the same arrivals: warps that arrived on another mbarrier
// of equal count, at the line at which others arrived on this one.
HangExplanation::WarpNumbers HangExplanation::late_by_neighbours(uint32_t address) const {
  const BarrierState& own = *mbarriers_.find(address);
  const Program& p = *cluster_.launch->program;
  const auto line = [&](const LedgerEntry& e) {
    const isa::Instruction& i = p.instruction(p.code[e.pc]);
    return std::pair(i.source.file, i.source.file != 0 ? i.source.line : i.ptx_line);
  };
  std::set<std::pair<uint32_t, uint32_t>> lines;
  for (const LedgerEntry& e : own.ledger)
    if (e.what == MbarrierEvent::arrive) lines.insert(line(e));
  WarpNumbers late;
  for (const uint32_t offset : mbarriers_.siblings(address, p)) {
    const uint32_t other = cluster_address(shared_rank(address), offset);
    const BarrierState& b = *mbarriers_.find(other);
    if (object(other) == nullptr || object(other)->expected != object(address)->expected) continue;
    for (const auto* ledger : {&b.ledger, &b.last_ledger}) {
      for (const LedgerEntry& e : *ledger)
        if (e.what == MbarrierEvent::arrive && lines.contains(line(e))) late.emplace(e.cta, e.warp);
    }
  }
  for (const LedgerEntry& e : own.ledger) late.erase({e.cta, e.warp});
  return late;
}

std::string HangExplanation::arrived_at(const BarrierState& b) const {
  std::set<std::pair<uint16_t, uint16_t>> here;
  for (const LedgerEntry& e : b.ledger) here.emplace(e.cta, e.warp);
  if (here.empty()) return b.last_ledger.empty() ? "no thread has arrived on it" : "no thread has arrived in this phase";
  std::string out = b.last_ledger.empty() ? "so far" : "all came that came in the phase before:";
  for (const auto& [cta, warp] : here) out += (out.ends_with(":") || out == "so far" ? " " : ", ") + warp_name(cluster_, cta, warp);
  return out + (b.last_ledger.empty() ? " alone came" : "");
}

// Warps of the mbarrier's CTA that will never arrive.
std::string HangExplanation::exited_before(const BarrierState& b, uint32_t rank) const {
  std::vector<uint32_t> gone;
  for (const Warp& w : cluster_.ctas[rank]->warps) {
    const bool came = std::any_of(b.ledger.begin(), b.ledger.end(), [&](const LedgerEntry& e) { return e.cta == rank && e.warp == w.index; });
    if (w.finished() && !came) gone.push_back(w.index);
  }
  return gone.empty() ? "" : fmt::format("; {} {} exited", warps_name(gone), gone.size() == 1 ? "has" : "have");
}

}  // namespace drywell::sim::check
