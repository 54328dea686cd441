// Whole instructions in the forms of the window kernels (sim/numeric/avx512/window_plan.cpp, sim/numeric/highway/window_sums.h), compared with
// the oracle element by element: products at the edge of the alignment window, negative ones that are exact, and cases that must be
// left to other kernels. Each processor has its own kernels for the same calls, with the same results. For other inputs:
// --gtest_shuffle --gtest_repeat=N.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "drywell/sim/numeric/mma_tile.h"
#include "unit/numeric_tile_check.h"

namespace drywell::numeric {
namespace {

using Gen = std::mt19937;

Gen generator(unsigned test) { return Gen(1000 * static_cast<unsigned>(::testing::UnitTest::GetInstance()->random_seed()) + test); }

enum class Fill {
  usual,
  window_edges,
  powers_of_two,
  all_exponents,
  subnormal,
  mostly_zero,
  huge,
  largest_significands,
  cancelling,
  far_rows,
  all
};

/// Sign, exponent field within the format's finite range, fraction.
uint32_t code_of(Format f, bool negative, int field, uint32_t fraction) {
  const FormatInfo& in = format_info(f);
  field = std::clamp(field, 0, (1 << in.exponent_bits) - 2);
  const uint32_t bits = static_cast<uint32_t>(field) << in.fraction_bits | (fraction & ((1u << in.fraction_bits) - 1));
  return bits << in.pad_bits | (negative ? in.sign_mask() : 0);
}

/// `row`: exponents of far_rows depend on it.
uint32_t random_code(Format f, Fill fill, unsigned row, Gen& gen) {
  const int bias = format_info(f).bias, down = static_cast<int>(gen() % 64);
  const bool negative = gen() % 2 != 0;
  const uint32_t fraction = gen();
  switch (fill) {
    case Fill::usual: return code_of(f, negative, bias + 1 - std::countl_zero(static_cast<uint32_t>(gen())), fraction);
    case Fill::window_edges: return code_of(f, negative, bias - (down < 40 ? down % 14 : 0), gen() % 2 != 0 ? fraction : ~(gen() % 4));
    case Fill::powers_of_two: return code_of(f, negative, bias - down % 14, gen() % 8 != 0 ? 0 : 1u << gen() % 11);
    case Fill::all_exponents: return code_of(f, negative, static_cast<int>(gen() % static_cast<unsigned>(2 * bias + 1)), fraction);
    case Fill::subnormal: return code_of(f, negative, gen() % 8 == 0 ? bias + down % 8 : down % 3, gen() % 4 == 0 ? gen() % 3 : fraction);
    case Fill::mostly_zero: return row % 5 == 0 || gen() % 4 != 0 ? code_of(f, negative, 0, 0) : code_of(f, negative, bias - down % 20, fraction);
    case Fill::huge: return code_of(f, negative && gen() % 8 == 0, bias > 100 ? bias + 62 - down % 3 : 2 * bias - down % 3, fraction);
    case Fill::largest_significands: return code_of(f, negative && gen() % 4 == 0, bias, ~(gen() % 2));
    case Fill::cancelling: return code_of(f, negative, bias - down % 8, fraction);
    case Fill::far_rows: return code_of(f, negative, bias - (bias > 100 ? static_cast<int>(row * 29 % 120) : static_cast<int>(row % 12)) - down % 4, fraction);
    case Fill::all: break;
  }
  return 0;
}

struct Operand {
  Format format;
  unsigned rows, k;
  std::vector<uint32_t> codes;
  std::vector<uint8_t> bytes;
  bool negate;

  unsigned element_bytes() const { return format_info(format).bits() == 32 ? 4 : format_info(format).bits() == 16 ? 2
                                                                                                                  : 1; }
  size_t stride() const { return size_t{k} * element_bytes() + 8; }
  uint32_t code(unsigned row, unsigned i) const { return codes[row * k + i] ^ (negate ? format_info(format).sign_mask() : 0); }

  OperandSource source() {
    bytes.assign(rows * stride(), 0xA5);
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned i = 0; i < k; ++i) std::memcpy(&bytes[r * stride() + i * element_bytes()], &codes[r * k + i], element_bytes());
    OperandSource s;
    s.format = format, s.rows = rows, s.k = k, s.codes = bytes.data(), s.row_stride = stride();
    s.storage = element_bytes() == 4 ? CodeStorage::words : element_bytes() == 2 ? CodeStorage::halves
                                                                                 : CodeStorage::bytes;
    s.negate = negate;
    return s;
  }
};

Operand random_operand(Format f, unsigned rows, unsigned k, Fill fill, Gen& gen) {
  Operand o = {f, rows, k, std::vector<uint32_t>(size_t{rows} * k), {}, gen() % 4 == 0};
  for (unsigned i = 0; i < rows * k; ++i) o.codes[i] = random_code(f, fill, i / k, gen);
  return o;
}

class Problem {
 public:
  Problem(const MmaParams& params, Operand a, Operand b) : params_(params), a_(std::move(a)), b_(std::move(b)), c_(size_t{a_.rows} * stride(), 0) {}

  /// Pairs of products whose sum is zero or nearly zero.
  void cancel_pairs(Gen& gen) {
    for (size_t i = 0; i + 1 < a_.codes.size(); i += 2) a_.codes[i + 1] = a_.codes[i];
    for (size_t i = 0; i + 1 < b_.codes.size(); i += 2)
      if (gen() % 8 != 0) b_.codes[i + 1] = b_.codes[i] ^ format_info(b_.format).sign_mask();
  }
  void put_special(Gen& gen) {
    const FormatInfo& in = format_info(a_.format);
    a_.codes[gen() % a_.codes.size()] = gen() % 2 != 0 ? in.infinity() : in.nan_result;
    if (gen() % 2 != 0) b_.codes[gen() % b_.codes.size()] = in.infinity() | in.sign_mask();
  }

  /// C: zero, -0, of any size near the sum's and below, (nearly) the negative of the sum; `any`: a few codes of any kind.
  void fill_c(bool any, Gen& gen) {
    const Format d = params_.d_format();
    const FormatInfo& in = format_info(d);
    for (unsigned m = 0; m < a_.rows; ++m) {
      for (unsigned n = 0; n < b_.rows; ++n) {
        uint32_t& c = c_[m * stride() + n];
        const unsigned sort = gen() % (any ? 7 : 6);
        const uint32_t sum = sort > 1 ? expected(m, n, false) : 0;
        const int field = static_cast<int>((sum & (in.sign_mask() - 1)) >> in.fraction_bits);
        if (sort == 1) c = gen() % 4 == 0 ? in.sign_mask() : 0;
        if (sort == 2) c = sum ^ in.sign_mask();
        if (sort == 3) c = (sum ^ in.sign_mask()) + gen() % 5 - 2;
        if (sort == 4) c = code_of(d, gen() % 2 != 0, field + 4 - static_cast<int>(gen() % 32), gen());
        if (sort == 5) c = code_of(d, gen() % 2 != 0, field + static_cast<int>(gen() % 3), gen());
        if (sort == 6 && gen() % 16 == 0) c = static_cast<uint32_t>(gen());
        c &= in.sign_mask() * 2 - 1;
        if (!any && decode(d, c).is_nan()) c = 0;
      }
    }
  }

  void set_c(uint32_t c) {
    for (unsigned m = 0; m < a_.rows; ++m) std::fill_n(c_.begin() + static_cast<std::ptrdiff_t>(m * stride()), b_.rows, c);
  }

  void check(const std::string& what, bool with_c) {
    // The upper halves of an f16 D: anything, and kept.
    const bool upper = params_.d_format() == Format::f16;
    std::vector<uint32_t> d = c_;
    for (uint32_t& word : d) word |= upper ? kUpper : 0;
    mma_tile(params_, a_.source(), b_.source(), {with_c ? d.data() : nullptr, stride(), d.data(), stride(), 0, upper});
    for (uint32_t& word : d) word ^= upper ? kUpper : 0;
    expect_tile(what, a_.rows, b_.rows, stride(), c_, d, [&](unsigned m, unsigned n) { return expected(m, n, with_c); });
  }

 private:
  static constexpr uint32_t kUpper = 0xA5C30000;
  size_t stride() const { return b_.rows + 8; }
  uint32_t expected(unsigned m, unsigned n, bool with_c) const {
    std::vector<uint32_t> a(a_.k), b(a_.k);
    for (unsigned i = 0; i < a_.k; ++i) a[i] = a_.code(m, i), b[i] = b_.code(n, i);
    return dot(params_, {a_.format, b_.format, a, b, Format::ue8m0, {}, {}}, with_c ? c_[m * stride() + n] : 0);
  }

  const MmaParams& params_;
  Operand a_, b_;
  std::vector<uint32_t> c_;
};

/// The rows of docs/facts/numerics.md §3.2 whose products are single terms of one sum.
std::vector<const MmaRow*> window_rows() {
  std::vector<const MmaRow*> rows;
  for (const MmaRow& row : mma_rows()) {
    const bool repeated = row.instruction != MmaInstruction::tcgen05 && row.arch == MmaArch::sm_100;
    const bool wide = (row.kind == MmaKind::f16 || row.kind == MmaKind::tf32) && !repeated && row.arch != MmaArch::sm_90;
    if (wide || (row.kind == MmaKind::f8f6f4 && row.instruction != MmaInstruction::mma_sync)) rows.push_back(&row);
  }
  return rows;
}

Format member(FormatSet set, Gen& gen) {
  for (;;)
    if (const unsigned f = gen() % kFormatCount; (set >> f & 1) != 0) return static_cast<Format>(f);
}

TEST(Window, EqualsTheOracle) {
  Gen gen = generator(1);
  for (const MmaRow* row : window_rows()) {
    for (int i = 0; i < static_cast<int>(Fill::all); ++i) {
      const auto fill = static_cast<Fill>(i), other = gen() % 4 == 0 ? static_cast<Fill>(gen() % static_cast<unsigned>(Fill::all)) : fill;
      const unsigned k = row->kind == MmaKind::tf32 ? 8 : row->kind == MmaKind::f16 ? 16
                                                                                    : 32,
                     rows = gen() % 4 == 0 ? 18 : 16, columns = gen() % 4 == 0 ? 72 : 32;
      Problem p(row->params, random_operand(member(row->a_formats, gen), rows, k, fill, gen), random_operand(member(row->b_formats, gen), columns, k, other, gen));
      if (fill == Fill::cancelling) p.cancel_pairs(gen);
      p.fill_c(gen() % 2 != 0, gen);
      const std::string what = "fill " + std::to_string(i) + " window " + std::to_string(row->params.window);
      p.check(what, true);
      if (gen() % 4 == 0) p.check(what + " without C", false);
    }
  }
}

Operand operand_of(Format f, unsigned rows, const std::vector<uint32_t>& row) {
  Operand o = {f, rows, static_cast<unsigned>(row.size()), {}, {}, false};
  for (unsigned r = 0; r < rows; ++r) o.codes.insert(o.codes.end(), row.begin(), row.end());
  return o;
}
const MmaRow& tcgen05_row(Format f, Format d) { return *find_mma({MmaArch::sm_100, MmaInstruction::tcgen05, MmaKind::f16, f, f, d}); }

// Sixteen products just below 4 of one sign, and a C just below 2: more than 31 bits of quanta.
TEST(Window, LargestSums) {
  for (const Format f : {Format::f16, Format::bf16}) {
    for (const bool negative : {false, true}) {
      const std::vector<uint32_t> largest(16, code_of(f, false, format_info(f).bias, ~0u)), other(16, code_of(f, negative, format_info(f).bias, ~0u));
      Problem p(tcgen05_row(f, Format::f32).params, operand_of(f, 16, largest), operand_of(f, 32, other));
      p.set_c(code_of(Format::f32, negative, format_info(Format::f32).bias, ~0u));
      p.check("largest significands", true);
    }
  }
}

// Thirty-two products of one sign: two sums of sixteen that fit, and one that does not.
TEST(Window, LargestSumsOfTwoParts) {
  const MmaRow& row = *find_mma({MmaArch::sm_100, MmaInstruction::tcgen05, MmaKind::f8f6f4, Format::e4m3, Format::e4m3, Format::f32});
  for (const bool negative : {false, true}) {
    const std::vector<uint32_t> largest(32, code_of(Format::e4m3, false, 7, ~0u)), other(32, code_of(Format::e4m3, negative, 7, ~0u));
    Problem p(row.params, operand_of(Format::e4m3, 16, largest), operand_of(Format::e4m3, 32, other));
    p.set_c(code_of(Format::f32, negative, format_info(Format::f32).bias + 1, ~0u));
    p.check("largest significands", true);
  }
}

// No quantum of an f16 sum is below 2^-46 (docs/facts/numerics.md §3.2): smaller terms do not decide a tie.
TEST(Window, TheLeastQuantumOfHalves) {
  std::vector<uint32_t> a(16, 0), b(16, 0);
  a[0] = 3u << 10, b[0] = 2u << 10;                        // 2^-12 * 2^-13, half of the least f16
  for (const uint32_t small : {0x001u, 0x002u, 0x004u}) {  // 2^-24 and up, times 2^-24
    a[1] = small, b[1] = 0x001;
    Problem p(tcgen05_row(Format::f16, Format::f16).params, operand_of(Format::f16, 16, a), operand_of(Format::f16, 32, b));
    p.check("a tie and " + std::to_string(small), true);
  }
}

// Products around the largest and the smallest exponents that a float has.
TEST(Window, ExponentsAtTheEndsOfFloats) {
  Gen gen = generator(3);
  for (const int total : {-151, -150, -149, -128, -127, -126, -125, -124, -123, -122, -121, -120, 122, 123, 124, 125, 126, 127, 128}) {
    const auto operand = [&](int exponent, unsigned rows) {
      std::vector<uint32_t> row;
      for (int i = 0; i < 16; ++i) row.push_back(code_of(Format::bf16, gen() % 2 != 0, 127 + exponent - static_cast<int>(gen() % 2), gen()));
      return operand_of(Format::bf16, rows, row);
    };
    Problem p(tcgen05_row(Format::bf16, Format::f32).params, operand(total / 2, 16), operand(total - total / 2, 32));
    p.check("exponents of " + std::to_string(total), false);
    p.fill_c(false, gen);
    p.check("exponents of " + std::to_string(total), true);
  }
}

TEST(Window, SeveralBlocksAndInfinities) {
  Gen gen = generator(2);
  const MmaRow& row = tcgen05_row(Format::bf16, Format::f32);
  for (const bool special : {false, true}) {
    Problem p(row.params, random_operand(Format::bf16, 32, 16, Fill::window_edges, gen), random_operand(Format::bf16, 96, 16, Fill::usual, gen));
    if (special) p.put_special(gen);
    p.fill_c(true, gen);
    p.check("several blocks", true);
  }
}

}  // namespace
}  // namespace drywell::numeric
