// The graph of a deadlock, as data: HangExplanation::text (hang.cpp) describes the same in words.
#include <fmt/format.h>

#include <algorithm>
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

constexpr const char* kArrived = "has arrived";

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

std::string mbarrier_node(const Cluster& c, uint32_t address) {
  const std::string variable = shared_variable_at(*c.launch->program, shared_offset(address));
  return fmt::format("mbarrier {:#x}{} of CTA rank {}", shared_offset(address), variable.empty() ? "" : " (" + variable + ")", shared_rank(address));
}

// Looks for a circle of nodes of which each waits for the next. Edges of arrivals that have happened are no waits.
class CircleSearch {
 public:
  explicit CircleSearch(const WaitGraph& g) : graph_(g), next_(g.nodes.size()), visited_(g.nodes.size()) {
    for (const WaitGraph::Edge& e : g.edges)
      if (e.label != kArrived) next_[e.from].push_back(e.to);
  }
  /// Returns the nodes of a circle, the first one again at the end; empty if there is no circle.
  std::vector<size_t> run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      if (visit(n)) return path_;
    return {};
  }

 private:
  bool visit(size_t n) {
    const auto before = std::find(path_.begin(), path_.end(), n);
    if (before != path_.end()) {
      path_.erase(path_.begin(), before);
      path_.push_back(n);
      return true;
    }
    if (visited_[n]) return false;
    visited_[n] = true;
    path_.push_back(n);
    if (std::any_of(next_[n].begin(), next_[n].end(), [&](size_t to) { return visit(to); })) return true;
    path_.pop_back();
    return false;
  }

  const WaitGraph& graph_;
  std::vector<std::vector<size_t>> next_;
  std::vector<bool> visited_;
  std::vector<size_t> path_;
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
    const size_t b = g.barrier(mbarrier_node(cluster_, address), std::move(about));
    g.edge(from, b, s.lanes == w.alive ? fmt::format("waits for parity {}", s.parity) : fmt::format("lanes {:#010x} wait for parity {}", s.lanes, s.parity));
    const BarrierState* known = mbarriers_.find(address);
    if (known == nullptr) return;
    std::set<std::pair<uint16_t, uint16_t>> here;
    for (const LedgerEntry& e : known->ledger) {
      here.emplace(e.cta, e.warp);
      g.edge(b, g.warp(cluster_.ctas[e.cta]->warps[e.warp]), kArrived);
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

std::string HangExplanation::circle() const {
  const WaitGraph g = graph();
  std::string out;
  for (const size_t n : CircleSearch(g).run()) out += (out.empty() ? "" : " -> ") + g.nodes[n].lines.front();
  return out.empty() ? out : "  a circle of waits: " + out + "\n";
}

}  // namespace drywell::sim::check
