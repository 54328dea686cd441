// Lanes of one warp with different member masks: tiles of a warp, as cooperative groups make them.
#include "exec/check_lanes.h"

namespace drywell::test {
namespace {

constexpr size_t kThreads = 64;
constexpr uint32_t kTile = 8;

// w1: the lane; w3: the mask of its tile of eight lanes; w4: its value.
const std::string kTileMask = "mov.u32 w1, %laneid; and.b32 w2, w1, 24; mov.b32 w3, 255; shl.b32 w3, w3, w2; ";

Column values() {
  Column v(kThreads);
  for (size_t i = 0; i < kThreads; ++i) v[i] = i * 37 % 11;
  return v;
}

void check_tiles(const std::string& instruction, auto expected) {
  const Column v = values();
  const Column got = run_lanes(kTileMask + instruction, {"w0"}, {"w4"}, {v}, {"w1", "w2", "w3", "p0"}).at(0);
  for (size_t i = 0; i < kThreads; ++i) {
    const size_t first = i / kTile * kTile;
    std::array<uint32_t, kTile> tile;
    for (size_t k = 0; k < kTile; ++k) tile[k] = static_cast<uint32_t>(v[first + k]);
    EXPECT_EQ(static_cast<uint32_t>(got[i]), expected(tile, i % kTile, (first % 32))) << instruction << " lane " << i;
  }
}
using Tile = std::array<uint32_t, kTile>;

TEST(MemberMask, TilesExchange) {
  check_tiles("shfl.sync.bfly.b32 w0, w4, 5, 6175, w3;", [](const Tile& t, size_t i, size_t) { return t[i ^ 5]; });
  check_tiles("shfl.sync.idx.b32 w0, w4, 2, 6175, w3;", [](const Tile& t, size_t, size_t) { return t[2]; });
}

TEST(MemberMask, TilesVoteAndReduce) {
  check_tiles("setp.gt.u32 p0, w4, 5; vote.sync.ballot.b32 w0, p0, w3;", [](const Tile& t, size_t, size_t first) {
    uint32_t votes = 0;
    for (size_t k = 0; k < kTile; ++k) votes |= static_cast<uint32_t>(t[k] > 5) << (first + k);
    return votes;
  });
  check_tiles("redux.sync.add.u32 w0, w4, w3;", [](const Tile& t, size_t, size_t) {
    uint32_t sum = 0;
    for (const uint32_t x : t) sum += x;
    return sum;
  });
  check_tiles("match.any.sync.b32 w0, w4, w3;", [](const Tile& t, size_t i, size_t first) {
    uint32_t same = 0;
    for (size_t k = 0; k < kTile; ++k) same |= static_cast<uint32_t>(t[k] == t[i]) << (first + k);
    return same;
  });
  check_tiles("elect.sync w0|p0, w3;", [](const Tile&, size_t, size_t first) { return static_cast<uint32_t>(first); });
}

// Odd and even lanes have taken different ways when the tiles of the odd ones meet.
TEST(MemberMask, PartsOfTilesMeet) {
  const std::string body =
      "mov.u32 w1, %laneid; and.b32 w2, w1, 24; mov.b32 w3, 0xAA; shl.b32 w3, w3, w2; mov.b32 w0, 7; and.b32 w2, w1, 1;\n"
      "setp.eq.u32 p0, w2, 0; @p0 bra OUT; bar.warp.sync w3; redux.sync.max.u32 w0, w4, w3; bar.warp.sync w3; OUT:";
  const Column v = values();
  const Column got = run_lanes(body, {"w0"}, {"w4"}, {v}, {"w1", "w2", "w3", "p0"}).at(0);
  for (size_t i = 0; i < kThreads; ++i) {
    const size_t first = i / kTile * kTile;
    const uint64_t most = std::max({v[first + 1], v[first + 3], v[first + 5], v[first + 7]});
    EXPECT_EQ(got[i], i % 2 == 0 ? 7 : most) << i;
  }
}

// Half of every tile executes another barrier instruction, with the same mask.
TEST(MemberMask, TilesMeetAtDifferentBarriers) {
  const std::string body = kTileMask +
                           "and.b32 w2, w1, 4; setp.eq.u32 p0, w2, 0; mov.b32 w0, w4; @p0 bra LOW;\n"
                           "bar.warp.sync w3; add.u32 w0, w0, 1; bra OUT; LOW: bar.warp.sync w3; add.u32 w0, w0, 2; OUT:";
  const Column v = values();
  const Column got = run_lanes(body, {"w0"}, {"w4"}, {v}, {"w1", "w2", "w3", "p0"}).at(0);
  for (size_t i = 0; i < kThreads; ++i) EXPECT_EQ(got[i], v[i] + (i % 8 < 4 ? 2 : 1)) << i;
}

// All lanes execute an instruction whose mask has half of them, as HeCBench's b-tree does: what an H100 answers (nvcc 13.0 for sm_90, 26 November 2026).
TEST(MemberMask, LanesBesideAllMembersTakePart) {
  Column v(kThreads);
  for (size_t i = 0; i < kThreads; ++i) v[i] = 100 + i % 32;
  const auto answers = [&](const std::string& instruction, auto expected) {
    const Column got = run_lanes("mov.u32 w1, %laneid; and.b32 w2, w1, 1; setp.lt.u32 p0, w1, 16; " + instruction, {"w0"}, {"w4"}, {v}, {"w1", "w2", "p0"}).at(0);
    for (size_t i = 0; i < kThreads; ++i) EXPECT_EQ(got[i], expected(i % 32)) << instruction << " lane " << i;
  };
  answers("shfl.sync.up.b32 w0, w4, 16, 0, 0xFFFF;", [](size_t lane) { return 100 + lane % 16; });
  answers("shfl.sync.idx.b32 w0, w4, 20, 31, 0xFFFF;", [](size_t) { return 120u; });
  answers("setp.ge.u32 p0, w1, 0; vote.sync.ballot.b32 w0, p0, 0xFFFF;", [](size_t) { return 0xFFFFFFFFu; });
  answers("vote.sync.all.pred p0, p0, 0xFFFF; selp.u32 w0, 1, 0, p0;", [](size_t) { return 0u; });
  answers("redux.sync.add.u32 w0, w4, 0xFFFF;", [](size_t) { return 0xE70u; });
  answers("match.any.sync.b32 w0, w2, 0xFFFF;", [](size_t lane) { return lane % 2 == 0 ? 0x55555555u : 0xAAAAAAAAu; });
  answers("bar.warp.sync 0xFFFF; mov.u32 w0, 1;", [](size_t) { return 1u; });
}

}  // namespace
}  // namespace drywell::test
