// The GEMM reference alone: result words of the record, its order along K, the epilogue; and the
// host-side quantizer.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "drywell/kernels/quantize.h"
#include "drywell/kernels/reference_gemm.h"
#include "unit/numeric_vectors.h"

namespace drywell::kernels {
namespace {

using reference::GemmArithmetic;
using reference::GemmOperand;
using reference::NumberFormat;
using reference::OutputFormat;

std::optional<NumberFormat> format_named(const std::string& name) {
  static const std::map<std::string, NumberFormat> kNames = {
      {"e2m1", NumberFormat::e2m1}, {"e2m3", NumberFormat::e2m3}, {"e3m2", NumberFormat::e3m2}, {"e4m3", NumberFormat::e4m3}, {"e5m2", NumberFormat::e5m2}, {"fp16", NumberFormat::f16}, {"f16", NumberFormat::f16}, {"bf16", NumberFormat::bf16}, {"ue4m3", NumberFormat::ue4m3}, {"ue8m0", NumberFormat::ue8m0}};
  const auto it = kNames.find(name);
  return it == kNames.end() ? std::nullopt : std::optional(it->second);
}

struct Codes {
  std::vector<uint16_t> elements;
  std::vector<uint8_t> scales;
  GemmOperand operand(NumberFormat format, std::optional<NumberFormat> scale) const {
    GemmOperand o;
    o.format = format;
    o.rows = 1;
    o.k = elements.size();
    o.codes = elements.data();
    if (!scale.has_value()) return o;
    o.block = static_cast<uint32_t>(elements.size() / scales.size());
    o.scale_format = *scale;
    o.scales = scales.data();
    return o;
  }
};

// Every tcgen05 row with an f32 result, kinds and scales alike; rows marked unverified are open questions.
TEST(GemmReference, GivesTheRecordedWords) {
  unsigned compared = 0;
  for (const numeric::test::VectorRow& v : numeric::test::read_vectors("mma_numerics.csv")) {
    const auto a = format_named(v.a_type), b = format_named(v.b_type), scale = format_named(v.scale_type);
    if (v.arch != "blackwell-sm100-tcgen05" || v.d_type != "f32" || v.unverified() || !a || !b) continue;
    const Codes x{{v.a.begin(), v.a.end()}, {v.a_scales.begin(), v.a_scales.end()}},
        y{{v.b.begin(), v.b.end()}, {v.b_scales.begin(), v.b_scales.end()}};
    const GemmArithmetic arithmetic{static_cast<uint32_t>(v.a.size()), v.kind.rfind("mxf4", 0) == 0};
    const auto d = reference::gemm_accumulators(x.operand(*a, scale), y.operand(*b, scale), arithmetic, 1,
                                                {std::bit_cast<float>(v.c)});
    EXPECT_EQ(std::bit_cast<uint32_t>(d[0]), v.d) << "line " << v.line << " " << v.kind;
    ++compared;
  }
  EXPECT_GT(compared, 500u);
}

TEST(GemmReference, RoundsAfterEveryInstruction) {
  // 1 + 2^-24 is 1 after truncation, however often it is added in steps of sixteen; sixteen of them in one
  // sum are not lost.
  std::vector<uint16_t> a(64, 0), b(64, 0x3F80);
  a[0] = 0x3F80;
  for (size_t k = 16; k < 64; k += 16) a[k] = 0x3380;  // 2^-24
  GemmOperand x{.format = NumberFormat::bf16, .rows = 1, .k = 64, .codes = a.data()}, y = x;
  y.codes = b.data();
  EXPECT_EQ(reference::gemm_accumulators(x, y, {16, false})[0], 1.0f);
  for (size_t k = 16; k < 32; ++k) a[k] = 0x3380;
  EXPECT_EQ(reference::gemm_accumulators(x, y, {16, false})[0], 1.0f + 0x1p-20f);
}

TEST(GemmReference, AgreesWithFloat64WhereNothingIsLost) {
  std::vector<float> v(40 * 96);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  const QuantizeRecipe recipe{numeric::Format::e2m1, ScaleRule::mx, 32};
  const QuantizedMatrix a = quantize_matrix(v, 40, 96, recipe),
                        b = quantize_matrix(std::span(v).first(24 * 96), 24, 96, recipe);
  const auto operand = [](const QuantizedMatrix& q) {
    return GemmOperand{NumberFormat::e2m1, q.rows, q.k, q.codes.data(), q.block,
                       NumberFormat::ue8m0, q.scales.data()};
  };
  std::vector<uint64_t> rows;
  for (uint64_t i = 0; i < 40; ++i) rows.push_back(i);
  const auto exact = reference::gemm_float64(reference::float64_rows(operand(a)),
                                             reference::float64_rows(operand(b)), 24, rows);
  const auto got = reference::gemm_accumulators(operand(a), operand(b), {64, true});
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], exact[i]);
}

TEST(GemmReference, EpilogueIsTwoRoundedOperationsAndOneConversion) {
  EXPECT_EQ(reference::gemm_output(3, 0.5f, 0, std::nullopt, OutputFormat::f32),
            std::bit_cast<uint32_t>(1.5f));
  EXPECT_EQ(reference::gemm_output(1, 1, 2, 0x1p-9f, OutputFormat::bf16), 0x3F80u);  // 1 + 2^-8 is a tie
  EXPECT_EQ(reference::gemm_output(1, 1, 3, 0x1p-8f, OutputFormat::f16), 0x3C0Cu);
  EXPECT_EQ(reference::gemm_output(65520, 1, 0, std::nullopt, OutputFormat::f16), 0x7C00u);
  EXPECT_EQ(reference::gemm_output(-0x1.8p-25f, 1, 0, std::nullopt, OutputFormat::f16), 0x8001u);
  EXPECT_EQ(
      reference::gemm_output(std::numeric_limits<float>::quiet_NaN(), -1, 0, std::nullopt, OutputFormat::f32),
      0x7FFFFFFFu);
}

TEST(Quantize, MxScalesAreThePowerOfTwoOfTheLargestMagnitude) {
  std::vector<float> v(64, 0.0f);
  v[0] = 5;      // 2^2: e2m1's largest is 1.5 * 2^2, so the scale is 1
  v[1] = -0.6f;  // nearest e2m1: -0.5
  v[32] = std::numeric_limits<float>::infinity();
  const QuantizedMatrix q = quantize_matrix(v, 1, 64, {numeric::Format::e2m1, ScaleRule::mx, 32});
  EXPECT_EQ(q.scales, (std::vector<uint8_t>{127, 0xFF}));
  EXPECT_EQ(q.codes[0], 0x6);  // 4, the tie goes to even
  EXPECT_EQ(q.codes[1], 0x9);
}

TEST(Quantize, Nvfp4KeepsTheLargestValueOfTheTensor) {
  std::vector<float> v(32, 0.25f);
  v[3] = 12;
  const QuantizedMatrix q = quantize_matrix(v, 1, 32, {numeric::Format::e2m1, ScaleRule::nvfp4, 16});
  EXPECT_EQ(q.factor, 1.0f / 224.0f);  // 12 / 2688
  EXPECT_EQ(q.scales[0], 0x7E);        // 448
  EXPECT_EQ(q.codes[3], 0x7);          // 6
  EXPECT_EQ(q.codes[0], 0x0);
  EXPECT_EQ(q.codes[16], 0x7);
}

TEST(Quantize, TensorScaleReachesTheLargestCode) {
  const std::vector<float> v = {-2, 1, 0.5f, 0};
  const QuantizedMatrix q = quantize_matrix(v, 1, 4, {numeric::Format::e4m3, ScaleRule::tensor, 0});
  EXPECT_EQ(q.factor, 2.0f / 448.0f);
  EXPECT_EQ(q.codes, (std::vector<uint16_t>{0xFE, 0x76, 0x6E, 0x00}));
}

}  // namespace
}  // namespace drywell::kernels
