// Fragments against the thread-value layouts that CuTe's MMA traits give (include/cute/atom/mma_traits_sm80.hpp, _sm90_gmma.hpp:
// published constants, column-major tiles), and properties every fragment has.
#include "drywell/sim/inspect/fragment_map.h"

#include <gtest/gtest.h>

#include <set>

#include "drywell/core/error.h"
#include "drywell/isa/layout/expression.h"
#include "drywell/sim/inspect/banks.h"

namespace drywell::sim {
namespace {

struct Published {
  const char* name;
  const char* instruction;
  const char* operand;
  const char* layout;  // (thread, value) -> row + rows * column
};

class PublishedFragment : public testing::TestWithParam<Published> {};

TEST_P(PublishedFragment, IsThatOfCute) {
  const layout::Layout tv = layout::parse_layout(GetParam().layout);
  for (const FragmentMap& f : fragments_of(GetParam().instruction)) {
    if (f.operand != GetParam().operand) continue;
    ASSERT_EQ(f.elements.size(), static_cast<size_t>(layout::size(tv).value));
    for (const FragmentElement& e : f.elements) {
      const int64_t value = e.reg * f.per_register + e.part;
      // B's tile is (N, K) in CuTe.
      const int64_t want = f.operand == "b" ? e.column + f.columns * e.row : e.row + f.rows * e.column;
      EXPECT_EQ(tv(layout::IntTuple::of({int64_t{e.thread}, value})).leaf().value, want) << e.thread << " " << value;
    }
    return;
  }
  FAIL() << "no operand " << GetParam().operand;
}

INSTANTIATE_TEST_SUITE_P(
    Cute, PublishedFragment,
    testing::Values(Published{"F16k16A", "mma.m16n8k16.f32.f16.f16.f32", "a", "((4,8),(2,2,2)):((32,1),(16,8,128))"},
                    Published{"F16k16B", "mma.m16n8k16.f32.f16.f16.f32", "b", "((4,8),(2,2)):((16,1),(8,64))"},
                    Published{"F32D", "mma.m16n8k16.f32.f16.f16.f32", "d", "((4,8),(2,2)):((32,1),(16,8))"},
                    Published{"F16D", "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "d", "((4,8),(2,2)):((32,1),(16,8))"},
                    Published{"F16k8A", "mma.m16n8k8.f32.bf16.bf16.f32", "a", "((4,8),(2,2)):((32,1),(16,8))"},
                    Published{"Tf32k8A", "mma.m16n8k8.f32.tf32.tf32.f32", "a", "((4,8),(2,2)):((16,1),(8,64))"},
                    Published{"S8k32A", "mma.m16n8k32.s32.s8.s8.s32", "a", "((4,8),(4,2,2)):((64,1),(16,8,256))"},
                    Published{"S8k32B", "mma.m16n8k32.s32.s8.s8.s32", "b", "((4,8),(4,2)):((32,1),(8,128))"},
                    Published{"F64k4A", "mma.m8n8k4.f64", "a", "((4,8),1):((8,1),0)"},
                    Published{"WgmmaD64", "wgmma.m64n64k16.f32.bf16.bf16", "d", "((4,8,4),(2,2,8)):((128,1,16),(64,8,512))"},
                    Published{"WgmmaA", "wgmma.m64n64k16.f32.bf16", "a", "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))"}),
    [](const auto& i) { return std::string(i.param.name); });

TEST(Fragments, HoldEveryElementOnce) {
  for (const char* text : {"tcgen05.ld.32x32b.x16", "tcgen05.ld.16x64b.x8", "tcgen05.st.16x128b.x4", "tcgen05.ld.16x256b.x2", "tcgen05.ld.16x32bx2.x4",
                           "tcgen05.ld.16x64b.x2.pack::16b", "ldmatrix.x4", "ldmatrix.x2.trans", "ldmatrix.m16n16.x2.trans.b8", "stmatrix.m16n8.x4.trans.b8",
                           "mma.m16n8k64.s32.s4.s4.s32", "wgmma.m64n128k32.f16.e4m3.e5m2"}) {
    for (const FragmentMap& f : fragments_of(text)) {
      std::set<std::pair<uint32_t, uint32_t>> places;
      for (const FragmentElement& e : f.elements) EXPECT_TRUE(places.insert({e.row, e.column}).second) << text << " " << e.row << "," << e.column;
      EXPECT_EQ(places.size(), size_t{f.rows} * f.columns) << text;
      EXPECT_EQ(f.elements.size(), size_t{f.threads} * f.registers * f.per_register) << text;
    }
  }
}

// PTX ISA 9.7.16.2, figure of .16x256b: thread t has the two neighbouring cells from 2 (t mod 4) on of row t/4.
TEST(Fragments, OfTensorMemoryLoads) {
  const FragmentMap f = fragments_of("tcgen05.ld.16x256b.x1")[0];
  EXPECT_EQ(f.rows, 16u);
  EXPECT_EQ(f.columns, 8u);
  for (const FragmentElement& e : f.elements) {
    EXPECT_EQ(e.row, e.thread / 4 + 8 * (e.reg / 2));
    EXPECT_EQ(e.column, 2 * (e.thread % 4) + e.reg % 2);
  }
}

TEST(Fragments, RefuseWhatHasNone) {
  for (const char* text : {"", "add.f32", "mma", "mma.m16n8k17.f16", "mma.m16n8k16", "tcgen05.ld.x4", "tcgen05.ld.16x256b.x64", "ldmatrix.x8", "wgmma.m16n8k16.f16"})
    EXPECT_THROW(fragments_of(text), InputError) << text;
}

TEST(Fragments, PicturesNameThreadAndRegister) {
  const FragmentMap a = fragments_of("mma.m16n8k16.f32.f16.f16.f32")[0];
  EXPECT_EQ(matrix_picture(a).at(8, 1).text, "T0 R1.1");
  EXPECT_EQ(register_picture(a).at(5, 2).text, "(1,10) (1,11)");
}

// Passes by the CUDA C++ Programming Guide: one for 32 neighbouring words, 32 for a stride of 128 bytes; 16-byte accesses go in
// four groups of eight lanes.
TEST(Banks, CountPasses) {
  const auto passes = [](const char* expression, uint32_t bytes) { return smem_wavefronts(lane_addresses(expression, bytes)); };
  EXPECT_EQ(passes("lane*4", 4), 1u);
  EXPECT_EQ(passes("lane*8", 4), 2u);
  EXPECT_EQ(passes("lane*128", 4), 32u);
  EXPECT_EQ(passes("128", 4), 1u);
  EXPECT_EQ(passes("lane*16", 16), 4u);
  EXPECT_EQ(passes("(8,4):(128,16)", 16), 32u);
  EXPECT_EQ(passes("Swizzle<3,4,3> o 0 o (8,4):(128,16)", 16), 4u);
  EXPECT_EQ(passes("(lane%8)*128 + ((lane/8 ^ lane%8) * 16)", 16), 4u);
}

TEST(Banks, ExpressionsFollowC) {
  const auto at = [](const char* e) { return lane_addresses(e, 4).at[5]; };
  EXPECT_EQ(at("1 + 2 * lane"), 11u);
  EXPECT_EQ(at("1 | 2 ^ 3 & lane << 1"), uint64_t{1 | (2 ^ (3 & (5 << 1)))});
  EXPECT_EQ(at("100 - lane - 1"), 94u);
  EXPECT_EQ(at("0x100 + (lane & 4) / 2 % 3"), 0x102u);
  EXPECT_EQ(at("- -lane"), 5u);
  for (const char* bad : {"", "lane +", "(lane", "lane / 0", "lane lane", "x", "-1", "lane*4;", "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1"})
    EXPECT_THROW(lane_addresses(bad, 4), InputError) << bad;
}

TEST(Banks, InstructionsSayBytesAndLanes) {
  const auto form = [](const char* text) {
    const AccessForm f = access_form(text);
    return std::pair{f.bytes, f.lanes};
  };
  EXPECT_EQ(form("ld.shared.v4.b32"), (std::pair{16u, 32u}));
  EXPECT_EQ(form("st.shared.b64"), (std::pair{8u, 32u}));
  EXPECT_EQ(form("ldmatrix.sync.aligned.m8n8.x2.shared.b16"), (std::pair{16u, 16u}));
  EXPECT_EQ(form("ldmatrix.x4"), (std::pair{16u, 32u}));
  EXPECT_THROW(access_form("mma.m16n8k16"), InputError);
  // Rows of 128 bytes: eight ways, unless swizzled.
  const LaneAddresses rows = lane_addresses("lane*128", 16);
  EXPECT_EQ(smem_wavefronts(rows), 32u);
  EXPECT_EQ(smem_wavefronts(swizzled(rows, isa::Swizzle::b128)), 4u);
}

TEST(Banks, PictureCountsWordsOfABank) {
  const layout::Grid g = bank_picture(lane_addresses("lane*8", 4));
  EXPECT_EQ(g.at(0, 0).text, "2");
  EXPECT_EQ(g.at(0, 1).text, "");
  EXPECT_NE(g.at(0, 0).tip.find("word 0x80: lanes 16"), std::string::npos) << g.at(0, 0).tip;
}

/// What lies at a lane and column of tensor memory: row (or m) and word (or n); nothing: {-1, -1}.
std::pair<int64_t, int64_t> held_at(const FragmentMap& f, uint32_t lane, uint32_t column) {
  for (const FragmentElement& e : f.elements)
    if (e.row == lane && e.column == column) return {e.thread, e.reg};
  return {-1, -1};
}
using Held = std::pair<int64_t, int64_t>;

// PTX ISA 9.7.16.9.1: what .warpx2 and .warpx4 repeat.
TEST(TensorMemoryFragment, CopiesRepeatRowsForWarps) {
  const FragmentMap halves = fragments_of("tcgen05.cp.cta_group::1.64x128b.warpx2::01_23").at(0);
  for (const uint32_t lane : {72u, 104u}) EXPECT_EQ(held_at(halves, lane, 3), Held(40, 3)) << lane;
  EXPECT_EQ(held_at(halves, 40, 0), Held(8, 0));
  const FragmentMap pairs = fragments_of("tcgen05.cp.64x128b.warpx2::02_13").at(0);
  for (const uint32_t lane : {40u, 104u}) EXPECT_EQ(held_at(pairs, lane, 1), Held(40, 1)) << lane;
  const FragmentMap four = fragments_of("tcgen05.cp.32x128b.warpx4").at(0);
  for (const uint32_t lane : {5u, 37u, 69u, 101u}) EXPECT_EQ(held_at(four, lane, 2), Held(5, 2)) << lane;
  EXPECT_EQ(fragments_of("tcgen05.cp.128x256b").at(0).elements.size(), 128u * 8);
  EXPECT_EQ(held_at(fragments_of("tcgen05.cp.4x256b").at(0), 64, 7), Held(2, 7));
  EXPECT_THROW(fragments_of("tcgen05.cp.16x128b"), InputError);
}

// Layouts of D: PTX ISA 9.7.16.10.5. F (M = 64): 16 rows in each 32 lanes. B (a pair, M = 128): columns from N / 2 on are in the upper lanes.
TEST(TensorMemoryFragment, ElementsOfDLieAsPtxDrawsThem) {
  const FragmentMap f = fragments_of("tcgen05.mma.cta_group::1.kind::f16.m64n32").at(0);
  EXPECT_EQ(held_at(f, 33, 7), Held(17, 7));
  EXPECT_EQ(held_at(f, 16, 0), Held(-1, -1)) << "lanes 16 to 31 are empty";
  const std::vector<FragmentMap> b = fragments_of("tcgen05.mma.cta_group::2.kind::f16.m128n256");
  ASSERT_EQ(b.size(), 2u);
  EXPECT_EQ(held_at(b[0], 70, 3), Held(6, 131));
  EXPECT_EQ(held_at(b[1], 70, 3), Held(70, 131));
  EXPECT_THROW(fragments_of("tcgen05.mma.m100n64"), InputError);
}

}  // namespace
}  // namespace drywell::sim
