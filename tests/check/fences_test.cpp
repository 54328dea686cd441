// Fences in the checker: releases, acquires and proxies (PTX ISA 9.7.13.4, 9.7.16.11).
#include "sim/check/fences.h"

#include <gtest/gtest.h>

#include "tests/check/made_cluster.h"

namespace drywell::sim::check {
namespace {

/// One fence, executed by warp 0.
struct Fence {
  using Effect = void (Fences::*)(const Warp&, const DecodedOp&, LaneMask);
  Fence(const std::string& text, Effect e) : made(text + ";"), effect(e) {}
  WarpClock& execute() {
    made.pass(made.warp(0), fences, effect);
    return made.clock(0);
  }
  MadeCluster made;
  Fences fences{*made.parts};
  Effect effect;
};

TEST(Fences, AReleasingFenceKeepsThePresentForRelaxedArrivals) {
  Fence f("fence.acq_rel.gpu", &Fences::threads);
  const uint32_t then = f.made.clock(0).time();
  const WarpClock& c = f.execute();
  EXPECT_EQ(c.fenced.seen[c.self], then);
  EXPECT_EQ(c.time(), then + 1) << "what follows is not released";
  EXPECT_NE(c.fenced.wide.size(), 0u);
  EXPECT_TRUE(c.fenced_cross_cluster);
}

TEST(Fences, TheScopeLimitsWhatItReleases) {
  Fence cta("fence.acq_rel.cta", &Fences::threads), cluster("fence.acq_rel.cluster", &Fences::threads);
  EXPECT_EQ(cta.execute().fenced.wide.size(), 0u);
  const WarpClock& c = cluster.execute();
  EXPECT_NE(c.fenced.wide.size(), 0u);
  EXPECT_FALSE(c.fenced_cross_cluster);
}

TEST(Fences, AnAcquiringFenceMakesRelaxedWaitsTakeEffect) {
  Fence f("fence.acq_rel.cta", &Fences::threads);
  WarpClock& before = f.made.clock(0);
  const Component other = f.made.clock(1).self;
  before.observed.seen.raise(other, 7);
  EXPECT_LT(before.now.seen[other], 7u);
  const WarpClock& c = f.execute();
  EXPECT_EQ(c.now.seen[other], 7u);
  EXPECT_EQ(c.fenced.seen[other], 7u) << "acquired first, then released";
  EXPECT_EQ(c.observed.seen.size(), 0u);
}

TEST(Fences, TheInitialisationFenceReleasesTheInitialisationsAlone) {
  Fence f("fence.mbarrier_init.release.cluster", &Fences::mbarrier_init);
  f.made.clock(0).inits = f.made.parts->components.next();
  const uint32_t released = f.made.clock(0).fenced.seen[f.made.clock(0).self], then = f.made.clock(0).time();
  const WarpClock& c = f.execute();
  EXPECT_EQ(c.fenced.seen[c.inits], then);
  EXPECT_EQ(c.fenced.seen[c.self], released);
}

TEST(Fences, AProxyFenceCoversItsSpaces) {
  const auto covered = [](const std::string& text) {
    Fence f(text, &Fences::async_proxy);
    const WarpClock& c = f.execute();
    return std::pair(c.now.proxy_shared[c.self] != 0, c.now.proxy_global[c.self] != 0);
  };
  EXPECT_EQ(covered("fence.proxy.async"), std::pair(true, true));
  EXPECT_EQ(covered("fence.proxy.async.global"), std::pair(false, true));
  EXPECT_EQ(covered("fence.proxy.async.shared::cta"), std::pair(true, false));
}

TEST(Fences, AnAcquireOfTheProxiesAcquiresAndCovers) {
  Fence f("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", &Fences::async_generic);
  const Component other = f.made.clock(1).self;
  f.made.clock(0).observed.seen.raise(other, 7);
  const WarpClock& c = f.execute();
  EXPECT_EQ(c.now.seen[other], 7u);
  EXPECT_EQ(c.now.proxy_shared[other], 7u);
  EXPECT_LT(c.fenced.seen[other], 7u) << "it releases nothing";
}

TEST(Fences, ReleaseAndAcquireOfTensorWorkAreApart) {
  Fence before("tcgen05.fence::before_thread_sync", &Fences::tensor_before), after("tcgen05.fence::after_thread_sync", &Fences::tensor_after);
  const uint32_t then = before.made.clock(0).time();
  const WarpClock& b = before.execute();
  EXPECT_EQ(b.tensor_released[b.self], then);
  after.made.clock(0).tensor_observed.raise(9, 4);
  const WarpClock& a = after.execute();
  EXPECT_EQ(a.now.tensor[9], 4u);
  EXPECT_EQ(a.tensor_released.size(), 0u);
}

}  // namespace
}  // namespace drywell::sim::check
