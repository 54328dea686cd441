// The checker's state of one cluster, in parts.
#pragma once

#include <vector>

#include "sim/check/flags.h"
#include "sim/check/mbarrier_ledger.h"
#include "sim/check/memory_shadow.h"
#include "sim/check/repeated_stores.h"
#include "sim/check/scale_use.h"

namespace drywell::sim::check {

struct ClusterParts;
/// The missing part of the order between two accesses of a finding.
std::string describe_order(const ClusterParts& parts, Rule rule, const Access& prior, const Access& now);

struct ClusterParts {
  ClusterParts(const Cluster& c, const LaunchState& l)
      : cluster(c), launch(l), reporter(l.options.most), warps(c, l, components), mbarriers(c.ctas.size(), l.ends_mbarriers, components, accesses, reporter), lifetimes(warps, accesses, reporter), unused(l, warps, accesses, reporter), memory(c, l, accesses, reporter, lifetimes, unused, mbarriers), flags(c.ctas.size() > 1), scales(c.ctas.size()) {
    reporter.begin(*l.program);
    reporter.describe_with([this](Rule r, const Access& prior, const Access& now) { return describe_order(*this, r, prior, now); });
  }
  ClusterParts(const ClusterParts&) = delete;  // the parts hold references to each other
  ClusterParts& operator=(const ClusterParts&) = delete;

  WarpState& state_of(const Warp& w) { return warps.of(w); }
  uint32_t pc_of(const DecodedOp& op) const { return static_cast<uint32_t>(launch.pc_of(op)); }
  /// The access that those lanes make with the instruction at `op`.
  Access access(const Warp& w, const DecodedOp& op, LaneMask lanes, Agent agent, bool write) { return warps.access(w, pc_of(op), lanes, agent, write); }

  const Cluster& cluster;
  const LaunchState& launch;
  Components components;
  AccessTable accesses;
  Reporter reporter;
  Warps warps;
  MbarrierLedger mbarriers;
  Lifetimes lifetimes;
  UnusedReads unused;
  MemoryShadow memory;
  RepeatedStores repeated;
  Flags flags;
  std::vector<ScaleUse> scales;  // by CTA
};

}  // namespace drywell::sim::check
