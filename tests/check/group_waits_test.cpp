// Waits for operations in flight in the checker: groups of each lane, of the warp, and tcgen05.wait (PTX ISA 9.7.9.25, 9.7.16.8.4).
#include "sim/check/group_waits.h"

#include <gtest/gtest.h>

#include "tests/check/made_cluster.h"

namespace drywell::sim::check {
namespace {

using W = GroupWaits;

struct Waiting {
  explicit Waiting(const std::string& body) : made(body), waits(*made.parts) {}
  WarpState& state() { return made.parts->state_of(made.warp(0)); }
  const Clock& seen() { return state().clock.now.seen; }
  OperationQueue& bulk(uint32_t lane) { return state().bulk.of(lane, made.parts->components); }
  template <class Effect>
  void pass(Effect effect, LaneMask lanes = kFullMask) {
    made.pass(made.warp(0), waits, effect, lanes);
  }
  MadeCluster made;
  W waits;
};

TEST(GroupWaits, ABulkWaitCompletesTheGroupsOfItsOwnLane) {
  Waiting x("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;");
  x.bulk(0).issue();
  x.bulk(5).issue();
  x.pass(&W::commit_bulk, 1);
  x.pass(&W::wait_bulk, 1);
  EXPECT_EQ(x.seen()[x.bulk(0).done], 1u);
  EXPECT_EQ(x.seen()[x.bulk(5).done], 0u);
  EXPECT_EQ(x.state().clock.ahead, 1u) << "the other lanes have not waited";
}

TEST(GroupWaits, AReadWaitCompletesReadsOnly) {
  Waiting x("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;");
  x.bulk(0).issue();
  x.pass(&W::commit_bulk, 1);
  x.pass(&W::wait_bulk, 1);
  EXPECT_EQ(x.seen()[x.bulk(0).read], 1u);
  EXPECT_EQ(x.seen()[x.bulk(0).done], 0u);
}

TEST(GroupWaits, TheLatestGroupsMayStayInFlight) {
  Waiting x("cp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 1;\ncp.async.wait_all;");
  OperationQueue& q = x.state().copies;
  q.open(x.made.parts->components);
  q.issue();
  x.pass(&W::commit_copies);
  q.issue();
  x.pass(&W::commit_copies);
  x.pass(&W::wait_copies);
  EXPECT_EQ(x.seen()[q.done], 1u);
  x.pass(&W::wait_all_copies);
  EXPECT_EQ(x.seen()[q.done], 2u);
}

TEST(GroupWaits, TensorWaitsCompleteTheirOwnDirection) {
  Waiting x("tcgen05.wait::ld.sync.aligned;\ntcgen05.wait::st.sync.aligned;");
  OperationQueue &loads = x.state().loads, &stores = x.state().stores;
  for (OperationQueue* q : {&loads, &stores}) q->open(x.made.parts->components), q->issue();
  x.state().loading.add(0, {1, 0});
  x.pass(&W::tensor_loads);
  EXPECT_EQ(x.seen()[loads.done], 1u);
  EXPECT_EQ(x.state().clock.now.tensor[loads.done], 1u);
  EXPECT_TRUE(x.state().loading.empty());
  EXPECT_EQ(x.seen()[stores.done], 0u);
  x.pass(&W::tensor_stores);
  EXPECT_EQ(x.seen()[stores.done], 1u);
}

TEST(GroupWaits, AGridWaitsForTheLaunchesBefore) {
  Waiting x("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;");
  x.pass(&W::grids);
  EXPECT_EQ(x.seen()[Components::kGridWait], 0u);
  x.pass(&W::grids);
  EXPECT_EQ(x.seen()[Components::kGridWait], 1u);
}

}  // namespace
}  // namespace drywell::sim::check
