// The tiled MMA against the oracle, element by element, for every row of the parameter table and inputs
// chosen to hurt: cancellation, subnormals, huge spans, specials, zero products, window edges.
#include "drywell/sim/numeric/mma_tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "unit/numeric_vectors.h"

namespace drywell::numeric {
namespace {

using Gen = std::mt19937;
using Codes = std::vector<uint32_t>;

enum class Inputs {
  ordinary,
  any_code,
  no_specials,
  wide_span,
  cancelling,
  tiny,
  sparse,
  infinite
};
constexpr Inputs kAllInputs[] = {Inputs::ordinary, Inputs::any_code, Inputs::no_specials, Inputs::wide_span,
                                 Inputs::cancelling, Inputs::tiny, Inputs::sparse, Inputs::infinite};

/// A random code of `f`; `exponent_span` binades below `top` (biased field), a few zeros.
uint32_t code_near(Format f, Gen& gen, int top, int exponent_span) {
  const FormatInfo& in = format_info(f);
  const int field_max = (1 << in.exponent_bits) - 1 - (in.has_infinity() ? 1 : 0);
  const int field = std::max(0, std::min(top, field_max) - static_cast<int>(gen() % (exponent_span + 1)));
  const uint32_t fraction = gen() & ((1u << in.fraction_bits) - 1);
  uint32_t code = (static_cast<uint32_t>(field) << in.fraction_bits | fraction) << in.pad_bits;
  if (decode(f, code).is_nan()) code = in.max_finite;
  if (in.pad_bits != 0) code |= gen() & ((1u << in.pad_bits) - 1);
  return code | (gen() % 2 != 0 ? in.sign_mask() : 0);
}

uint32_t random_code(Format f, Gen& gen, Inputs kind) {
  const FormatInfo& in = format_info(f);
  const uint32_t mask = in.bits() == 32 ? ~0u : (1u << in.bits()) - 1;
  const int bias = in.bias;
  switch (kind) {
    case Inputs::ordinary:
    case Inputs::cancelling: return code_near(f, gen, bias + 1, 6);
    case Inputs::any_code: return gen() & mask;
    case Inputs::no_specials: return code_near(f, gen, 1000, 2 * bias);
    case Inputs::wide_span: return code_near(f, gen, gen() % 4 == 0 ? 1000 : bias / 2, bias);
    case Inputs::tiny: return code_near(f, gen, bias > 100 ? bias / 2 : 1, bias > 100 ? 12 : 1);
    case Inputs::sparse:
      return gen() % 4 != 0 ? (gen() % 2 != 0 ? in.sign_mask() : 0) : code_near(f, gen, bias, 3);
    case Inputs::infinite:  // few, so that sums with several of both signs and with none occur; zeros, which make NaN of them
      if (gen() % 24 == 0 && in.has_infinity()) return in.infinity() | (gen() % 2 != 0 ? in.sign_mask() : 0);
      return gen() % 48 == 0 ? 0 : code_near(f, gen, bias + 1, 6);
  }
  return 0;
}

Codes random_codes(Format f, size_t count, Gen& gen, Inputs kind) {
  Codes codes(count);
  for (uint32_t& c : codes) c = random_code(f, gen, kind);
  return codes;
}

/// Makes element 2j+1 of every A row repeat element 2j, and of every B row its negative (some a little off).
void cancel_pairs(Codes& codes, unsigned k, uint32_t sign, bool flip, Gen& gen) {
  for (size_t i = 0; i + 1 < codes.size(); i += 2) {
    if (i % k + 1 < k && gen() % 8 != 0) codes[i + 1] = codes[i] ^ (flip ? sign : 0);
  }
}

struct Problem {
  MmaParams params;
  Format a_format, b_format, scale_format;
  unsigned m, n, k, scales;
  Codes a, b, c, a_scales, b_scales;
  unsigned input_d_shift = 0;
};

uint32_t oracle(const Problem& p, unsigned m, unsigned n) {
  const auto row = [](const Codes& all, unsigned r, unsigned count) {
    return std::span<const uint32_t>(all).subspan(size_t{r} * count, count);
  };
  const DotOperands in = {p.a_format,
                          p.b_format,
                          row(p.a, m, p.k),
                          row(p.b, n, p.k),
                          p.scale_format,
                          row(p.a_scales, m, p.scales),
                          row(p.b_scales, n, p.scales)};
  return dot(p.params, in, p.c[size_t{m} * p.n + n], p.input_d_shift);
}

MmaOperand operand(const Problem& p, MmaOperand::Side side) {
  const bool is_a = side == MmaOperand::Side::a;
  const Codes& codes = is_a ? p.a : p.b;
  const Codes& scale_codes = is_a ? p.a_scales : p.b_scales;
  const std::vector<uint8_t> scales(scale_codes.begin(), scale_codes.end());
  OperandSource s;
  s.format = is_a ? p.a_format : p.b_format;
  s.rows = is_a ? p.m : p.n;
  s.k = p.k;
  s.storage = CodeStorage::words;
  s.codes = codes.data();
  s.row_stride = 4 * size_t{p.k};
  s.scale_format = p.scale_format;
  s.scales_per_row = p.scales;
  s.scales = scales.data();
  s.scale_stride = p.scales;
  MmaOperand out;
  out.assign(side, p.params, s);
  return out;
}

/// An operand as instructions have it: elements of their own width, without gaps.
struct Packed {
  std::vector<uint8_t> bytes, scales;
  OperandSource source;
};
Packed packed(const Problem& p, bool is_a) {
  const Codes &codes = is_a ? p.a : p.b, &scale_codes = is_a ? p.a_scales : p.b_scales;
  Packed out;
  OperandSource& s = out.source;
  s.format = is_a ? p.a_format : p.b_format;
  const unsigned size = s.format == Format::tf32 ? 4 : s.format == Format::f16 || s.format == Format::bf16 ? 2
                                                                                                           : 1;
  for (const uint32_t code : codes)
    for (unsigned i = 0; i < size; ++i) out.bytes.push_back(static_cast<uint8_t>(code >> (8 * i)));
  out.scales.assign(scale_codes.begin(), scale_codes.end());
  s.rows = is_a ? p.m : p.n;
  s.k = p.k;
  s.storage = size == 4 ? CodeStorage::words : size == 2 ? CodeStorage::halves
                                                         : CodeStorage::bytes;
  s.codes = out.bytes.data();
  s.row_stride = size_t{size} * p.k;
  s.scale_format = p.scale_format;
  s.scales_per_row = p.scales;
  s.scales = out.scales.data();
  s.scale_stride = p.scales;
  return out;
}

void expect_equals_oracle(const Problem& p, const Codes& d, const std::string& what) {
  unsigned shown = 0;
  for (unsigned m = 0; m < p.m; ++m) {
    for (unsigned n = 0; n < p.n; ++n) {
      const uint32_t expected = oracle(p, m, n);
      if (d[size_t{m} * p.n + n] == expected) continue;
      ADD_FAILURE() << what << " at " << m << ',' << n << std::hex << ": " << d[size_t{m} * p.n + n]
                    << " expected " << expected << " C " << p.c[size_t{m} * p.n + n];
      if (++shown == 3) return;
    }
  }
}

/// Of decoded operands, in parts of `rows_at_once` rows, and of operands as instructions have them.
void expect_tile_equals_oracle(const Problem& p, const std::string& what, unsigned rows_at_once = ~0u) {
  const MmaOperand a = operand(p, MmaOperand::Side::a), b = operand(p, MmaOperand::Side::b);
  Codes d = p.c;  // in place, as the instruction accumulates
  for (unsigned first = 0, count = p.m; first < p.m; first += count) {
    count = std::min(rows_at_once, p.m - first);
    mma_tile(p.params, a, b, {d.data(), p.n, d.data(), p.n, p.input_d_shift}, first, count);
  }
  expect_equals_oracle(p, d, what);
  const Packed rows = packed(p, true), columns = packed(p, false);
  d = p.c;
  mma_tile(p.params, rows.source, columns.source, {d.data(), p.n, d.data(), p.n, p.input_d_shift});
  expect_equals_oracle(p, d, what + ", packed");
}

/// C: random, near the sum's size, or the negative of the sum so that it cancels.
void fill_c(Problem& p, Inputs kind, Gen& gen) {
  const Format d = p.params.d_format();
  p.c.assign(size_t{p.m} * p.n, 0);
  for (unsigned m = 0; m < p.m; ++m) {
    for (unsigned n = 0; n < p.n; ++n) {
      uint32_t& c = p.c[size_t{m} * p.n + n];
      switch (gen() % 4) {
        case 0: break;
        case 1: c = random_code(d, gen, kind); break;
        case 2: c = oracle(p, m, n) ^ format_info(d).sign_mask(); break;
        case 3: c = (oracle(p, m, n) ^ format_info(d).sign_mask()) + gen() % 5 - 2; break;
      }
    }
  }
}

unsigned instruction_k(const MmaRow& row) {
  switch (row.kind) {
    case MmaKind::f16: return 16;
    case MmaKind::tf32: return 8;
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4: return 32;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4: return 64;
  }
  return 0;
}

Format random_member(FormatSet set, Gen& gen) {
  for (;;) {
    const unsigned f = gen() % kFormatCount;
    if ((set >> f & 1) != 0) return static_cast<Format>(f);
  }
}

Problem random_problem(const MmaRow& row, Inputs kind, unsigned m, unsigned n, Gen& gen) {
  Problem p;
  p.params = row.params;
  p.a_format = random_member(row.a_formats, gen);
  p.b_format = random_member(row.b_formats, gen);
  p.m = m;
  p.n = n;
  p.k = instruction_k(row);
  p.a = random_codes(p.a_format, size_t{m} * p.k, gen, kind);
  p.b = random_codes(p.b_format, size_t{n} * p.k, gen, kind);
  if (kind == Inputs::cancelling) {
    cancel_pairs(p.a, p.k, 0, false, gen);
    cancel_pairs(p.b, p.k, format_info(p.b_format).sign_mask(), true, gen);
  }
  const bool scaled = row.scale_format != Format::f32;
  p.scale_format = scaled ? row.scale_format : Format::ue8m0;
  p.scales = !scaled                                          ? 0
             : row.kind == MmaKind::mxf8f6f4                  ? 1
             : row.scale_format == Format::ue4m3 || gen() % 2 ? 4
                                                              : 2;
  p.a_scales = random_codes(p.scale_format, size_t{m} * p.scales, gen, kind);
  p.b_scales = random_codes(p.scale_format, size_t{n} * p.scales, gen, kind);
  p.input_d_shift = gen() % 4 == 0 ? gen() % 16 : 0;
  if (p.params.legacy_fp8) p.input_d_shift = 0;
  fill_c(p, kind, gen);
  return p;
}

class TileRows : public ::testing::TestWithParam<size_t> {};

TEST_P(TileRows, EqualsTheOracle) {
  const MmaRow& row = mma_rows()[GetParam()];
  Gen gen(static_cast<unsigned>(GetParam()) + 1);
  for (Inputs kind : kAllInputs) {
    for (const auto& [m, n] : {std::pair{7u, 45u}, std::pair{3u, 8u}, std::pair{1u, 1u}}) {
      const Problem p = random_problem(row, kind, m, n, gen);
      expect_tile_equals_oracle(
          p, std::string(format_info(p.a_format).name) + " inputs " + std::to_string(static_cast<int>(kind)));
      if (HasFailure()) return;
    }
  }
}

// Whatever part of a tile is computed, from whichever row.
TEST_P(TileRows, PartsEqualTheOracle) {
  Gen gen(static_cast<unsigned>(GetParam()) + 101);
  const Problem p = random_problem(mma_rows()[GetParam()], Inputs::ordinary, 19, 64, gen);
  for (const unsigned rows : {1u, 3u, 5u}) expect_tile_equals_oracle(p, "parts of " + std::to_string(rows), rows);
}

INSTANTIATE_TEST_SUITE_P(, TileRows, ::testing::Range(size_t{0}, mma_rows().size()));

TEST(Tile, RowsWhoseLargestElementsOnlyMeetZeros) {
  // Each row spans up to the whole exponent range of its format, but its large elements are multiplied by
  // zeros, so that the sum has only the small ones: they must not be lost below the range of a float scaled
  // by the row's maximum.
  Gen gen(11);
  for (const MmaRow& row : mma_rows()) {
    if (row.kind != MmaKind::f16 && row.kind != MmaKind::tf32) continue;
    for (int span : {30, 42, 46, 50, 56, 60, 64, 70, 90, 120, 180, 250}) {
      Problem p = random_problem(row, Inputs::ordinary, 3, 33, gen);
      const int bias = format_info(p.a_format).bias;
      const int top = bias < 100 ? 2 * bias : std::min(2 * bias, bias + span / 2 + 20);
      const int small = std::max(1, top - span);
      for (auto* codes : {&p.a, &p.b}) {
        const unsigned huge_position = codes == &p.a ? 0 : 1;
        for (size_t i = 0; i < codes->size(); ++i) {
          const unsigned position = i % p.k % 4;
          (*codes)[i] = position == huge_position ? code_near(p.a_format, gen, top, 1)
                        : position < 2            ? 0
                                                  : code_near(p.a_format, gen, small, 2);
        }
      }
      if (gen() % 2 == 0) p.c.assign(p.c.size(), 0);
      expect_tile_equals_oracle(p,
                                std::string(format_info(p.a_format).name) + " span " + std::to_string(span));
    }
  }
}

TEST(Tile, WholeInstructionShapeWithSeveralColumnBlocks) {
  Gen gen(99);
  for (const MmaRow& row : mma_rows()) {
    if (row.arch != MmaArch::sm_100 || row.instruction != MmaInstruction::tcgen05) continue;
    expect_tile_equals_oracle(random_problem(row, Inputs::ordinary, 2, 256, gen), "n 256");
  }
}

TEST(Tile, ReproducesTheResultWords) {
  for (const char* file : {"mma_numerics.csv", "mma_measured_hw.csv", "mma_h200_adversarial.csv"}) {
    for (const test::VectorRow& v : test::read_vectors(file)) {
      if (v.integer() || v.unverified()) continue;
      Problem p;
      p.params = test::row_of(v)->params;
      p.a_format = test::format_named(v.a_type);
      p.b_format = test::format_named(v.b_type);
      p.scale_format = v.scale_type.empty() ? Format::ue8m0 : test::format_named(v.scale_type);
      p.m = p.n = 1;
      p.k = static_cast<unsigned>(v.a.size());
      p.scales = static_cast<unsigned>(v.a_scales.size());
      p.a = v.a, p.b = v.b, p.a_scales = v.a_scales, p.b_scales = v.b_scales;
      const MmaOperand a = operand(p, MmaOperand::Side::a), b = operand(p, MmaOperand::Side::b);
      uint32_t d = 0;
      mma_tile(p.params, a, b, {&v.c, 1, &d, 1});
      EXPECT_EQ(d, v.d) << file << " line " << v.line;
    }
  }
}

TEST(Tile, RowRangesNegationAndStorageForms) {
  // e2m1 codes packed two a byte, A negated, only rows 1..2 computed, C absent.
  const MmaRow* row = find_mma(
      {MmaArch::sm_100, MmaInstruction::tcgen05, MmaKind::f8f6f4, Format::e2m1, Format::e2m1, Format::f32});
  std::vector<uint8_t> packed(3 * 16), bytes(2 * 32);
  for (size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<uint8_t>(37 * i + 11);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(5 * i + 3) & 0xF;
  OperandSource s;
  s.format = Format::e2m1;
  s.rows = 3, s.k = 32, s.codes = packed.data(), s.row_stride = 16;
  s.storage = CodeStorage::nibbles;
  s.negate = true;
  MmaOperand a, b;
  a.assign(MmaOperand::Side::a, row->params, s);
  s.rows = 2, s.codes = bytes.data(), s.row_stride = 32;
  s.storage = CodeStorage::bytes;
  s.negate = false;
  b.assign(MmaOperand::Side::b, row->params, s);
  Codes d(6, 0xDEADBEEF);
  mma_tile(row->params, a, b, {nullptr, 0, d.data(), 2}, 1, 2);
  EXPECT_EQ(d[0], 0xDEADBEEFu);
  EXPECT_EQ(d[1], 0xDEADBEEFu);
  for (unsigned m = 1; m < 3; ++m) {
    for (unsigned n = 0; n < 2; ++n) {
      double sum = 0;  // exact: small multiples of 1/4
      for (unsigned k = 0; k < 32; ++k) {
        const uint32_t code = packed[m * 16 + k / 2] >> (k % 2 * 4) & 0xF;
        sum -= to_double(Format::e2m1, code) * to_double(Format::e2m1, bytes[n * 32 + k]);
      }
      EXPECT_EQ(std::bit_cast<float>(d[m * 2 + n]), sum);
    }
  }
}

TEST(Tile, IntegerKindsEqualTheOracle) {
  Gen gen(5);
  for (unsigned variant = 0; variant < 8; ++variant) {
    IntegerTile t;
    t.m = 5, t.n = 19, t.k = 32;
    std::vector<uint8_t> a(t.m * t.k), b(t.n * t.k);
    for (auto* list : {&a, &b}) {
      for (uint8_t& v : *list) v = static_cast<uint8_t>(gen());
    }
    Codes c(t.m * t.n);
    for (uint32_t& v : c) v = gen() % 2 != 0 ? 0x7FFFFFFF - gen() % 100000 : gen();
    t.a = a.data(), t.b = b.data(), t.a_stride = t.b_stride = t.k;
    t.a_signed = (variant & 1) != 0, t.b_signed = (variant & 2) != 0, t.saturate = (variant & 4) != 0;
    Codes d = c;
    mma_tile_i8(t, {d.data(), t.n, d.data(), t.n});
    for (unsigned m = 0; m < t.m; ++m) {
      for (unsigned n = 0; n < t.n; ++n) {
        const std::span<const uint8_t> row(a.data() + m * t.k, t.k), column(b.data() + n * t.k, t.k);
        ASSERT_EQ(d[m * t.n + n], dot_i8(row, t.a_signed, column, t.b_signed, c[m * t.n + n], t.saturate));
      }
    }
  }
}

}  // namespace
}  // namespace drywell::numeric
