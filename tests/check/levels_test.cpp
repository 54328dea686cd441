// The default level follows every use of a peer, without following bytes.
#include <gtest/gtest.h>

#include <set>

#include "drywell/sim/check.h"
#include "support/async_run.h"

namespace drywell::test {
namespace {

std::set<std::string> codes(const std::string& body) {
  AsyncCase c;
  c.ctas = c.cluster = 2;
  c.body = body;
  sim::HazardChecker checker({.level = sim::CheckLevel::basic});
  run_async(c, {.driver = sim::DriverKind::lazy, .listeners = {checker.listener()}});
  std::set<std::string> all;
  for (const sim::Finding& f : checker.findings()) all.insert(f.code);
  return all;
}

const std::string kPeer = "mov.u32 %r4, smem;\nxor.b32 %r5, rank, 1;\nmapa.shared::cluster.u32 %r6, %r4, %r5;\n";

class PeerUses : public testing::TestWithParam<const char*> {};

TEST_P(PeerUses, AreFollowedAtTheDefaultLevel) {
  const std::string use = kPeer + GetParam();
  EXPECT_EQ(codes(use + cluster_sync()), std::set<std::string>{"H7801"});
  EXPECT_EQ(codes(cluster_sync() + use), std::set<std::string>{"H7802"});
  EXPECT_EQ(codes(cluster_sync() + use + cluster_sync()), std::set<std::string>{});
}
INSTANTIATE_TEST_SUITE_P(Levels, PeerUses,
                         testing::Values("@first st.shared::cluster.b32 [%r6], tid;\n", "ld.shared::cluster.v4.b32 {%r7, %r8, %r9, %r10}, [%r6];\n",
                                         "@first atom.shared::cluster.add.u32 %r7, [%r6], 1;\n", "@first red.shared::cluster.add.u32 [%r6], 1;\n"),
                         [](const auto& i) { return std::to_string(i.index); });

}  // namespace
}  // namespace drywell::test
