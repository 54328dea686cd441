// The copy engine of one SM (docs/function-vs-time.md, "TMA"; docs/facts/timing.md §8), and what copies move.
#include "sim/timing/tma_engine.h"

#include <gtest/gtest.h>

#include "drywell/isa/tensor_map.h"
#include "sim/timing/tma_transfer.h"

namespace drywell::sim {
namespace {

struct Engine : testing::Test {
  ArchConfig arch = load_arch("sm_100a");
  TmaEngine tma{arch};
};

TEST_F(Engine, CopiesStartAFixedTimeApart) {
  for (const Time n : {0, 1, 2, 3}) EXPECT_EQ(tma.start(100, std::nullopt), 100 + 8 * n);
}

TEST_F(Engine, ATensorMapIsFetchedOnce) {
  EXPECT_EQ(tma.start(100, 0x40), 100u + 110);
  EXPECT_EQ(tma.start(1000, 0x40), 1000u);
  EXPECT_EQ(tma.start(2000, 0x80), 2000u + 110);
}

TEST_F(Engine, BytesOfALoadGoThroughThePortInOrder) {
  const Time one = tma.fill(1000, 12500, false);
  EXPECT_EQ(one, 1000u + 100 + 56) << "125 bytes a cycle, then the overhead";
  EXPECT_EQ(tma.fill(1000, 12500, false), one + 100);
  EXPECT_EQ(tma.fill(5000, 12500, true), 5000u + 100 + 56 + 99) << "a multicast takes longer";
}

// wait_group.read: 45 + bytes / 32.
TEST_F(Engine, AStoresOperandsAreRead) {
  EXPECT_EQ(tma.drain(1000, 4096, false, false), 1000u + 128 + 45);
  EXPECT_EQ(tma.drained(), 1000u + 128 + 45);
  EXPECT_EQ(tma.drain(5000, 4096, false, true), 5000u + 256 + 45) << "beside a busy tensor core, at half the rate";
  EXPECT_EQ(tma.drain(9000, 4096, true, false), 9000u + 157 + 45) << "a reduction is 1.22 times as slow";
  EXPECT_EQ(tma.bytes_out(), 3 * 4096.0);
}

TEST_F(Engine, BeyondItsLimitCopiesWaitInOrder) {
  for (uint64_t i = 0; i < arch.tma.in_flight; ++i) EXPECT_TRUE(tma.admit({0, i}));
  EXPECT_FALSE(tma.admit({1, 100}));
  EXPECT_FALSE(tma.admit({2, 200}));
  EXPECT_EQ(tma.end()->op, 100u);
  EXPECT_EQ(tma.end()->resident, 2u);
  EXPECT_FALSE(tma.end().has_value());
  EXPECT_TRUE(tma.admit({3, 300}));
}

TEST(Transfer, ABulkCopyIsOneRunOfWholeSectors) {
  AsyncOp op;
  op.payload = BulkCopy{.src = 0x1010, .dst = 0x400, .bytes = 64};
  const TmaTransfer t = transfer_of(op);
  EXPECT_EQ(t.way, TmaTransfer::Way::in);
  EXPECT_EQ(t.bytes, 64u);
  ASSERT_EQ(t.ranges.size(), 1u);
  EXPECT_EQ(t.ranges[0].address, 0x1000u);
  EXPECT_EQ(t.ranges[0].bytes, 96u);
}

TEST(Transfer, BetweenCtasTouchesNoGlobalMemory) {
  AsyncOp op;
  op.payload = BulkCopy{.kind = BulkCopy::Kind::shared_to_shared, .src = 0x400, .dst = 0x1000400, .bytes = 64};
  EXPECT_EQ(transfer_of(op).way, TmaTransfer::Way::within_cluster);
  EXPECT_TRUE(transfer_of(op).ranges.empty());
}

TEST(Transfer, LanesThatLieSideBySideAreAskedForTogether) {
  AsyncCopy copy;
  for (uint32_t lane = 0; lane < 32; ++lane) copy.lanes.push_back({0x400 + 16 * lane, 0x2000 + 16 * lane, 16, 16});
  AsyncOp op;
  op.payload = copy;
  const TmaTransfer t = transfer_of(op);
  EXPECT_EQ(t.bytes, 512u);
  ASSERT_EQ(t.ranges.size(), 1u);
  EXPECT_EQ(t.ranges[0].bytes, 512u);
  EXPECT_TRUE(is_tma(op));
}

TEST(Transfer, AnArrivalBehindCopiesMovesNothing) {
  AsyncOp op;
  op.payload = AsyncCopy{.mbar = 0x400};
  EXPECT_TRUE(is_copy_arrival(op));
  EXPECT_FALSE(is_tma(op));
}

/// A map of 64 x 64 bytes with rows `pitch` bytes apart, whole.
AsyncOp tensor_load(uint64_t pitch) {
  isa::TensorMapFields f;
  f.rank = 2;
  f.address = 0x10000;
  f.dim = {64, 64};
  f.stride = {pitch};
  f.box = {64, 64};
  TensorCopy copy;
  copy.map = isa::encode(f).bytes;
  copy.rank = 2;
  AsyncOp op;
  op.payload = copy;
  return op;
}

TEST(Transfer, ABoxIsItsRows) {
  EXPECT_EQ(transfer_of(tensor_load(64)).ranges.size(), 1u) << "rows without a gap";
  const TmaTransfer apart = transfer_of(tensor_load(256));
  EXPECT_EQ(apart.bytes, 64u * 64);
  ASSERT_EQ(apart.ranges.size(), 64u);
  EXPECT_EQ(apart.ranges[1].address, 0x10100u);
  EXPECT_EQ(apart.ranges[1].bytes, 64u);
}

TEST(Transfer, CoordinatesThatAreWrongMoveNothing) {
  AsyncOp op = tensor_load(64);
  std::get<TensorCopy>(op.payload).rank = 3;
  EXPECT_TRUE(transfer_of(op).ranges.empty());
}

}  // namespace
}  // namespace drywell::sim
