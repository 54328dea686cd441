// Clusters on a group's SMs: where their CTAs and warps are, and when they end (docs/function-vs-time.md, "Sub-partitions").
#include "sim/timing/residents.h"

#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "sim/exec/decode.h"

namespace drywell::sim {
namespace {

using State = WarpIssueState::State;

/// Clusters of two CTAs with five warps each, on two SMs of four sub-partitions.
struct OnTwoSms : testing::Test {
  OnTwoSms() {
    launch.arch = &arch;
    launch.program = program.get();
    launch.grid = {8};
    launch.cluster = {2};
    launch.block = {5 * kWarpSize};
    launch.smem_bytes = kSmemReserved;
  }
  uint32_t begin(uint64_t cluster, Time t) { return residents.begin(residents.announce(cluster), t); }
  void end_all_warps(uint32_t place) {
    for (const uint32_t id : residents.at(place).warps) residents.end_warp(residents.warp(id));
  }

  const ArchConfig arch = load_arch("sm_100a");
  const isa::Module module = isa::parse_ptx_or_throw(".version 8.6\n.target sm_100a\n.address_size 64\n.entry k()\n{\nret;\n}\n", "two.ptx");
  const std::unique_ptr<Program> program = decode(module, module.functions[0], {});
  const TimedProgram timed{*program, arch};
  Launch launch;
  const TimingContext context{.launch = &launch, .arch = &arch, .program = &timed, .roles = {"warps"}, .role_of_warp = {0, 0, 0, 0, 0}};
  std::vector<SmUnits> sms = make_sms(arch, 6, 2);
  StallAccount account{context};
  Residents residents{context, sms, account};
};

TEST_F(OnTwoSms, ACtasRankIsItsSmAndAWarpsIndexItsSubPartition) {
  const Resident& r = residents.at(begin(3, 100));
  ASSERT_EQ(r.warps.size(), 10u);
  EXPECT_EQ(r.cluster->index, 3u);
  EXPECT_EQ(r.cluster->ctas[1]->sm, 7u);
  EXPECT_EQ(r.cluster->ctas[1]->tmem, sms[1].tensor_memory.get());
  const WarpIssueState& last = residents.warp(r.warps[9]);
  EXPECT_EQ(last.warp, &r.cluster->ctas[1]->warps[4]);
  EXPECT_EQ(last.unit, &sms[1].partitions[0]) << "the fifth of four";
  EXPECT_EQ(last.hold, 100u);
}

TEST_F(OnTwoSms, AClusterIsResidentFromItsAnnouncementToItsEnd) {
  EXPECT_TRUE(residents.none());
  const uint32_t announced = residents.announce(1);
  EXPECT_FALSE(residents.none()) << "its event is queued";
  EXPECT_FALSE(residents.holds(1));
  const uint32_t place = residents.begin(announced, 0);
  EXPECT_TRUE(residents.holds(1));
  end_all_warps(place);
  EXPECT_FALSE(residents.end_if_complete(place, 50).has_value());
  EXPECT_TRUE(residents.none());
  ASSERT_EQ(residents.finished.size(), 1u);
  EXPECT_EQ(residents.finished[0].cluster, 1u);
  EXPECT_EQ(residents.finished[0].at, 50u);
}

TEST_F(OnTwoSms, ItDoesNotEndBeforeItsWarpsAndItsOperations) {
  const uint32_t place = begin(0, 0);
  residents.end_if_complete(place, 10);
  EXPECT_TRUE(residents.holds(0)) << "its warps run";
  end_all_warps(place);
  residents.at(place).cluster->pending.emplace_back();
  residents.end_if_complete(place, 20);
  EXPECT_TRUE(residents.holds(0)) << "an operation is in flight";
  residents.at(place).cluster->pending.clear();
  residents.end_if_complete(place, 30);
  EXPECT_FALSE(residents.holds(0));
}

TEST_F(OnTwoSms, TensorMemoryThatIsAllocatedAtTheEndIsAFault) {
  const uint32_t place = begin(0, 0);
  Cta& cta = *residents.at(place).cluster->ctas[0];
  cta.tmem->allocate(0, 32, cta.serial + 1);
  end_all_warps(place);
  const auto fault = residents.end_if_complete(place, 10);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->code, Code::F3214);
  EXPECT_TRUE(residents.holds(0)) << "for the report";
}

TEST_F(OnTwoSms, PlacesAndWarpsAreUsedAgain) {
  const uint32_t place = begin(0, 0);
  const std::vector<uint32_t> warps = residents.at(place).warps;
  const uint64_t serial = residents.warp(warps[0]).serial;
  end_all_warps(place);
  residents.end_if_complete(place, 10);
  EXPECT_EQ(residents.warp(warps[0]).state, State::none);
  EXPECT_EQ(begin(1, 20), place);
  std::vector<uint32_t> again = residents.at(place).warps;
  std::sort(again.begin(), again.end());
  EXPECT_EQ(again, warps);
  EXPECT_GT(residents.warp(warps[0]).serial, serial + 1) << "events of the warp before are void";
}

TEST_F(OnTwoSms, ProgressOutlivesItsCluster) {
  const uint32_t place = begin(0, 0);
  const uint64_t before = residents.progress();
  end_all_warps(place);
  const uint64_t ended = residents.progress();
  EXPECT_GT(ended, before);
  residents.end_if_complete(place, 10);
  EXPECT_GT(residents.progress(), ended);
}

TEST_F(OnTwoSms, QueriesSeeWhatIsResident) {
  begin(2, 0);
  const uint32_t place = begin(1, 0);
  EXPECT_EQ(residents.first()->index, 1u);
  std::vector<Cluster*> all;
  residents.add_clusters(all);
  EXPECT_EQ(all.size(), 2u);
  const Warp& warp = residents.at(place).cluster->ctas[0]->warps[0];
  EXPECT_EQ(residents.find(warp), nullptr) << "not scheduled yet";
  residents.warp(residents.at(place).warps[0]).state = State::ready;
  ASSERT_NE(residents.find(warp), nullptr);
  EXPECT_EQ(residents.find(warp)->warp, &warp);
  EXPECT_EQ(residents.find(Warp{}), nullptr);
}

}  // namespace
}  // namespace drywell::sim
