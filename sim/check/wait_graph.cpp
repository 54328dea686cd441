// The graph of a deadlock, as data: HangExplanation::text (hang.cpp) describes the same in words.
#include <fmt/format.h>

#include <map>
#include <set>

#include "sim/check/hang.h"
#include "sim/check/place_words.h"
#include "sim/schedule/functional.h"

namespace drywell::sim::check {
namespace {

std::string line_of(const GuestPlace& p) {
  const std::string ptx = p.ptx.size() > 60 ? p.ptx.substr(0, 57) + "..." : p.ptx;
  return ptx + source_of(p);
}

class GraphMaker {
 public:
  explicit GraphMaker(const Cluster& c) : cluster_(c) {}

  size_t warp(const Warp& w) {
    const auto [at, made] = warps_.try_emplace({w.cta->rank, w.index}, graph.nodes.size());
    if (!made) return at->second;
    WaitGraph::Node n;
    n.kind = w.finished() ? WaitGraph::Node::Kind::other : WaitGraph::Node::Kind::blocked;
    n.lines.push_back(warp_name(cluster_, w.cta->rank, w.index));
    n.lines.push_back(w.finished() ? "has exited" : line_of(place_of(w, w.pc, w.active)));
    graph.nodes.push_back(std::move(n));
    return at->second;
  }
  size_t barrier(const std::string& name, std::vector<std::string> about) {
    const auto [at, made] = barriers_.try_emplace(name, graph.nodes.size());
    if (!made) return at->second;
    about.insert(about.begin(), name);
    graph.nodes.push_back({WaitGraph::Node::Kind::barrier, std::move(about)});
    return at->second;
  }
  /// Returns false if the edge exists already.
  bool edge(size_t from, size_t to, std::string label) {
    if (!edges_.emplace(from, to).second) return false;
    graph.edges.push_back({from, to, std::move(label)});
    return true;
  }

  WaitGraph graph;

 private:
  const Cluster& cluster_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> warps_;
  std::map<std::string, size_t> barriers_;
  std::set<std::pair<size_t, size_t>> edges_;
};

// The places of a warp's lanes.
std::vector<std::string> places(const Warp& w, const std::vector<Standing>& all) {
  std::vector<std::string> lines;
  for (const Standing& s : all) lines.push_back(fmt::format("lanes {:#010x} are at {}", s.lanes, line_of(place_of(w, s.pc, s.lanes))));
  return lines;
}

}  // namespace

WaitGraph HangExplanation::graph() const {
  GraphMaker g(cluster_);
  const auto mbarrier = [&](const Warp& w, const Standing& s, size_t from) {
    const uint32_t address = s.address;
    const Mbarrier* m = object(address);
    std::vector<std::string> about;
    if (m != nullptr) {
      about.push_back(fmt::format("{} of {} arrivals missing", m->pending, m->expected));
      if (m->tx != 0) about.push_back(bytes_owed(m->tx));
    }
    const size_t b = g.barrier(fmt::format("mbarrier {:#x} of CTA rank {}", shared_offset(address), shared_rank(address)), std::move(about));
    g.edge(from, b, s.lanes == w.alive ? fmt::format("waits for parity {}", s.parity) : fmt::format("lanes {:#010x} wait for parity {}", s.lanes, s.parity));
    const BarrierState* known = mbarriers_.find(address);
    if (known == nullptr) return;
    std::set<std::pair<uint16_t, uint16_t>> here;
    for (const LedgerEntry& e : known->ledger) {
      here.emplace(e.cta, e.warp);
      g.edge(b, g.warp(cluster_.ctas[e.cta]->warps[e.warp]), "has arrived");
    }
    for (const LedgerEntry& e : known->last_ledger) {
      if (!here.contains({e.cta, e.warp})) g.edge(b, g.warp(cluster_.ctas[e.cta]->warps[e.warp]), "came in the phase before");
    }
  };
  const auto named = [&](const Cta& cta, const Warp& w, size_t from) {
    const NamedBarrier& n = cta.barriers[w.block.address & 15];
    const size_t b = g.barrier(fmt::format("barrier {} of CTA rank {}", w.block.address, cta.rank), {fmt::format("{} of {} threads have arrived", n.arrived, n.expected)});
    g.edge(from, b, "waits");
    for (const Warp& other : cta.warps) {
      if ((n.arrived_warps >> (other.index & 63) & 1) == 0) g.edge(b, g.warp(other), "has not arrived");
    }
  };
  for (const auto& cta : cluster_.ctas) {
    for (const Warp& w : cta->warps) {
      if (w.finished()) continue;
      const size_t from = g.warp(w);
      const std::vector<Standing> all = standings(w);
      for (const Standing& s : all) {
        if (s.on_mbarrier()) mbarrier(w, s, from);
      }
      if (w.block.reason == BlockReason::named_barrier) {
        named(*cta, w, from);
      } else if (all.size() > 1) {
        g.edge(from, g.barrier("lanes of " + warp_name(cluster_, w.cta->rank, w.index), places(w, all)), "waits");
      } else if (!all[0].on_mbarrier()) {
        g.edge(from, g.barrier(block_reason_name(w.block.reason), {}), "waits");
      }
    }
  }
  return std::move(g.graph);
}

}  // namespace drywell::sim::check
