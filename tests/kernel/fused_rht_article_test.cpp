// Statements about this kernel in the article "NVFP4 training in TransformerEngine", section "Kernel Deep Dive", compared with
// the running kernel.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "drywell/core/error.h"
#include "drywell/isa/smem_descriptor.h"
#include "drywell/isa/tensor_map.h"
#include "drywell/launch/generate.h"
#include "kernels/fused_rht/fused_rht.h"
#include "sim/events/hub.h"
#include "sim/exec/exec.h"

namespace drywell::kernels {
namespace {

// Records the asynchronous operations that are issued.
class Recorder : public sim::Listener {
 public:
  void async(const sim::Cluster&, const sim::AsyncOp& op, sim::AsyncMoment moment) override {
    if (moment != sim::AsyncMoment::read) return;
    if (const auto* t = std::get_if<sim::TensorCopy>(&op.payload)) copies.push_back(*t);
    if (const auto* u = std::get_if<sim::Umma>(&op.payload)) mmas.push_back(*u);
    if (const auto* l = std::get_if<sim::TmemLdSt>(&op.payload)) loads.push_back({op.issuer.warp, l->taddr});
  }
  void mbarrier(const sim::Cta&, uint32_t offset, const sim::Mbarrier&, sim::MbarrierEvent e, int64_t amount) override {
    if (e == sim::MbarrierEvent::expect_tx) expected.insert(amount);
    if (e == sim::MbarrierEvent::init) initialised.emplace_back(offset, amount);
  }
  void memory(const sim::Warp& w, const sim::DecodedOp& op, LaneMask mask, sim::Space space, uint32_t bytes, bool store) override {
    if (!store || space != sim::Space::global || bytes != 32) return;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane & 1) != 0) stores.emplace_back(32 * (w.index - 4) + lane, sim::lane_address(w, op, lane));
    }
  }
  std::vector<sim::TensorCopy> copies;
  std::vector<sim::Umma> mmas;
  std::vector<std::pair<uint32_t, uint32_t>> loads;
  std::set<int64_t> expected;
  std::vector<std::pair<uint32_t, int64_t>> initialised;
  std::vector<std::pair<uint32_t, uint64_t>> stores;  // epilogue thread, address
};

class FusedRhtArticle : public testing::Test {
 protected:
  void SetUp() override {
    options_.m = 2048;
    options_.n = 128;
    options_.k_tile_size = 1024;
    GenerateOptions g;
    const auto input = generate_bf16(options_.m, options_.n, g);
    SimulatedDevice device({.sm_count = 1});
    sim::RunOptions run;
    run.listeners.push_back(&seen_);
    const auto r = run_fused_rht(device, input, 4.0f, options_, run);
    ASSERT_TRUE(r.run.ok()) << r.run.fault->to_string();
  }
  FusedRhtOptions options_;
  Recorder seen_;
};

// "kMaxStages = (kBlackwellSmemSize - kReservedBytes) / kBytesPerStage", "13 is the number of stages that can fit".
TEST(FusedRhtShapes, ThirteenStagesFit) {
  constexpr int kBytesPerStage = 128 * 64 * 2 + 16 * 16 * 2;
  EXPECT_EQ((232448 - 256) / kBytesPerStage, 13);
  EXPECT_EQ(fused_rht::kStages, 13u);
}

// "So k_tile_size = 512 from the heuristic. For B200, sm_count = 148, so tiles is capped at 148."
TEST(FusedRhtShapes, GridIsCappedAtTheSmCount) {
  FusedRhtOptions o;
  EXPECT_EQ(fused_rht_grid(o, 148), 148u);
  o.m = 512;
  o.n = 256;
  EXPECT_EQ(fused_rht_grid(o, 148), 2u);
}

// "the TMA transaction bytes is 128 * 16 * 4 * 2 = 16384 for the activation tensor and 16 * 16 * 2 = 512".
TEST_F(FusedRhtArticle, TransactionBytes) { EXPECT_EQ(seen_.expected, (std::set<int64_t>{512, 16384})); }

// "The producer and consumer arrival counts are both 1"; accumulator: "producer arrival count is 1 … consumer 128".
TEST_F(FusedRhtArticle, ArrivalCountsOfThePipelines) {
  std::map<int64_t, int> counts;
  for (const auto& [offset, count] : seen_.initialised) ++counts[count];
  EXPECT_EQ(counts[1], 13 + 13 + 4 + 1);
  EXPECT_EQ(counts[128], 4);
}

// "tCsA: … (0x7fe600000580)", "tCsB: … (0x7fe600034580)": the operands' shared-memory windows.
TEST_F(FusedRhtArticle, OperandAddressesInSharedMemory) {
  std::set<uint32_t> hadamard, first;
  for (const auto& c : seen_.copies) {
    (c.smem >= 0x34580 ? hadamard : first).insert(c.smem);
  }
  EXPECT_EQ(hadamard, std::set<uint32_t>{0x34580});
  EXPECT_EQ(*first.begin(), 0x580u);
  // "(((_64,_2),(_8,_2)),_1,_4,(_1,_13)):(((_1,_512),(_64,_1024)),_0,_2048,(_0,_8192))": boxes of 64 x 8, 512 elements each.
  EXPECT_EQ(first.size(), 13u * 16u);
  EXPECT_TRUE(first.contains(0x580 + 2 * 512));
  EXPECT_TRUE(first.contains(0x580 + 2 * 8192));
}

// "smemShapeN: _16", "smemShapeK: _16", "SmemShape_M_A: _128", "SmemShape_K_A: _64"; "a single 16 x 16 load of the matrix": 512 bytes; sixteen
// "64 x 8 atomic swizzled TMA atoms" of A a stage.
TEST_F(FusedRhtArticle, ShapesInSharedMemory) {
  Diagnostics none;
  for (const auto& c : seen_.copies) {
    const isa::TensorMapFields f = isa::decode(isa::TensorMap{c.map}, none);
    const bool matrix = c.smem >= 0x34580;
    EXPECT_EQ(f.box[0], matrix ? 16u : 64u);
    EXPECT_EQ(f.box[1], matrix ? 16u : 8u);
    EXPECT_EQ(f.swizzle, matrix ? isa::Swizzle::b32 : isa::Swizzle::b128);
  }
  EXPECT_EQ(16u * 64 * 8, 128u * 64);
}

// "tCrA: DescriptorIterator o (_1,_1,_4,(_1,_13)):(_0,_0,_256,(_0,_1024))", "tCrB: … (_0,_32)" (one stage is used).
TEST_F(FusedRhtArticle, DescriptorStrides) {
  ASSERT_GE(seen_.mmas.size(), 8u);
  EXPECT_EQ(seen_.mmas[1].a - seen_.mmas[0].a, 256u);
  EXPECT_EQ(seen_.mmas[4].a - seen_.mmas[0].a, 1024u);
  EXPECT_EQ(seen_.mmas[4].b, seen_.mmas[0].b);
  EXPECT_EQ(isa::SmemDescriptor::decode(seen_.mmas[0].a).start, 0x580u);
  EXPECT_EQ(isa::SmemDescriptor::decode(seen_.mmas[0].b).start, 0x34580u);
}

// "bulk_tmem_mma(_,_,_, 1) | tmem_[32b](0x0000.0010)", "(_,_,_, 2) | 0x0000.0020"; four stages of 64 columns.
TEST_F(FusedRhtArticle, AccumulatorAddresses) {
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(seen_.mmas[i].d, 16 * (i % 16)) << i;
}

// "warp ID 0: 0x0000.0000, 1: 0x0020.0000, 2: 0x0040.0000, 3: 0x0060.0000".
TEST_F(FusedRhtArticle, EpilogueWarpsReadTheirLanes) {
  std::map<uint32_t, std::set<uint32_t>> by_warp;
  for (const auto& [warp, taddr] : seen_.loads) by_warp[warp].insert(taddr);
  ASSERT_EQ(by_warp.size(), 4u);
  for (const auto& [warp, addresses] : by_warp) {
    EXPECT_EQ(addresses, (std::set<uint32_t>{(warp - 4) << 21, ((warp - 4) << 21) + 64, ((warp - 4) << 21) + 128, ((warp - 4) << 21) + 192}));
  }
}

// "offset in rows = 786432 // 8192 = 96": thread 96 stores row 96 of the tile.
TEST_F(FusedRhtArticle, Thread96StoresRow96) {
  uint64_t base = ~uint64_t{0}, of_96 = ~uint64_t{0};
  for (const auto& [thread, address] : seen_.stores) {
    if (thread == 0) base = std::min(base, address);
    if (thread == 96) of_96 = std::min(of_96, address);
  }
  const uint64_t nibbles = (of_96 - base) * 8 / 4;
  EXPECT_EQ(nibbles / options_.m, 96u);
  EXPECT_EQ(nibbles % options_.m, 0u);
}

}  // namespace
}  // namespace drywell::kernels
