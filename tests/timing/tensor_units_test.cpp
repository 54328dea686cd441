// The tensor core, tensor memory's ports and copies into it, as units that take operations (docs/function-vs-time.md, "Tensor core" and
// "TMEM"; docs/facts/timing.md §4 and §5), and the moments that follow for a cluster's operations.
#include "sim/timing/tensor_units.h"

#include <gtest/gtest.h>

#include "sim/timing/async_units.h"
#include "tests/timing/umma_descriptor.h"

namespace drywell::sim {
namespace {

Umma mma(uint32_t n, uint8_t group = 1) {
  Umma u;
  u.kind = isa::Mod::kind_f16;
  u.idesc = bf16_descriptor(group == 2 ? 256 : 128, n).encode();
  u.cta_group = group;
  return u;
}

struct Units : testing::Test {
  const ArchConfig arch = load_arch("sm_100a");
  std::vector<SmUnits> sms = make_sms(arch, 0, 2);
  TensorUnits units{arch, sms};
  const Issuer who{};
};

// M = 128, N = 256, operands in shared memory: 128 cycles each (SA's table); the second of a batch pays 12 more, once.
TEST_F(Units, MmasFollowEachOtherAtThePublishedInterval) {
  const Time first = units.mma(who, mma(256), 1000, 0).read;
  EXPECT_EQ(first, 1020u) << "latency_start";
  EXPECT_EQ(units.mma(who, mma(256), 1007, 0).read, first + 128 + 12);
  EXPECT_EQ(units.mma(who, mma(256), 1014, 0).read, first + 2 * 128 + 12);
}

TEST_F(Units, ResultsLandInOrder) {
  const Service large = units.mma(who, mma(256), 1000, 0), small = units.mma(who, mma(16), 1000, 0);
  EXPECT_GE(small.done, large.done);
}

TEST_F(Units, AnMmaWaitsForTheCopiesBeforeIt) {
  const Service copy = units.copy(who, {.shape = isa::Mod::_32x128b}, 1000, 0);
  EXPECT_EQ(copy.read, 1020u);
  EXPECT_EQ(copy.done, 1020u + 8 + 12) << "interval and drain";
  EXPECT_EQ(units.mma(who, mma(256), 1000, copy.done).read, copy.done);
}

TEST_F(Units, APairTakesBothTensorCores) {
  const Service pair = units.mma(who, mma(256, 2), 1000, 0);
  EXPECT_EQ(sms[0].tensor.free_at(), sms[1].tensor.free_at());
  EXPECT_GT(units.mma({.cta = 1}, mma(256), 1000, 0).read, pair.read);
}

TEST_F(Units, CtasApartHaveTheirOwn) {
  EXPECT_EQ(units.mma({.cta = 0}, mma(256), 1000, 0).read, units.mma({.cta = 1}, mma(256), 1000, 0).read);
}

// Six instructions of a sub-partition may wait in the queue.
TEST_F(Units, TheQueueOfASubPartitionFillsUp) {
  const PlaceQueue& queue = sms[0].partitions[0].tensor_queue;
  for (int i = 0; i < 5; ++i) units.mma(who, mma(256), 1000, 0);
  EXPECT_EQ(queue.free_at(), 0);
  units.mma(who, mma(256), 1000, 0);
  EXPECT_EQ(queue.free_at(), 1020.0 + 128) << "when the first has left";
}

// Two columns a cycle, then the latency of 22; ld and st share the port.
TEST_F(Units, AccessesShareTheirPort) {
  const TmemLdSt load{.load = true, .shape = isa::Mod::_32x32b, .num = 32}, store{.load = false, .shape = isa::Mod::_32x32b, .num = 32};
  const Service one = units.access(who, load, 1000);
  EXPECT_EQ(one.read, 1016u);
  EXPECT_EQ(one.done, 1016u + 22);
  EXPECT_EQ(units.access(who, store, 1000).done, 1032u + 8);
  EXPECT_EQ(units.access({.warp = 1}, load, 1000).read, 1016u) << "another sub-partition's";
}

TEST_F(Units, ACommitSignalsBehindTheWork) {
  EXPECT_EQ(units.commit(1000, 0), 1000u + 20 + 36);
  EXPECT_EQ(units.commit(1000, 5000), 5000u + 36);
}

/// A cluster whose operations only exist to be given moments.
struct Moments : Units {
  Moments() { async.begin(0, cluster); }
  AsyncOp& add(AsyncOp::Payload payload, std::vector<uint64_t> after = {}, Issuer from = {}) {
    AsyncOp op;
    op.id = cluster.next_op++;
    op.payload = std::move(payload);
    op.after = std::move(after);
    op.issuer = from;
    cluster.pending.push_back(std::move(op));
    return cluster.pending.back();
  }
  Cluster cluster;
  EventQueue events;
  MemoryPort memory;
  AsyncUnits async{arch, false, sms, events, memory};
};

TEST_F(Moments, OfAnMmaAreReadAndWrite) {
  async.dispatch(0, add(mma(256)), 1000);
  const Event read = events.pop(), write = events.pop();
  EXPECT_EQ(read.kind, Event::Kind::read);
  EXPECT_EQ(read.time, 1020u);
  EXPECT_EQ(write.kind, Event::Kind::write);
  EXPECT_EQ(write.time, 1020u + 128 + 32 + 12) << "the pass: load of A, array and drain";
}

TEST_F(Moments, ACommitEndsAfterTheMmasBeforeIt) {
  async.dispatch(0, add(mma(256)), 1000);
  async.dispatch(0, add(Commit{}, {1}), 1001);
  events.pop();
  const Time done = events.pop().time;
  const Event commit = events.pop();
  EXPECT_EQ(commit.kind, Event::Kind::finish);
  EXPECT_EQ(commit.time, done + 36);
}

TEST_F(Moments, AnMmaWithoutValuesPassesThemAndEnds) {
  const uint64_t id = add(mma(256)).id;
  async.dispatch(0, cluster.pending[0], 1000);
  EXPECT_FALSE(async.moment(0, id, 1020, false).has_value());
  EXPECT_EQ(cluster.pending.size(), 1u);
  EXPECT_FALSE(async.moment(0, id, 1200, false).has_value());
  EXPECT_TRUE(cluster.pending.empty());
  EXPECT_EQ(cluster.now, 1200u);
}

// The instruction enters the pipe with the last of the four warps.
TEST_F(Moments, AWgmmaWaitsForItsWholeWarpgroup) {
  Wgmma m;
  m.n = 128;
  for (uint32_t warp = 0; warp < 4; ++warp) {
    EXPECT_EQ(events.next_time(), kNever);
    async.dispatch(0, add(m, {}, {.warp = warp}), 1000 + warp);
  }
  EXPECT_EQ(events.next_time(), 1003u);
}

// cp.async.bulk: the request leaves when the engine has come to it; the bytes go through the port after the answer.
TEST_F(Moments, ACopyAsksMemoryAndEndsBehindThePort) {
  const uint64_t id = add(BulkCopy{.src = 0x1000, .dst = 0x400, .bytes = 1024}).id;
  async.dispatch(0, cluster.pending[0], 1000);
  const Event start = events.pop();
  EXPECT_EQ(start.kind, Event::Kind::tma_start);
  EXPECT_TRUE(async.start_copy(0, id, start.time));
  ASSERT_EQ(memory.requests().size(), 1u);
  EXPECT_EQ(memory.requests()[0].kind, MemoryKind::tma_load);
  async.data(memory.take(memory.requests()[0].token), 2000);
  const Event finish = events.pop();
  EXPECT_EQ(finish.kind, Event::Kind::finish);
  EXPECT_EQ(finish.time, 2000u + 9 + 56) << "1024 bytes at 125 a cycle, and the overhead";
}

}  // namespace
}  // namespace drywell::sim
