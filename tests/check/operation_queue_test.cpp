// Groups of asynchronous operations: a wait for N leaves at most the N youngest groups (PTX ISA 9.7.9.25.3.2, cp.async.wait_group).
#include "sim/check/operation_queue.h"

#include <gtest/gtest.h>

#include "sim/check/loaded_registers.h"

namespace drywell::sim::check {
namespace {

struct Queue : testing::Test {
  Queue() { q.open(components, true); }
  void group(uint32_t operations) {
    for (uint32_t i = 0; i < operations; ++i) q.issue();
    q.commit_group();
  }
  Components components;
  OperationQueue q;
  Clock seen;
};

TEST_F(Queue, NothingIsOverBeforeAWait) {
  group(2);
  EXPECT_EQ(seen[q.done], 0u);
}

TEST_F(Queue, AWaitLeavesTheYoungestGroups) {
  group(2);
  group(3);
  group(1);
  q.wait_groups(1, false, seen);
  EXPECT_EQ(seen[q.done], 5u);
  q.wait_groups(0, false, seen);
  EXPECT_EQ(seen[q.done], 6u);
}

TEST_F(Queue, AWaitForMoreGroupsThanThereAreTellsNothing) {
  group(2);
  q.wait_groups(1, false, seen);
  EXPECT_EQ(seen[q.done], 0u);
}

TEST_F(Queue, OperationsOutsideGroupsAreNotWaitedFor) {
  group(2);
  q.issue();
  q.wait_groups(0, false, seen);
  EXPECT_EQ(seen[q.done], 2u);
  q.wait_all(seen);
  EXPECT_EQ(seen[q.done], 3u);
}

// cp.async.bulk.wait_group.read: sources may be written again, results are not there.
TEST_F(Queue, AWaitForReadsIsNotOneForResults) {
  q.issue();
  q.add_source(7);
  q.commit_group();
  std::vector<AccessId> unread;
  const auto note = [&](AccessId id) { unread.push_back(id); };
  q.each_unread(seen, note);
  EXPECT_EQ(unread, std::vector<AccessId>{7});
  q.wait_groups(0, true, seen);
  EXPECT_EQ(seen[q.read], 1u);
  EXPECT_EQ(seen[q.done], 0u);
  unread.clear();
  q.each_unread(seen, note);
  EXPECT_TRUE(unread.empty());
}

TEST(Lanes, HaveQueuesOfTheirOwn) {
  Components components;
  LaneQueues all(false);
  all.of(3, components).issue();
  EXPECT_EQ(all.of(3, components).issued, 1u);
  EXPECT_EQ(all.of(4, components).issued, 0u);
  EXPECT_NE(all.of(3, components).done, all.of(4, components).done);
}

TEST(Loaded, RegistersBelongToTheLatestLoadUntilTheWait) {
  LoadedRegisters r;
  EXPECT_TRUE(r.empty());
  r.add(256, {1, 0});
  r.add(256, {2, 0});
  EXPECT_EQ(r.load_of(256).number, 2u);
  EXPECT_EQ(r.load_of(384).number, 0u);
  r.drop(256);
  EXPECT_EQ(r.load_of(256).number, 0u) << "the register has another value";
  r.add(256, {3, 0});
  r.clear();
  EXPECT_EQ(r.load_of(256).number, 0u);
  EXPECT_TRUE(r.empty());
}

}  // namespace
}  // namespace drywell::sim::check
