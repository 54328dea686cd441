// Sums of several instructions over ordinary data, where the exact and truncating kernels do the work, against the oracle
// for every vector width this machine has.
#define HWY_WANT_AVX3_DL
#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/mma_tile.h"
#include "sim/numeric/highway/window_sums.h"
#include "sim/numeric/window_tile.h"

namespace drywell::numeric {
namespace {

struct Case {
  const char* name;
  MmaKind kind;
  Format format;
  unsigned k;
  double sigma;
  Format scale = Format::f32;
  unsigned factors = 0;
};
constexpr Case kCases[] = {
    {"nvf4", MmaKind::mxf4nvf4, Format::e2m1, 64, 2.5, Format::ue4m3, 4},
    {"mxf4", MmaKind::mxf4, Format::e2m1, 64, 2.5, Format::ue8m0, 2},
    {"mxf8", MmaKind::mxf8f6f4, Format::e4m3, 32, 150, Format::ue8m0, 1},
    {"e2m3", MmaKind::f8f6f4, Format::e2m3, 32, 2.5},
    {"e5m2", MmaKind::f8f6f4, Format::e5m2, 32, 8},
    {"f16", MmaKind::f16, Format::f16, 16, 1},
    {"bf16", MmaKind::f16, Format::bf16, 16, 1},
    {"tf32", MmaKind::tf32, Format::tf32, 8, 1},
};

/// A matrix of codes with its block scales.
struct Matrix {
  std::vector<uint32_t> codes, scale_codes;
  std::vector<uint8_t> scales;

  Matrix(const Case& c, unsigned rows, std::mt19937& gen) : codes(size_t{rows} * c.k), scale_codes(size_t{rows} * c.factors) {
    std::normal_distribution<float> normal(0, static_cast<float>(c.sigma));
    for (uint32_t& code : codes) {
      const auto bits = std::bit_cast<uint32_t>(normal(gen));
      code = c.format == Format::tf32 ? bits & ~uint32_t{0x1FFF}
                                      : convert({.dst = c.format, .src = Format::f32, .satfinite = true}, bits);
      if (gen() % 16 == 0) code = 0;
    }
    for (uint32_t& code : scale_codes) code = (c.scale == Format::ue8m0 ? 126 : 0x40) + gen() % 8;
    scales.assign(scale_codes.begin(), scale_codes.end());
  }
  /// Packed, as in memory; `bytes` must outlive the source.
  OperandSource source(const Case& c, std::vector<uint8_t>& bytes) const {
    const unsigned size = c.format == Format::tf32 ? 4 : c.format == Format::f16 || c.format == Format::bf16 ? 2
                                                                                                             : 1;
    bytes.resize(codes.size() * size);
    for (size_t i = 0; i < codes.size(); ++i) std::memcpy(&bytes[i * size], &codes[i], size);
    OperandSource s;
    s.format = c.format;
    s.rows = static_cast<unsigned>(codes.size() / c.k);
    s.k = c.k;
    s.codes = bytes.data();
    s.row_stride = size_t{size} * c.k;
    s.storage = size == 4 ? CodeStorage::words : size == 2 ? CodeStorage::halves
                                                           : CodeStorage::bytes;
    s.scale_format = c.scale;
    s.scales_per_row = c.factors;
    s.scales = scales.data();
    s.scale_stride = c.factors;
    return s;
  }
};

/// Steps of a chain of instructions; `multiply` gets the sources, C and D.
template <class F>
void expect_chain_equals_oracle(const Case& c, const std::string& where, F multiply) {
  constexpr unsigned kRows = 9, kColumns = 72;  // not whole blocks of either
  MmaQuery q;
  q.kind = c.kind;
  q.a = q.b = c.format;
  q.scale = c.scale;
  const MmaParams& params = find_mma(q)->params;
  std::mt19937 gen(7);
  std::vector<uint32_t> d(size_t{kRows} * kColumns, 0);
  for (unsigned step = 0; step < 4; ++step) {
    const Matrix a(c, kRows, gen), b(c, kColumns, gen);
    std::vector<uint32_t> expected(d.size());
    for (unsigned m = 0; m < kRows; ++m) {
      for (unsigned n = 0; n < kColumns; ++n) {
        const auto row = [](const std::vector<uint32_t>& all, unsigned r, unsigned count) {
          return std::span<const uint32_t>(all).subspan(size_t{r} * count, count);
        };
        const DotOperands in = {c.format, c.format, row(a.codes, m, c.k), row(b.codes, n, c.k), c.scale,
                                row(a.scale_codes, m, c.factors), row(b.scale_codes, n, c.factors)};
        expected[m * kColumns + n] = dot(params, in, d[m * kColumns + n]);
      }
    }
    std::vector<uint8_t> a_bytes, b_bytes;
    multiply(params, a.source(c, a_bytes), b.source(c, b_bytes), TileOutput{step == 0 ? nullptr : d.data(), kColumns, d.data(), kColumns});
    ASSERT_EQ(d, expected) << c.name << where << ", instruction " << step;
  }
}

void multiply_decoded(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out) {
  MmaOperand rows, columns;
  rows.assign(MmaOperand::Side::a, params, a);
  columns.assign(MmaOperand::Side::b, params, b);
  mma_tile(params, rows, columns, out);
}

/// Every element of ordinary data, and no other kernel.
void multiply_with_doubles_alone(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out) {
  TileLeft left;
  ASSERT_TRUE(multiply_with_doubles(params, a, b, out, left));
  for (const uint32_t columns : left) EXPECT_EQ(columns, 0u);
}

// Exponents of all sizes, in numbers that nearly cancel: what is computed is right, and what is not is left.
void expect_wide_exponents_right(Format format, MmaKind kind, unsigned k, const std::string& where) {
  constexpr unsigned kRows = 16, kColumns = 256;
  MmaQuery q;
  q.kind = kind;
  q.a = q.b = format;
  const MmaParams& params = find_mma(q)->params;
  const Case c = {"wide", kind, format, k, 1};
  std::mt19937 gen(11);
  unsigned computed = 0;
  for (unsigned round = 0; round < 40; ++round) {
    Matrix a(c, kRows, gen), b(c, kColumns, gen);
    const unsigned spread = 1 + round % 8 * 14, fraction = format == Format::tf32 ? 23 : 7;
    for (Matrix* m : {&a, &b})
      for (uint32_t& code : m->codes)
        if (code != 0) code = (code & ~(0xFFu << fraction)) | (127 - spread + gen() % (2 * spread)) << fraction | (format == Format::tf32 ? gen() & 0x1FFF : 0);
    std::vector<uint32_t> before(size_t{kRows} * kColumns);
    for (uint32_t& x : before) x = (gen() & 0x807FFFFF) | (127 - spread + gen() % (2 * spread)) << 23;
    std::vector<uint32_t> d = before;
    std::vector<uint8_t> a_bytes, b_bytes;
    TileLeft left;
    if (!multiply_with_doubles(params, a.source(c, a_bytes), b.source(c, b_bytes), TileOutput{d.data(), kColumns, d.data(), kColumns}, left)) continue;
    for (unsigned m = 0; m < kRows; ++m) {
      for (unsigned n = 0; n < kColumns; ++n) {
        if ((left[m] >> n / 32 & 1) != 0) continue;
        const auto row = [k](const std::vector<uint32_t>& all, unsigned r) { return std::span<const uint32_t>(all).subspan(size_t{r} * k, k); };
        const DotOperands in = {format, format, row(a.codes, m), row(b.codes, n)};
        ASSERT_EQ(d[m * kColumns + n], dot(params, in, before[m * kColumns + n])) << where << ", round " << round << ", row " << m << ", column " << n;
        ++computed;
      }
    }
  }
  EXPECT_GT(computed, 1000u) << where;
}

TEST(TileTargets, WideExponentsEqualTheOracle) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    if (!has_window_sums()) continue;
    expect_wide_exponents_right(Format::tf32, MmaKind::tf32, 8, std::string(" tf32 by ") + hwy::TargetName(target));
    expect_wide_exponents_right(Format::bf16, MmaKind::f16, 16, std::string(" bf16 by ") + hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(TileTargets, EveryVectorWidthEqualsTheOracle) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    const std::string where = std::string(" on ") + hwy::TargetName(target);
    for (const Case& c : kCases) {
      expect_chain_equals_oracle(c, where, multiply_decoded);
      if (c.factors <= 1 && has_window_sums()) expect_chain_equals_oracle(c, where + ", sums of doubles", multiply_with_doubles_alone);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace
}  // namespace drywell::numeric
