// What units take and when, and what an executed instruction holds up, without a program that runs (docs/function-vs-time.md,
// "Sub-partitions", "Shared memory" and "Global memory"; figures of sim/arch/sm_100a.toml).
#include "sim/timing/instruction_timing.h"

#include <gtest/gtest.h>

#include "drywell/isa/parse.h"
#include "sim/exec/decode.h"
#include "sim/timing/stall_account.h"

namespace drywell::sim {
namespace {

using isa::TimingClass;

/// Warp 0 of one SM; its registers are 0 … 7. An instruction reads register 0 and writes register 1.
struct IssueUnits : testing::Test {
  IssueUnits() {
    program.slots = {0, 1};
    program.slot_count = 8;
    program.lines.resize(1);
    program.ops.resize(2);
    launch.program = &code;
    cta.cluster = &cluster;
    guest.cta = &cta;
    guest.pc = 1;
    w.restart(8);
    w.warp = &guest;
    w.unit = &sms[0].partitions[0];
  }
  OpInfo op(OpKind kind, Pipe pipe, uint16_t latency, float interval) const {
    OpInfo x;
    x.kind = kind;
    x.pipe = pipe;
    x.latency = latency;
    x.interval = interval;
    x.reads = x.writes = 1;
    return x;
  }
  void complete(const OpInfo& x, Time at, bool resumed = false, double barrier_arrival = 0) {
    timing.complete(w, 0, waits, {x, 0, kFullMask, kFullMask, at, resumed, barrier_arrival, addresses});
  }
  Readiness result() { return w.registers.find({std::span(program.slots).subspan(1), {}, Operands::kNoGuard, 0}, 0); }
  /// 32 lanes, 4 bytes each, `stride` apart.
  void address(uint64_t base, uint64_t stride) {
    addresses.mask = kFullMask;
    addresses.bytes = 4;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) addresses.at[lane] = base + lane * stride;
  }
  OpInfo access(Space space) const {
    OpInfo x = op(OpKind::memory, Pipe::lsu, 30, 1);
    x.space = space;
    return x;
  }

  const ArchConfig arch = load_arch("sm_100a");
  const Program code;
  TimedProgram program{code, arch};
  Launch launch;
  const TimingContext context{.launch = &launch, .arch = &arch, .program = &program, .roles = {"warps"}, .role_of_warp = {0}};
  Cluster cluster;
  Cta cta;
  Warp guest;
  WarpIssueState w;
  std::vector<SmUnits> sms = make_sms(arch, 0, 1);
  MemoryPort memory;
  Pipes pipes{arch};
  InstructionTiming timing{context, sms, pipes, memory};
  WakeList waits;
  LaneAddresses addresses;
};

TEST_F(IssueUnits, APipeAdmitsAFewInstructionsAhead) {
  OpInfo x = op(OpKind::local, Pipe::alu, 4, 2);
  x.queue = 3;
  for (int i = 0; i < 8; ++i) pipes.begin(*w.unit, x, 100);
  EXPECT_EQ(pipes.admits(sms[0], *w.unit, x, 100), 100u + 8 * 2 - 3 * 2);
  EXPECT_EQ(pipes.admits(sms[0], sms[0].partitions[1], x, 100), 100u) << "another sub-partition's pipe";
}

/// The unit of the second instruction of a block, a sum.
Pipe unit_of_a_sum_after(const std::string& first) {
  const ArchConfig arch = load_arch("sm_100a");
  const isa::Module m = isa::parse_ptx_or_throw(".version 8.6\n.target sm_100a\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<4>;\n.reg .f32 %f<4>;\n" + first +
                                                    "add.u32 %r1, %r1, %r2;\nst.local.u32 [%r1], %r1;\nret;\n}\n",
                                                "sum.ptx");
  return TimedProgram(*decode(m, m.functions[0], {}), arch).ops.at(1).pipe;
}

// lop_add and add_fma of tests/corpus/timing/mechanisms/cross.toml.
TEST(TimedPrograms, ASumGoesWhereTheBlockHasLessToDo) {
  EXPECT_EQ(unit_of_a_sum_after("xor.b32 %r1, %r1, %r3;\n"), Pipe::fma);
  EXPECT_EQ(unit_of_a_sum_after("mad.lo.u32 %r1, %r1, %r3, %r2;\n"), Pipe::alu);
  EXPECT_EQ(unit_of_a_sum_after("fma.rn.f32 %f1, %f1, %f2, %f3;\n"), Pipe::alu);
}

// cross_lop_fma of cross.toml: five cycles from unit to unit, four within one.
TEST_F(IssueUnits, AResultTakesACycleMoreToAnotherUnit) {
  w.registers.set(0, 104, Stall::register_dependency, Producer::alu);
  const auto ready = [&](Producer unit) { return w.registers.find({std::span(program.slots).first(1), {}, Operands::kNoGuard, 0, unit}, 0).ready; };
  EXPECT_EQ(ready(Producer::alu), 104u);
  EXPECT_EQ(ready(Producer::fma), 105u);
  EXPECT_EQ(ready(Producer::other), 104u);
}

// Half a wavefront a cycle for a sub-partition, one for the SM.
TEST_F(IssueUnits, SharedMemoryTakesWavefronts) {
  for (const double n : {0, 1, 2}) EXPECT_EQ(pipes.begin_smem(sms[0], sms[0].partitions[0], 100, 1), 100 + 4 * n);
  std::vector<double> starts;
  for (int i = 0; i < 4; ++i) starts.push_back(pipes.begin_smem(sms[0], sms[0].partitions[1 + i % 2], 200, 1));
  EXPECT_EQ(starts, (std::vector<double>{200, 201, 204, 205}));
}

TEST_F(IssueUnits, StoresToGlobalMemoryWaitForTheL2) {
  OpInfo store = access(Space::global);
  store.store = true;
  pipes.hold_stores(500);
  EXPECT_EQ(pipes.admits(sms[0], *w.unit, store, 100), 500u);
  EXPECT_EQ(pipes.admits(sms[0], *w.unit, access(Space::global), 100), 100u) << "a load";
  store.space = Space::shared_cta;
  EXPECT_EQ(pipes.admits(sms[0], *w.unit, store, 100), 100u);
}

TEST_F(IssueUnits, AResultIsThereAfterTheLatencyTheWarpGoesOnAfterACycle) {
  w.inputs = 1000;
  complete(op(OpKind::local, Pipe::alu, 4, 2), 1000);
  EXPECT_EQ(result().ready, 1004u);
  EXPECT_EQ(w.hold, 1001u);
}

// ptxas moves arithmetic up to where its operands are there, but not out of its block, nor further than twenty cycles.
TEST_F(IssueUnits, ArithmeticIsMovedUpWithinItsBlock) {
  w.inputs = 900;
  w.block_start = 990;
  complete(op(OpKind::local, Pipe::alu, 4, 2), 1000);
  EXPECT_EQ(result().ready, 994u);
  w.block_start = 950;
  complete(op(OpKind::local, Pipe::alu, 4, 2), 1000);
  EXPECT_EQ(result().ready, 986u) << "1006, as the pipe is busy until 1002, less twenty";
}

TEST_F(IssueUnits, TheWarpStaysWithASequence) {
  OpInfo division = op(OpKind::local, Pipe::alu, 120, 2);
  division.sequence = true;
  complete(division, 1000);
  EXPECT_EQ(w.hold, 1120u);
  EXPECT_EQ(w.hold_reason, Stall::register_dependency);
}

TEST_F(IssueUnits, ATakenBranchRefetches) {
  const OpInfo x = op(OpKind::branch, Pipe::control, 15, 1);
  complete(x, 1000);
  EXPECT_EQ(w.hold, 1001u) << "not taken: the next pc";
  guest.pc = 7;
  complete(x, 1000);
  EXPECT_EQ(w.hold, 1015u);
  EXPECT_EQ(w.block_start, 1015u);
}

TEST_F(IssueUnits, TheFirstParameterOfALaunchComesFromMemory) {
  OpInfo x = op(OpKind::local, Pipe::none, 20, 1);
  x.timing = TimingClass::ld_param;
  complete(x, 1000);
  EXPECT_EQ(result().ready, 1200u);
  w.inputs = 2000;
  complete(x, 2000);
  EXPECT_EQ(result().ready, 2020u);
}

// bar.sync costs a base of 12.7 after the last arrival has gone through the unit.
TEST_F(IssueUnits, ANamedBarrierReleasesAfterItsBase) {
  const OpInfo x = op(OpKind::barrier, Pipe::barrier, 5, 2);
  const double arrival = pipes.arrive(sms[0], x, 1000);
  EXPECT_EQ(arrival, 1002);
  complete(x, 1000, false, arrival);
  EXPECT_EQ(w.hold, 1015u);
  EXPECT_EQ(w.hold_reason, Stall::named_barrier);
}

TEST_F(IssueUnits, AReleaseToTheClusterStandsBehindAFence) {
  OpInfo arrive = op(OpKind::hold, Pipe::lsu, 5, 1);
  EXPECT_EQ(timing.fence_before(arrive), 0u);
  arrive.fenced = true;
  EXPECT_EQ(timing.fence_before(arrive), static_cast<Time>(arch.cost(TimingClass::fence_gpu).latency));
}

TEST_F(IssueUnits, ConflictsInSharedMemoryTakeLonger) {
  address(0x400, 4);
  complete(access(Space::shared_cta), 1000);
  const Time none = result().ready;
  EXPECT_EQ(none, 1000 + static_cast<Time>(arch.cost(TimingClass::ld_shared).latency));
  address(0x400, 8);  // two words of a bank
  complete(access(Space::shared_cta), 2000);
  EXPECT_EQ(result().ready, none + 1000 + static_cast<Time>(arch.smem.conflict_cycles));
}

// The L1's banks serve lanes 256 bytes apart one by one, two cycles each for a store: 64 for 4 bytes a lane (stg.lines-32.rate of an H200), and
// for 16 as well, because one lane's 16 bytes are less than a bank's row. Stores of lanes side by side leave an H200's SM
// with 32 bytes a cycle (l2.write.one-sm and l2.write.pairs.one-sm: 31.95), of 4 bytes a lane with 57 (stg.lines-1.rate).
TEST_F(IssueUnits, WideStoresFarApartTakeNoLongerThanNarrowOnes) {
  OpInfo store = access(Space::global);
  store.store = true;
  const auto cycles = [&](uint32_t bytes, uint64_t stride) {
    const double before = sms[0].lsu_wavefronts;
    address(0x10000, stride);
    addresses.bytes = bytes;
    complete(store, 1000);
    return sms[0].lsu_wavefronts - before;
  };
  EXPECT_EQ(cycles(4, 256), 64);
  EXPECT_EQ(cycles(16, 256), 64);
  EXPECT_EQ(cycles(8, 256), 64);
  EXPECT_EQ(cycles(16, 16), 512 / 32);
  EXPECT_EQ(cycles(8, 8), 256 / 32);
  EXPECT_EQ(cycles(4, 4), 2);
}

TEST_F(IssueUnits, ALoadOfGlobalMemoryWaitsForTheAnswer) {
  address(0x10000, 4);
  complete(access(Space::global), 1000);
  EXPECT_NE(result().load, Readiness::kNoLoad);
  ASSERT_EQ(memory.requests().size(), 1u);
  EXPECT_EQ(memory.requests()[0].time, 1090) << "the SM's first access: 90 cycles more (traces/hw/h200-2026-11-27-launch.txt)";
  EXPECT_EQ(memory.take(memory.requests()[0].token).first.load, result().load);
}

TEST_F(IssueUnits, WhatTheL1HoldsIsNotAskedFor) {
  address(0x10000, 4);
  sms[0].use(32 << 10);
  sms[0].l1.fill(0x10000, 128);
  OpInfo x = access(Space::global);
  x.cached = true;
  complete(x, 1000);
  EXPECT_TRUE(memory.requests().empty());
  EXPECT_EQ(result().ready, 1000 + static_cast<Time>(arch.cost(TimingClass::ld_global).latency));
}

// Each cycle of a warp has one reason; the sum is the time it existed.
TEST_F(IssueUnits, EveryCycleHasOneReason) {
  StallAccount account(context);
  account.begin(w, 100);
  w.hold = 104;
  w.hold_reason = Stall::branch;
  w.ready = 110;
  w.wait_reason = Stall::mbarrier;
  w.admitted = 113;
  account.issue(w, OpInfo{}, 120);
  const auto& cycles = account.sums().role_cycles[0];
  EXPECT_EQ(cycles[static_cast<size_t>(Stall::branch)], 4u);
  EXPECT_EQ(cycles[static_cast<size_t>(Stall::mbarrier)], 6u);
  EXPECT_EQ(cycles[static_cast<size_t>(Stall::pipe_busy)], 3u);
  EXPECT_EQ(cycles[static_cast<size_t>(Stall::not_selected)], 7u);
  EXPECT_EQ(cycles[static_cast<size_t>(Stall::issued)], 1u);
  EXPECT_EQ(account.sums().lines[0].cycles, 21u);
}

}  // namespace
}  // namespace drywell::sim
