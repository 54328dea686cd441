#include "sim/check/hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "sim/check/place_words.h"
#include "sim/schedule/functional.h"

namespace drywell::sim::check {
namespace {

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

std::string state_of_warp(const Cluster& c, uint32_t cta, uint32_t warp) {
  const Warp& w = c.ctas[cta]->warps[warp];
  if (w.finished()) return "has exited";
  if (w.block.reason == BlockReason::mbarrier)
    return fmt::format("waits itself, for the mbarrier at {:#x} of CTA rank {}, parity {}", shared_offset(w.block.address), shared_rank(w.block.address), w.block.parity);
  return fmt::format("waits itself, for {}", block_reason_name(w.block.reason));
}

// Lanes of a warp that are at different places: an .aligned instruction waits until all of them reach it.
std::string lane_groups(const Warp& w) {
  std::string out;
  const auto add = [&](uint32_t pc, LaneMask lanes) {
    const GuestPlace p = place_of(w, pc, lanes);
    out += fmt::format("      its lanes {:#010x} are at '{}'{}\n", lanes, p.ptx, source_of(p));
  };
  add(w.pc, w.active);
  for (const LaneGroup& g : w.waiting) add(g.pc, g.lanes);
  return w.waiting.empty() ? "" : out + "      an .aligned instruction is executed by all lanes of the warp together, at one place of the program\n";
}

// "warp 3", "warps 0, 2 to 5".
std::string warps_name(const std::vector<uint32_t>& warps) {
  std::string out = warps.size() == 1 ? "warp " : "warps ";
  for (size_t i = 0; i < warps.size(); ++i) {
    size_t last = i;
    while (last + 1 < warps.size() && warps[last + 1] == warps[last] + 1) ++last;
    out += fmt::format("{}{}", i == 0 ? "" : ", ", warps[i]);
    if (last > i) out += fmt::format("{}{}", last == i + 1 ? ", " : " to ", warps[last]);
    i = last;
  }
  return out;
}

// A warp's place and the event that it waits for: "at 'mbarrier.try_wait…' (x.cu:3) for parity 0 of the mbarrier at 0x400 of CTA rank 0".
std::string wait_of(const Cta& cta, const Warp& w) {
  const GuestPlace p = place_of(w, w.pc, w.active);
  std::string out = fmt::format("at '{}'{} for ", p.ptx, source_of(p));
  if (w.block.reason == BlockReason::mbarrier)
    return out + fmt::format("parity {} of the mbarrier at {:#x} of CTA rank {}", w.block.parity, shared_offset(w.block.address), shared_rank(w.block.address));
  return out + describe_wait(*cta.cluster, w);
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
    // Warps whose lanes are at different places have one entry each.
    if (same != all.end() && w.block.reason != BlockReason::warp_sync) {
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

std::string HangExplanation::text() const {
  std::string out, graph;
  std::set<uint32_t> listed;
  for (const auto& cta : cluster_.ctas) {
    for (const BlockedTogether& b : blocked_together(*cta)) {
      const Warp& w = cta->warps[b.warps.front()];
      const std::string name = fmt::format("CTA ({},{},{}) {}", cta->index.x, cta->index.y, cta->index.z, warps_name(b.warps));
      out += fmt::format("  {} {} {}\n", name, b.warps.size() == 1 ? "waits" : "wait", b.wait);
      if (w.block.reason == BlockReason::mbarrier) {
        graph += fmt::format("    {} -> mbarrier {:#x}/{}{}\n", name, shared_offset(w.block.address), shared_rank(w.block.address), releasers(w.block.address));
        if (listed.insert(w.block.address).second) out += ledger_of(w.block.address);
      } else if (w.block.reason == BlockReason::named_barrier) {
        const std::vector<uint32_t> missing = not_at_barrier(*cta, w);
        if (!missing.empty()) graph += fmt::format("    {} -> barrier {} -> {}?\n", name, w.block.address, warps_name(missing));
      } else if (w.block.reason == BlockReason::warp_sync) {
        out += lane_groups(w);
      }
    }
  }
  if (!graph.empty()) out += "  who waits for whom:\n" + graph;
  return out;
}

// Warps that arrived in the phase before and have not arrived in this one.
std::string HangExplanation::releasers(uint32_t address) const {
  const BarrierState* b = mbarriers_.find(address);
  if (b == nullptr) return "";
  std::set<std::pair<uint16_t, uint16_t>> late, here;
  for (const LedgerEntry& e : b->last_ledger) late.emplace(e.cta, e.warp);
  for (const LedgerEntry& e : b->ledger) here.emplace(e.cta, e.warp);
  std::string out;
  for (const auto& [cta, warp] : late) {
    if (!here.contains({cta, warp})) out += (out.empty() ? " -> " : ", ") + warp_name(cluster_, cta, warp);
  }
  return out;
}

}  // namespace drywell::sim::check
