// Rows of the scalar families through executed instructions. Expectations are PTX's rules and the tables of
// docs/facts, written out; none is the simulator's own arithmetic.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "drywell/isa/builder.h"
#include "drywell/sim/device.h"

namespace drywell::sim {
namespace {

using namespace drywell::isa;
using Words = std::vector<uint32_t>;

// Runs one warp: lane i reads words in[i], `body` makes a word of it, out[i] receives it.
Words map_lanes(const Words& in, const std::function<Reg(KernelBuilder&, Reg)>& body) {
  KernelBuilder k("row");
  const Symbol p = k.param(Mod::u64, "in"), q = k.param(Mod::u64, "out");
  const Reg offset = k.def("mul.wide.u32", k.def("mov.u32", SpecialReg::tid_x), 4);
  const Reg from = k.def("add.s64", k.load_param(p, Mod::u64), offset),
            to = k.def("add.s64", k.load_param(q, Mod::u64), offset);
  const Reg result = body(k, k.def("ld.global.u32", mem(from)));
  k("st.global.b32", mem(to), result);
  Device d;
  Words padded = in;
  padded.resize(kWarpSize);
  const GmemAddr a = d.allocate(128), b = d.allocate(128);
  d.write(a, padded.data(), 128);
  const RunResult r =
      d.launch(d.load(k.finish()), "row", {{1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0}, Args().add(a).add(b));
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.fault->to_string());
  Words out(kWarpSize);
  d.read(out.data(), b, 128);
  out.resize(in.empty() ? kWarpSize : in.size());
  return out;
}

uint32_t bits(float v) { return std::bit_cast<uint32_t>(v); }
Reg as_f32(KernelBuilder& k, Reg v) { return k.def("mov.b32", v); }
Words lane_numbers() {
  Words w(kWarpSize);
  for (uint32_t i = 0; i < kWarpSize; ++i) w[i] = i;
  return w;
}

// docs/facts/numerics.md §2.1: "<=0.25: 0 | <0.75: 0.5 | <=1.25: 1 | <1.75: 1.5 | <=2.5: 2 | <3.5: 3 | <=5: 4 |
// >5: 6", NaN +6.
TEST(CvtE2m1x2, DecisionPoints) {
  const Words in = {bits(0.25f), bits(0.2500001f), bits(0.75f), bits(1.25f), bits(1.75f), bits(2.5f),
                    bits(3.5f), bits(5.0f), bits(5.000001f), bits(-0.0f), bits(-1e30f), 0x7FC00000};
  const Words want = {0x0, 0x1, 0x2, 0x2, 0x4, 0x4, 0x6, 0x6, 0x7, 0x8, 0xF, 0x7};
  EXPECT_EQ(map_lanes(in,
                      [](KernelBuilder& k, Reg v) {
                        const Reg byte = k.def("cvt.rn.satfinite.e2m1x2.f32", 6.0f, as_f32(k, v));
                        const Reg word = k.def("mov.b32", vec(byte, byte, byte, byte));
                        return k.def("and.b32", word, 0xF);
                      }),
            want);
}

TEST(CvtE2m1x2, FirstOperandGoesOnTop) {
  const Words out = map_lanes({bits(1.0f)}, [](KernelBuilder& k, Reg v) {
    const Reg byte = k.def("cvt.rn.satfinite.e2m1x2.f32", -6.0f, as_f32(k, v));
    return k.def("mov.b32", vec(byte, byte, byte, byte));
  });
  EXPECT_EQ(out[0], 0xF2F2F2F2u);
}

// docs/facts/numerics.md §2.2: with R = 0 nothing rounds up, with R = 2^16 - 1 every fraction of at least 2^-16
// does.
TEST(CvtE2m1x4Rs, ZeroBitsTruncateAndOnesRoundUp) {
  const auto run = [](uint32_t random) {
    return map_lanes({bits(2.1f), bits(-4.5f), bits(0.3f), bits(6.5f)}, [random](KernelBuilder& k, Reg v) {
      const Reg f = as_f32(k, v);
      const Reg r = k.def("mov.b32", random);
      const Reg h = k.def("cvt.rs.satfinite.e2m1x4.f32", vec(f, f, f, f), r);
      return k.def("mov.b32", vec(h, h));
    });
  };
  EXPECT_EQ(run(0), (Words{0x44444444, 0xEEEEEEEE, 0x00000000, 0x77777777}));
  EXPECT_EQ(run(0xFFFFFFFF), (Words{0x55555555, 0xFFFFFFFF, 0x11111111, 0x77777777}));
}

// docs/facts/numerics.md §2.1: saturation at 448, NaN 0x7F, sign of zero kept.
TEST(CvtE4m3x2, SaturatesAndKeepsSigns) {
  const Words in = {bits(448.0f), bits(1e9f), bits(-1e9f), bits(-0.0f),
                    0xFFC00000, bits(1.0f), bits(0x1p-10f)};
  const Words want = {0x7E, 0x7E, 0xFE, 0x80, 0x7F, 0x38, 0x00};
  EXPECT_EQ(map_lanes(in,
                      [](KernelBuilder& k, Reg v) {
                        const Reg pair = k.def("cvt.rn.satfinite.e4m3x2.f32", 0.0f, as_f32(k, v));
                        return k.def("cvt.u32.u16", pair);
                      }),
            want);
}

TEST(CvtBf16x2, RoundsTiesToEven) {
  // 1 + 2^-8 is between 3F80 and 3F81: even is 3F80; 1 + 3*2^-8 is between 3F81 and 3F82: even is 3F82.
  const Words out =
      map_lanes({bits(1.0f + 0x1p-8f), bits(1.0f + 3 * 0x1p-8f), 0x7F800001},
                [](KernelBuilder& k, Reg v) { return k.def("cvt.rn.bf16x2.f32", 1.0f, as_f32(k, v)); });
  EXPECT_EQ(out, (Words{0x3F803F80, 0x3F803F82, 0x3F807FFF}));
}

TEST(MinMaxF32, OneNanIsIgnoredUnlessAsked) {
  const Words in = {0x7FC00000, bits(2.0f), bits(-0.0f)};
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("max.f32", as_f32(k, v), 0.0f); }),
            (Words{0, bits(2.0f), 0}));
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("max.NaN.f32", as_f32(k, v), 0.0f); }),
            (Words{0x7FFFFFFF, bits(2.0f), 0}));
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("min.f32", as_f32(k, v), 0.0f); }),
            (Words{0, 0, 0x80000000}));
}

TEST(DivF32, IsIeeeWithTheCanonicalNan) {
  const Words out = map_lanes({bits(0.0f), bits(3.0f), 0x7F800000}, [](KernelBuilder& k, Reg v) {
    return k.def("div.rn.f32", as_f32(k, v), as_f32(k, v));
  });
  EXPECT_EQ(out, (Words{0x7FFFFFFF, bits(1.0f), 0x7FFFFFFF}));
}

TEST(Integer, ProductsAndQuotients) {
  const Words in = {0xFFFFFFFF, 7, 0x80000000};
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("mul.hi.u32", v, v); }),
            (Words{0xFFFFFFFE, 0, 0x40000000}));
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("mul.hi.s32", v, 3); }),
            (Words{0xFFFFFFFF, 0, 0xFFFFFFFE}));
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("rem.s32", v, 4); }),
            (Words{0xFFFFFFFF, 3, 0}));
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("div.u32", v, 2); }),
            (Words{0x7FFFFFFF, 3, 0x40000000}));
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("shr.s32", v, 40); }),
            (Words{0xFFFFFFFF, 0, 0xFFFFFFFF}));
  EXPECT_EQ(map_lanes(in, [](KernelBuilder& k, Reg v) { return k.def("shl.b32", v, 40); }), (Words{0, 0, 0}));
}

TEST(Shuffle, EveryMode) {
  Words idx(32), bfly(32), up(32), down(32);
  for (uint32_t i = 0; i < 32; ++i) {
    idx[i] = 5;
    bfly[i] = i ^ 1;
    up[i] = i >= 3 ? i - 3 : i;  // lanes below the shift keep their value
    down[i] = i + 3 < 32 ? i + 3 : i;
  }
  EXPECT_EQ(map_lanes(lane_numbers(),
                      [](KernelBuilder& k, Reg v) { return k.def("shfl.sync.idx.b32", v, 5, 0x1F, -1); }),
            idx);
  EXPECT_EQ(map_lanes(lane_numbers(),
                      [](KernelBuilder& k, Reg v) { return k.def("shfl.sync.bfly.b32", v, 1, 0x1F, -1); }),
            bfly);
  EXPECT_EQ(map_lanes(lane_numbers(),
                      [](KernelBuilder& k, Reg v) { return k.def("shfl.sync.up.b32", v, 3, 0, -1); }),
            up);
  EXPECT_EQ(map_lanes(lane_numbers(),
                      [](KernelBuilder& k, Reg v) { return k.def("shfl.sync.down.b32", v, 3, 0x1F, -1); }),
            down);
}

TEST(Vote, BallotAndElect) {
  const auto odd = [](KernelBuilder& k, Reg v) {
    const Reg p = k.reg(Mod::pred);
    k("setp.ne.u32", p, k.def("and.b32", v, 1), 0);
    return p;
  };
  EXPECT_EQ(map_lanes(lane_numbers(),
                      [&](KernelBuilder& k, Reg v) { return k.def("vote.sync.ballot.b32", odd(k, v), -1); }),
            Words(32, 0xAAAAAAAA));
  EXPECT_EQ(map_lanes(lane_numbers(),
                      [&](KernelBuilder& k, Reg v) {
                        const Reg any = k.reg(Mod::pred), all = k.reg(Mod::pred);
                        k("vote.sync.any.pred", any, odd(k, v), -1);
                        k("vote.sync.all.pred", all, odd(k, v), -1);
                        return k.def("selp.b32", k.def("selp.b32", 3, 1, all), 0, any);
                      }),
            Words(32, 1));
  Words leader(32, 0);
  leader[0] = 1;
  EXPECT_EQ(map_lanes(lane_numbers(),
                      [](KernelBuilder& k, Reg) {
                        const Reg p = k.reg(Mod::pred);
                        k("elect.sync", pair(sink(), p), -1);
                        return k.def("selp.b32", 1, 0, p);
                      }),
            leader);
}

}  // namespace
}  // namespace drywell::sim
