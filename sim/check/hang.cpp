#include "sim/check/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sim/check/hang_words.h"
#include "sim/check/place_words.h"
#include "sim/schedule/functional.h"
#include "sim/state/payload/barrier.h"

namespace drywell::sim::check {
namespace {

// PTX wants all lanes of the warp there; bar.sync waits for them at other places, too (sim/exec/barrier.cpp).
bool is_aligned(const DecodedOp& op) {
  const auto* barrier = op.get_if<payload::Barrier>();
  return op.aligned || (barrier != nullptr && barrier->aligned);
}

const char* verb(MbarrierEvent e) {
  switch (e) {
    case MbarrierEvent::expect_tx: return "expects bytes";
    case MbarrierEvent::complete_tx: return "delivered bytes";
    default: return "arrived";
  }
}

/// Equal entries of a ledger, added up.
struct Sum {
  uint64_t times = 0;
  int64_t amount = 0;
};
using Key = std::tuple<MbarrierEvent, uint32_t, uint16_t, uint16_t>;  // event, pc, CTA, warp
std::map<Key, Sum> sums(const std::vector<LedgerEntry>& ledger) {
  std::map<Key, Sum> all;
  for (const LedgerEntry& e : ledger) {
    Sum& s = all[{e.what, e.pc, e.cta, e.warp}];
    ++s.times;
    s.amount += e.amount;
  }
  return all;
}

// The event that the lanes of a group wait for: "parity 0 of the mbarrier at 0x400 (bars+0x8) of CTA rank 0".
std::string event_of(const Cta& cta, const Warp& w, const Standing& s, bool alone) {
  if (s.on_mbarrier()) return fmt::format("parity {} of the {}", s.parity, mbarrier_name(*cta.cluster, s.address));
  if (s.reason == BlockReason::warp_sync) return "lanes of its own warp that are elsewhere";
  if (alone || s.reason == w.block.reason) return describe_wait(*cta.cluster, w);
  return s.reason == BlockReason::named_barrier ? "the barrier that it names" : block_reason_name(s.reason);
}

// A warp's places and what it waits for there; lanes that stand apart have a line each.
std::string wait_of(const Cta& cta, const Warp& w) {
  const std::vector<Standing> all = standings(w);
  const auto at = [&](const Standing& s) {
    const GuestPlace p = place_of(w, s.pc, s.lanes);
    return fmt::format("at '{}'{}", p.ptx, source_of(p));
  };
  std::string out = fmt::format("{} for {}", at(all[0]), event_of(cta, w, all[0], all.size() == 1));
  if (all.size() == 1) return out;
  for (const Standing& s : all) {
    out += fmt::format("\n      its lanes {:#010x} are {}{}", s.lanes, at(s), s.reason == BlockReason::none ? "" : ", for " + event_of(cta, w, s, false));
  }
  const bool joined = std::any_of(all.begin(), all.end(), [&](const Standing& s) { return is_aligned(w.cta->cluster->launch->program->code[s.pc]); });
  return out + (joined ? "\n      an .aligned instruction is executed by all lanes of the warp together, at one place of the program" : "");
}

// Warps of a CTA that wait at one place for the same event: one entry of the report.
struct BlockedTogether {
  std::string wait;
  std::vector<uint32_t> warps;
};
std::vector<BlockedTogether> blocked_together(const Cta& cta) {
  std::vector<BlockedTogether> all;
  for (const Warp& w : cta.warps) {
    if (w.finished()) continue;
    std::string wait = wait_of(cta, w);
    const auto same = std::find_if(all.begin(), all.end(), [&](const BlockedTogether& b) { return b.wait == wait; });
    if (same != all.end()) {
      same->warps.push_back(w.index);
    } else {
      all.push_back({std::move(wait), {w.index}});
    }
  }
  return all;
}

std::vector<uint32_t> not_at_barrier(const Cta& cta, const Warp& w) {
  std::vector<uint32_t> missing;
  for (const Warp& other : cta.warps) {
    if ((cta.barriers[w.block.address & 15].arrived_warps >> (other.index & 63) & 1) == 0) missing.push_back(other.index);
  }
  return missing;
}

}  // namespace

std::string HangExplanation::ledger_of(uint32_t address) const {
  const BarrierState* known = mbarriers_.find(address);
  const Mbarrier* m = object(address);
  if (known == nullptr || m == nullptr) return "      it was never initialised\n";
  const BarrierState& b = *known;
  const auto line = [&](const Key& k, const Sum& s) {
    const auto& [what, pc, rank, warp] = k;
    const GuestPlace p = place_of(cluster_.ctas[rank]->warps[warp], pc, 0);
    return fmt::format("{} {} {}: '{}'{}{}", warp_name(cluster_, rank, warp), verb(what), s.amount, p.ptx, source_of(p), s.times > 1 ? fmt::format(", {} times", s.times) : "");
  };
  std::string out;
  if (b.init != 0) {
    const Access& i = accesses_[b.init];
    const GuestPlace p = place_of(cluster_.ctas[i.cta]->warps[i.warp], i.pc, i.lanes);
    out += fmt::format("      initialised by {}: '{}'{}; {} phases completed since\n", warp_name(cluster_, i.cta, i.warp), p.ptx, source_of(p), b.phase - b.base);
  }
  out += fmt::format("      phase {}: {} of {} arrivals missing, {}\n", b.phase - b.base, m->pending, m->expected, bytes_owed(m->tx));
  const auto now = sums(b.ledger), before = sums(b.last_ledger);
  for (const auto& [k, s] : now) out += "        so far: " + line(k, s) + "\n";
  for (const auto& [k, s] : before) {
    if (now.contains(k)) continue;
    out += fmt::format("        in the phase before, and not in this one: {}; that warp {}\n", line(k, s), state_of_warp(cluster_, std::get<2>(k), std::get<3>(k)));
  }
  if (b.ledger.empty() && b.last_ledger.empty()) out += "        no thread has arrived on it\n";
  return out;
}

// One CTA's blocked warps, and what is known of the barriers that they wait for.
std::string HangExplanation::text_of(const Cta& cta, std::string& graph) const {
  std::string out;
  std::set<uint32_t> listed;
  for (const BlockedTogether& b : blocked_together(cta)) {
    const Warp& w = cta.warps[b.warps.front()];
    const std::vector<Standing> places = standings(w);
    const bool several = std::count_if(places.begin(), places.end(), [](const Standing& s) { return s.on_mbarrier(); }) > 1;
    const std::string name = fmt::format("CTA ({},{},{}) {}", cta.index.x, cta.index.y, cta.index.z, warps_name(b.warps));
    out += fmt::format("  {} {} {}\n", name, b.warps.size() == 1 ? "waits" : "wait", b.wait);
    for (const Standing& s : places) {
      if (s.on_mbarrier()) {
        if (several) out += fmt::format("      the {}:\n", mbarrier_name(cluster_, s.address));
        graph += fmt::format("    {} -> mbarrier {:#x}/{}{}\n", name, shared_offset(s.address), shared_rank(s.address), releasers(s.address));
        out += history_of(w, s);
        if (listed.insert(s.address).second) out += ledger_of(s.address);
      } else if (s.reason == BlockReason::named_barrier && w.block.reason == BlockReason::named_barrier) {
        const std::vector<uint32_t> missing = not_at_barrier(cta, w);
        if (!missing.empty()) graph += fmt::format("    {} -> barrier {} -> {}?\n", name, w.block.address, warps_name(missing));
      }
    }
  }
  return out;
}

// CTAs of a cluster mostly wait for the same: their numbers differ, and the times.
std::string HangExplanation::without_cta(std::string text, const Cta& cta) {
  const auto whole = [](std::string_view rest) { return digits_of(rest) == 0; };  // not "rank 12" for 1
  replace_all(text, fmt::format("CTA ({},{},{})", cta.index.x, cta.index.y, cta.index.z), "CTA", whole);
  replace_all(text, fmt::format("CTA rank {}", cta.rank), "CTA rank", whole);
  constexpr std::string_view kTime = "since ";
  for (size_t at = 0; (at = text.find(kTime, at)) != std::string::npos; at += kTime.size() - 1) {
    const size_t digits = digits_of(std::string_view(text).substr(at + kTime.size()));
    if (digits != 0) text.erase(at + kTime.size() - 1, digits + 1);
  }
  return text;
}

std::string HangExplanation::text() const {
  std::string out, graph;
  std::map<std::string, uint32_t> known;
  for (const auto& cta : cluster_.ctas) {
    std::string of_cta;
    const std::string text = text_of(*cta, of_cta);
    const auto [first, fresh] = known.try_emplace(without_cta(text, *cta), cta->rank);
    if (fresh || text.empty()) {
      out += text;
      graph += of_cta;
    } else {
      out += fmt::format("  CTA ({},{},{}) is as CTA rank {}\n", cta->index.x, cta->index.y, cta->index.z, first->second);
    }
  }
  if (!graph.empty()) out += "  who waits for whom:\n" + graph;
  return causes() + out;
}

// "its 5th wait at this place, since 1200": which of several equal waits of a loop it is.
std::string HangExplanation::history_of(const Warp& w, const Standing& s) const {
  const WarpState& state = warps_.of_cta(w.cta->rank)[w.index];
  const auto passed = state.passed.find(s.pc);
  const uint32_t before = passed == state.passed.end() ? 0 : passed->second;
  std::string out = before == 0 ? "      its first wait at this place" : fmt::format("      it has passed this wait {} time{}", before, before == 1 ? "" : "s");
  if (const std::string stage = stage_of(s.address); !stage.empty()) out += "; " + stage;
  if (state.blocked.pc == s.pc && state.blocked.address == s.address)
    out += fmt::format("; it has waited since {}, now is {} (cycles if timed, else instructions)", state.blocked.since, cluster_.now);
  return out + "\n";
}

// mbarriers that one line initialises are stages of a ring, or an array.
std::string HangExplanation::stage_of(uint32_t address) const {
  const std::vector<uint32_t> all = mbarriers_.siblings(address, *cluster_.launch->program);
  if (all.size() < 2) return {};
  const auto at = std::find(all.begin(), all.end(), shared_offset(address)) - all.begin();
  return fmt::format("the mbarrier is number {} of 0 to {} that one line initialises", at, all.size() - 1);
}

// Waits that were true more often than their mbarrier completed phases: said where no barrier is the cause alone.
std::string HangExplanation::repeated_waits() const {
  std::map<std::string, std::vector<uint32_t>> warps;
  for (const auto& cta : cluster_.ctas) {
    for (const Warp& w : cta->warps) {
      std::map<uint32_t, uint32_t> times;  // by pc
      for (const auto& [wait, r] : warps_.of_cta(cta->rank)[w.index].repeated) times[wait.first] += r.times;
      for (const auto& [pc, n] : times) {
        if (n == 0) continue;
        const GuestPlace g = place_of(w, pc, 0);
        warps[fmt::format("of CTA rank {} passed '{}'{} {} time{} for a phase that the same wait had been true for", cta->rank, g.ptx, source_of(g), n, n == 1 ? "" : "s")].push_back(w.index);
      }
    }
  }
  std::string out;
  for (const auto& [what, all] : warps) out += fmt::format("  suspicious: {} {}: its parity may be that of a phase that is over\n", warps_name(all), what);
  return out;
}

// Warps that arrived in the phase before and have not arrived in this one.
HangExplanation::WarpNumbers HangExplanation::late_at(const BarrierState& b) {
  WarpNumbers late;
  for (const LedgerEntry& e : b.last_ledger) late.emplace(e.cta, e.warp);
  for (const LedgerEntry& e : b.ledger) late.erase({e.cta, e.warp});
  return late;
}

std::string HangExplanation::releasers(uint32_t address) const {
  const BarrierState* b = mbarriers_.find(address);
  if (b == nullptr) return "";
  std::string out;
  for (const auto& [cta, warp] : late_at(*b)) out += (out.empty() ? " -> " : ", ") + warp_name(cluster_, cta, warp);
  return out;
}

}  // namespace drywell::sim::check
