// Every version of a lane loop computes the same bits as the baseline: the same handlers, compiled for other vector widths, on
// random registers with infinities, NaNs and subnormals among them, under full and partial masks.
#include "sim/exec/wide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sim/exec/rounded.h"

namespace drywell::sim {
namespace {

using Gen = std::mt19937;

struct AddWrapping {
  template <class T> static T apply(T a, T b) { return static_cast<T>(a + b); }
};
struct MulAddWrapping {
  template <class T> static T apply(T a, T b, T c) { return static_cast<T>(a * b + c); }
};

uint32_t word(Gen& gen) {
  constexpr uint32_t kSpecial[] = {0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF};
  if (gen() % 4 == 0) return kSpecial[gen() % std::size(kSpecial)];
  return gen() % 2 == 0 ? gen() : std::bit_cast<uint32_t>(static_cast<float>(std::normal_distribution<double>()(gen)));
}

std::vector<uint8_t> run(ExecFn fn, std::vector<uint8_t> registers, LaneMask mask) {
  Warp w;
  w.bank[0] = registers.data();
  DecodedOp op;
  for (uint32_t i = 0; i < 3; ++i) op.src[i].offset = 256 * i;
  op.dst = 256 * 3;
  EXPECT_EQ(fn(w, op, mask), Effect::next);
  return registers;
}

template <ExecFn Fn>
void expect_same_versions(const char* what) {
  Gen gen(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint8_t> registers(256 * 4);
    for (size_t i = 0; i < registers.size(); i += 4) {
      const uint32_t v = word(gen);
      std::memcpy(registers.data() + i, &v, 4);
    }
    const LaneMask mask = round % 2 == 0 ? kFullMask : gen();
    const std::vector<uint8_t> expected = run(Fn, registers, mask);
    EXPECT_EQ(run(widest<Fn>(), registers, mask), expected) << what;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
    if (vector_level() != VectorLevel::baseline) {
      EXPECT_EQ(run(avx2_version<Fn>, registers, mask), expected) << what << " avx2";
    }
#endif
  }
}

using In = Plain<float>;

TEST(Wide, IntegersAreTheSame) {
  expect_same_versions<binary<AddWrapping, uint32_t>>("add.u32");
  expect_same_versions<binary<AddWrapping, uint64_t>>("add.u64");
  expect_same_versions<ternary<MulAddWrapping, uint32_t>>("mad.u32");
}

TEST(Wide, FloatsAreTheSame) {
  expect_same_versions<nearest<float, F32<AddOp, false, false>, In, In>>("add.f32");
  expect_same_versions<nearest<float, F32<MulOp, true, false>, In, In>>("mul.ftz.f32");
  expect_same_versions<nearest<float, F32<FmaOp, false, false>, In, In, In>>("fma.f32");
  expect_same_versions<nearest<float, F32<FmaOp, true, true>, In, In, In>>("fma.ftz.sat.f32");
  expect_same_versions<nearest<float, F32<DivOp, false, false>, In, In>>("div.f32");
  expect_same_versions<nearest<float, F32<SqrtOp, false, false>, In>>("sqrt.f32");
}

}  // namespace
}  // namespace drywell::sim
