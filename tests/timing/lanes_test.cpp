// Instructions of many lanes that are one operation, and those that are one for each lane (docs/facts/timing.md §6, §8).
#include <gtest/gtest.h>

#include <cstring>

#include "tests/timing/harness.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;

constexpr uint32_t kFullWarp = 32;

/// Emits `body` for the lanes below `lanes`.
void for_lanes_below(KernelBuilder& k, uint32_t lanes, const std::function<void(Reg)>& body) {
  const Reg tid = k.def("mov.u32", SpecialReg::tid_x), chosen = k.reg(Mod::pred);
  k("setp.lt.u32", chosen, tid, lanes);
  k.if_(chosen, [&] { body(tid); });
}

/// Cycles from one cp.async of 16 bytes a lane to the next.
double copy_spacing(uint32_t lanes) {
  const auto r = run_timed_kernel({.arch = "sm_90a"}, [&](KernelBuilder& k, Symbol pointer, const auto&) {
    const Symbol data = k.shared("data", 8192, 128);
    const Reg from = k.load_param(pointer, Mod::u64), to = k.def("mov.u32", data);
    for_lanes_below(k, lanes, [&](Reg tid) {
      const Reg at = k.def("mad.lo.u32", tid, 16, to), offset = k.reg(Mod::u64), source = k.reg(Mod::u64);
      k("mul.wide.u32", offset, tid, 16);
      k("add.u64", source, from, offset);
      for (int i = 0; i < 16; ++i) k("cp.async.cg.shared.global", mem(at, 512 * i), mem(source, 512 * i), 16);
    });
    k("cp.async.wait_all");
  });
  return spacing(r.log.of("cp.async"));
}

// H200: about six cycles a warp instruction, however many lanes copy.
TEST(CpAsync, IssuesOnceForAllLanes) {
  for (const uint32_t lanes : {1u, 7u, kFullWarp}) EXPECT_NEAR(copy_spacing(lanes), 6, 0.5) << lanes << " lanes";
}

struct Stores {
  uint64_t cycles = 0;
  uint32_t first = 0;  // element 0 of the tensor afterwards
};

constexpr uint32_t kRows = 64, kColumns = 32;  // 8 KiB of u32

TensorMap map_of(uint64_t address) {
  TensorMapFields f;
  f.type = TensorType::u32;
  f.rank = 2;
  f.address = address;
  f.dim = {kColumns, kRows, 1, 1, 1};
  f.stride = {kColumns * 4, 0, 0, 0};
  f.box = {kColumns, kRows, 1, 1, 1};
  f.element_stride = {1, 1, 1, 1, 1};
  return encode(f);
}

/// `count` times 8 KiB from shared memory, whose first word is 1, by `opcode`. `apart`: each lane's box begins at a row of its own.
Stores store(uint32_t lanes, int count, const char* opcode, bool apart = false) {
  TimedKernel kernel{.arch = "sm_90a", .maps = std::vector<TensorMap>(1)};
  kernel.launch.dynamic_smem = 16384;
  const auto r = run_timed_kernel(
      kernel,
      [&](KernelBuilder& k, Symbol, const std::vector<Symbol>& maps) {
        const Symbol data = k.dynamic_shared("data", 1024);
        const Reg at = k.def("mov.u32", data), one = k.def("mov.u32", 1), zero = k.def("mov.u32", 0), map = k.reg(Mod::u64);
        k("cvta.param.u64", map, maps[0]);
        k("st.shared.u32", mem(at), one);
        k("fence.proxy.async.shared::cta");
        for_lanes_below(k, lanes, [&](Reg tid) {
          for (int i = 0; i < count; ++i) k(OpText(opcode), tensor(map, {zero, apart ? tid : zero}), mem(at));
          k("cp.async.bulk.commit_group");
          k("cp.async.bulk.wait_group.read", 0);
        });
      },
      [](uint64_t address) { return std::vector{map_of(address)}; });
  const auto issue = r.log.of("cp.async.bulk.tensor").empty() ? r.log.of("cp.reduce.async.bulk.tensor") : r.log.of("cp.async.bulk.tensor");
  uint32_t first = 0;
  std::memcpy(&first, r.memory.data(), sizeof first);
  return {r.log.of("cp.async.bulk.wait_group").front() - issue.front(), first};
}

constexpr char kStore[] = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group";
constexpr char kReduce[] = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group";

// H200: 64 stores of 8 KiB by all 32 lanes take 16,784 cycles, by one lane 16,814.
TEST(TensorStore, ByAllLanesIsOneStore) {
  const Stores one = store(1, 64, kStore), all = store(kFullWarp, 64, kStore);
  EXPECT_NEAR(static_cast<double>(one.cycles), 16814, 0.03 * 16814);
  EXPECT_NEAR(static_cast<double>(all.cycles), 16784, 0.03 * 16784);
  EXPECT_EQ(all.first, 1u);
}

TEST(TensorStore, OfLanesWithOtherCoordinatesIsAnotherStore) {
  const Stores one = store(1, 4, kStore), all = store(kFullWarp, 4, kStore, true);
  EXPECT_GT(all.cycles, 20 * one.cycles);
}

// A reduction adds once for each lane.
TEST(TensorReduction, ByAllLanesIsOneForEachLane) {
  const Stores one = store(1, 2, kReduce), all = store(kFullWarp, 2, kReduce);
  EXPECT_EQ(one.first, 2u);
  EXPECT_EQ(all.first, 2u * kFullWarp);
  EXPECT_GT(all.cycles, 20 * one.cycles);
}

}  // namespace
}  // namespace drywell::sim
