// The MMA arithmetic on the worked examples of docs/facts/numerics.md §3.5 and on its rules one by one.
#include "drywell/sim/numeric/mma.h"

#include <gtest/gtest.h>

#include <vector>

namespace drywell::numeric {
namespace {

using Codes = std::vector<uint32_t>;

const MmaParams& params(MmaKind kind, Format f, Format d = Format::f32, Format scale = Format::f32) {
  const MmaRow* row = find_mma({MmaArch::sm_100, MmaInstruction::tcgen05, kind, f, f, d, scale});
  if (row == nullptr) throw std::runtime_error("no such row");
  return row->params;
}
const MmaParams& hopper(Format f, Format d = Format::f32) {
  return find_mma({MmaArch::sm_90, MmaInstruction::wgmma, MmaKind::f8f6f4, f, f, d})->params;
}

Codes padded(Codes codes, size_t k) {
  codes.resize(k, 0);
  return codes;
}
Codes followed_by(uint32_t first, size_t count, uint32_t rest) {
  Codes codes(count + 1, rest);
  codes[0] = first;
  return codes;
}

uint32_t run(const MmaParams& p, Format f, size_t k, Codes a, Codes b, uint32_t c) {
  a = padded(std::move(a), k);
  b = padded(std::move(b), k);
  return dot(p, {f, f, a, b}, c);
}
uint32_t bf16(Codes a, Codes b, uint32_t c) {
  return run(params(MmaKind::f16, Format::bf16), Format::bf16, 16, std::move(a), std::move(b), c);
}
uint32_t f16(Codes a, Codes b, uint32_t c, Format d = Format::f32) {
  return run(params(MmaKind::f16, Format::f16, d), Format::f16, 16, std::move(a), std::move(b), c);
}
uint32_t e4m3(Codes a, Codes b, uint32_t c) {
  return run(params(MmaKind::f8f6f4, Format::e4m3), Format::e4m3, 32, std::move(a), std::move(b), c);
}
uint32_t hopper_e4m3(Codes a, Codes b, uint32_t c) {
  return run(hopper(Format::e4m3), Format::e4m3, 32, std::move(a), std::move(b), c);
}
uint32_t tf32(Codes a, Codes b, uint32_t c) {
  return run(params(MmaKind::tf32, Format::tf32), Format::tf32, 8, std::move(a), std::move(b), c);
}
uint32_t nvf4(Codes a, Codes b, Codes sfa, Codes sfb, uint32_t c) {
  a = padded(std::move(a), 64);
  b = padded(std::move(b), 64);
  return dot(params(MmaKind::mxf4nvf4, Format::e2m1, Format::f32, Format::ue4m3),
             {Format::e2m1, Format::e2m1, a, b, Format::ue4m3, sfa, sfb}, c);
}

TEST(MmaWorkedExamples, WindowAndTruncation) {
  EXPECT_EQ(bf16(followed_by(0x3F80, 15, 0x3900), followed_by(0x3F80, 15, 0x3900), 0), 0x3F800000u);  // 1a
  EXPECT_EQ(bf16(followed_by(0x3F80, 15, 0x3900), followed_by(0x3F80, 15, 0x3980), 0), 0x3F800003u);  // 1b
  EXPECT_EQ(f16({0x3C00, 0x3C00}, {0x3C00, 0xBC00}, 0x33000000), 0x33000000u);                        // 2a
  EXPECT_EQ(f16({0x3C00, 0x3C00}, {0x3C00, 0xBC00}, 0x32800000), 0x00000000u);                        // 2b
  EXPECT_EQ(f16({0x3E00, 0x3E00}, {0x3E00, 0xBE00}, 0x33000000), 0x33000000u);                        // 3a
  EXPECT_EQ(e4m3({0x01, 0x01}, {0x7E, 0xFE}, 0x34000000), 0x34000000u);                               // 3b
  EXPECT_EQ(e4m3({0x01, 0x01}, {0x7E, 0xFE}, 0x33800000), 0x00000000u);                               // 3c
  EXPECT_EQ(f16({0xBC00}, {0x3C00}, 0xB3800000), 0xBF800000u);                                        // 4
}

TEST(MmaWorkedExamples, HalfOutput) {
  EXPECT_EQ(f16({0x3C00, 0x1000}, {0x3C00, 0x3C00}, 0, Format::f16), 0x3C00u);       // 5a
  EXPECT_EQ(f16({0x3C00, 0x1000}, {0x3C00, 0x3C00}, 0x1400, Format::f16), 0x3C02u);  // 5b
  EXPECT_EQ(f16({0x7BFF}, {0x3C00}, 0x4C00, Format::f16), 0x7C00u);                  // 5c
  EXPECT_EQ(f16({0x7BFF}, {0x3C00}, 0x4BFF, Format::f16), 0x7BFFu);
}

TEST(MmaWorkedExamples, HopperAndBlackwellFp8) {
  EXPECT_EQ(hopper_e4m3({0x38}, {0x38}, 0x3F800600), 0x40000000u);  // 6a
  EXPECT_EQ(e4m3({0x38}, {0x38}, 0x3F800600), 0x40000300u);         // 6b
  EXPECT_EQ(hopper_e4m3({0x7E}, {0x7E}, 0x3F800000), 0x48440000u);  // 6c
  EXPECT_EQ(e4m3({0x7E}, {0x7E}, 0x3F800000), 0x48440040u);
}

TEST(MmaWorkedExamples, BlockScales) {
  const Codes a = padded({0x3C}, 32), b = padded({0x3A}, 32), sfa = {0x82}, sfb = {0x7A};
  EXPECT_EQ(dot(params(MmaKind::mxf8f6f4, Format::e4m3, Format::f32, Format::ue8m0),
                {Format::e4m3, Format::e4m3, a, b, Format::ue8m0, sfa, sfb}, 0x3F800000),
            0x3FBC0000u);  // 7
  EXPECT_EQ(nvf4(Codes(16, 7), Codes(16, 7), {0x39, 0x38, 0x38, 0x38}, {0x3A, 0x38, 0x38, 0x38}, 0x3F000000),
            0x444AA000u);  // 10
  const Codes unit(4, 0x38);
  EXPECT_EQ(nvf4({0x2, 0xA}, {0x2, 0x2}, unit, unit, 0x2E000000), 0x2E000000u);  // 11
  EXPECT_EQ(nvf4({0x2, 0xA}, {0x2, 0x2}, unit, unit, 0x2D800000), 0x00000000u);
  Codes a12 = {0x2, 0xA}, b12 = {0x2, 0x2};
  a12.resize(17), b12.resize(17);
  a12[16] = b12[16] = 1;
  EXPECT_EQ(nvf4(a12, b12, {0x78, 0x01, 0x38, 0x38}, {0x78, 0x01, 0x38, 0x38}, 0), 0x00000000u);  // 12
}

TEST(MmaWorkedExamples, WindowFloorAndOverflow) {
  EXPECT_EQ(bf16(Codes(16, 0x1980), Codes(16, 0x1980), 0), 0x00000002u);                         // 8
  EXPECT_EQ(bf16(Codes(16, 0x1800), Codes(16, 0x1800), 0), 0x00000000u);                         // 8b
  EXPECT_EQ(bf16({0x7F7F, 0x7F7F}, {0x3F80, 0x3F80}, 0), 0x7F800000u);                           // 9
  EXPECT_EQ(tf32({0x7F000000, 0x7F000000}, {0x7F000000, 0xFF000000}, 0x3F800000), 0x00000000u);  // 9b
}

TEST(MmaWindowFloor, HalfOutputCutsBelow46) {
  // 2^-25 is half of f16's smallest subnormal: a tie, to even, unless something below it survives. The floor
  // -21 makes the quantum 2^-46 although every product has a raw exponent of -25 or less (docs/facts/numerics.md
  // §3.4 F).
  EXPECT_EQ(f16({0x0C00, 0x0004}, {0x0800, 0x0001}, 0, Format::f16),
            0x0001u);                                                           // + 2^-22 * 2^-24 = 2^-46: kept
  EXPECT_EQ(f16({0x0C00, 0x0002}, {0x0800, 0x0001}, 0, Format::f16), 0x0000u);  // + 2^-47: cut
}

TEST(MmaWindowFloor, Mxf4CutsBelow174) {
  // 2^-149 minus something smaller truncates to zero if the something survives.
  Codes a(64, 0), b(64, 0);
  a[0] = b[0] = 4;       // 2 * 2, scaled by 2^-151: 2^-149
  a[16] = 1, b[16] = 9;  // 0.5 * -0.5, scaled below
  const MmaParams& p = params(MmaKind::mxf4nvf4, Format::e2m1, Format::f32, Format::ue8m0);
  const auto with_scales = [&](uint32_t second) {
    const Codes sfa = {127 - 75, 127 - 86, 0, 0}, sfb = {127 - 76, second, 0, 0};
    return dot(p, {Format::e2m1, Format::e2m1, a, b, Format::ue8m0, sfa, sfb}, 0);
  };
  EXPECT_EQ(with_scales(127 - 86), 0x00000000u);  // -2^-174: kept
  EXPECT_EQ(with_scales(127 - 87), 0x00000001u);  // -2^-175: cut
}

TEST(MmaSpecials, NanInfinityAndZero) {
  EXPECT_EQ(bf16({0x7F81}, {0x0000}, 0), 0x7FFFFFFFu);                  // NaN * 0
  EXPECT_EQ(bf16({0xFF80}, {0x8000}, 0), 0x7FFFFFFFu);                  // Inf * -0
  EXPECT_EQ(bf16({0xFF80}, {0x3F80}, 0x3F800000), 0xFF800000u);         // -Inf
  EXPECT_EQ(bf16({0xFF80, 0x7F80}, {0x3F80, 0x3F80}, 0), 0x7FFFFFFFu);  // both signs
  EXPECT_EQ(bf16({0x7F80}, {0x3F80}, 0xFF800000), 0x7FFFFFFFu);
  EXPECT_EQ(bf16({}, {}, 0xFF800000), 0xFF800000u);
  EXPECT_EQ(bf16({}, {}, 0xFFC00001), 0x7FFFFFFFu);
  EXPECT_EQ(bf16({0x8000}, {0x3F80}, 0x80000000), 0x00000000u);  // zero sums are +0
  EXPECT_EQ(bf16({}, {}, 0x80000001), 0x80000001u);              // subnormal C alone
  EXPECT_EQ(f16({}, {}, 0xFC01, Format::f16), 0x7FFFu);
  EXPECT_EQ(f16({0xFC00}, {0x3C00}, 0, Format::f16), 0xFC00u);
  EXPECT_EQ(tf32({0x7F800001}, {0x3F800000}, 0), 0x7F800000u);  // payload only in the dropped bits
}

TEST(MmaSpecials, NanScaleWinsOverZeroData) {
  const Codes zero(32, 0), sfa = {0xFF}, sfb = {0x7F};
  EXPECT_EQ(dot(params(MmaKind::mxf8f6f4, Format::e4m3, Format::f32, Format::ue8m0),
                {Format::e4m3, Format::e4m3, zero, zero, Format::ue8m0, sfa, sfb}, 0),
            0x7FFFFFFFu);
  EXPECT_EQ(nvf4({}, {}, {0x38, 0x38, 0x7F, 0x38}, Codes(4, 0x38), 0), 0x7FFFFFFFu);
  // Infinite C in the mxf4 kinds stays infinite.
  EXPECT_EQ(nvf4({0x2}, {0x2}, Codes(4, 0x38), Codes(4, 0x38), 0xFF800000), 0xFF800000u);
}

TEST(MmaZeroProducts, DoNotRaiseTheWindow) {
  // 0 * 2^127 would have exponent 1 and cut a tiny C (docs/facts/numerics.md §3.4 Z, measured on H200).
  EXPECT_EQ(bf16({0x0000}, {0x7F00}, 0x00000001), 0x00000001u);
  EXPECT_EQ(bf16({0x0000, 0x2000}, {0x7F00, 0x3F80}, 0), 0x20000000u);
}

TEST(MmaScaleInputD, DividesCByAPowerOfTwo) {
  const Codes one = padded({0x3F80}, 16);
  EXPECT_EQ(dot(params(MmaKind::f16, Format::bf16), {Format::bf16, Format::bf16, one, one}, 0x40000000, 3),
            0x3FA00000u);
}

TEST(MmaInteger, WrapsOrClampsOnce) {
  const std::vector<uint8_t> a(32, 0xFF), b(32, 0xFF);
  EXPECT_EQ(dot_i8(a, true, b, true, 0, false), 32u);
  EXPECT_EQ(dot_i8(a, false, b, false, 0, false), 32u * 255 * 255);
  EXPECT_EQ(dot_i8(a, true, b, false, 0, false), static_cast<uint32_t>(-32 * 255));
  EXPECT_EQ(dot_i8(a, false, b, false, 0x7FFFFFFF, false), 0x7FFFFFFFu + 32u * 255 * 255);
  EXPECT_EQ(dot_i8(a, false, b, false, 0x7FFFFFFF, true), 0x7FFFFFFFu);
  EXPECT_EQ(dot_i8(a, true, b, false, 0x80000000, true), 0x80000000u);
}

TEST(MmaDouble, IsSequentialFusedMultiplyAdd) {
  const std::vector<double> a = {0x1.0000001p0, -1}, b = {0x1.0000001p0, 1};
  EXPECT_EQ(dot_f64(a, b, -0x1.0000002p0), 0x1p-56 - 1);
}

TEST(MmaLegacyFp8, CEntersOnlyInTheLastAddition) {
  // 1 + 2^-24: the fused sum would truncate; one ordinary addition rounds this tie to even.
  const MmaRow* row = find_mma(
      {MmaArch::sm_90, MmaInstruction::mma_sync, MmaKind::f8f6f4, Format::e4m3, Format::e4m3, Format::f32});
  ASSERT_NE(row, nullptr);
  const Codes a = padded({0x38}, 32);
  EXPECT_EQ(dot(row->params, {Format::e4m3, Format::e4m3, a, a}, 0x33C00000),
            0x3F800001u);                                                                    // 1 + 1.5 * 2^-24: up
  EXPECT_EQ(dot(row->params, {Format::e4m3, Format::e4m3, a, a}, 0x33800000), 0x3F800000u);  // 1 + 2^-24: tie
  // The two sums use k mod 4 in {0,1} and {2,3}: 2^15 in the first, then 2^-10 + 2^-10 in the second are
  // exact, but an infinity in the first is added to the opposite one in C only at the end.
  Codes inf = padded({0x7C}, 32);
  const MmaRow* e5m2 = find_mma(
      {MmaArch::sm_90, MmaInstruction::mma_sync, MmaKind::f8f6f4, Format::e5m2, Format::e5m2, Format::f16});
  ASSERT_NE(e5m2, nullptr);
  const Codes one = padded({0x3C}, 32);
  EXPECT_EQ(dot(e5m2->params, {Format::e5m2, Format::e5m2, inf, one}, 0xFC00), 0x7FFFu);
  EXPECT_EQ(dot(e5m2->params, {Format::e5m2, Format::e5m2, one, one}, 0x1000),
            0x3C00u);  // 1 + 2^-11: tie, f16 D
}

TEST(MmaChained, AmpereSplitsTheInstruction) {
  // k8 + k8 on sm_80: the first half is rounded before the second enters.
  const MmaRow* row = find_mma(
      {MmaArch::sm_80, MmaInstruction::mma_sync, MmaKind::f16, Format::bf16, Format::bf16, Format::f32});
  ASSERT_NE(row, nullptr);
  Codes a(16, 0), b(16, 0);
  a[0] = b[0] = 0x3F80;          // 1
  a[1] = 0x3980, b[1] = 0x3980;  // 2^-24, kept in the window, cut by the rounding of the first sum
  a[8] = 0x3980, b[8] = 0x3980;  // 2^-24 again, in the second sum
  EXPECT_EQ(dot(row->params, {Format::bf16, Format::bf16, a, b}, 0), 0x3F800000u);
  MmaParams whole = row->params;
  whole.sum_terms = 0;
  EXPECT_EQ(dot(whole, {Format::bf16, Format::bf16, a, b}, 0), 0x3F800001u);
}

TEST(MmaTable, EveryRowIsReachableByItsOwnQuery) {
  for (const MmaRow& row : mma_rows()) {
    for (unsigned f = 0; f < kFormatCount; ++f) {
      if ((row.a_formats >> f & 1) == 0) continue;
      const Format format = static_cast<Format>(f);
      const MmaRow* found = find_mma(
          {row.arch, row.instruction, row.kind, format, format, row.params.d_format(), row.scale_format});
      EXPECT_EQ(found, &row) << row.note;
    }
  }
}

}  // namespace
}  // namespace drywell::numeric
