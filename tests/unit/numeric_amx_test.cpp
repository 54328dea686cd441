// Whole instructions in the forms of the tile unit (sim/numeric/amx/plan.cpp), compared with the oracle element by element: values
// as from a quantizer, and every kind of value that must be left to other kernels, in some rows or in all. Without the unit,
// other kernels compute the same calls, with the same results.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include "drywell/sim/numeric/mma_tile.h"
#include "unit/numeric_tile_check.h"

namespace drywell::numeric {
namespace {

using Gen = std::mt19937;

enum class Fill {
  quantized,
  any_code,
  few_scales_far,
  cancelling,
  mostly_zero,
  all
};

struct Operand {
  Format format;
  unsigned rows, k, scales;
  Format scale_format;
  std::vector<uint8_t> codes, scale_codes;  // rows padded, so that strides matter
  bool negate = false;

  bool nibbles() const { return k == 64; }
  size_t stride() const { return (nibbles() ? k / 2 : k) + 16; }
  uint32_t code(unsigned row, unsigned i) const {
    const uint8_t byte = codes[row * stride() + (nibbles() ? i / 2 : i)];
    return (nibbles() ? byte >> i % 2 * 4 & 0xF : byte) ^ (negate ? format_info(format).sign_mask() : 0);
  }
  OperandSource source() const {
    OperandSource s;
    s.format = format, s.rows = rows, s.k = k, s.codes = codes.data(), s.row_stride = stride();
    s.storage = nibbles() ? CodeStorage::nibbles : CodeStorage::bytes;
    s.negate = negate;
    s.scale_format = scale_format, s.scales_per_row = scales, s.scales = scale_codes.data(), s.scale_stride = scales;
    return s;
  }
};

/// A code whose value is about sigma times a normal variable.
uint8_t near(Format f, double sigma, Gen& gen) {
  const double v = std::normal_distribution<double>(0, sigma)(gen);
  uint8_t best = 0;
  const unsigned codes = 1u << format_info(f).bits();
  for (unsigned c = 0; c < codes; ++c) {
    if (const Decoded d = decode(f, c); d.is_nan() || d.is_infinity()) continue;
    if (std::abs(to_double(f, c) - v) < std::abs(to_double(f, best) - v)) best = static_cast<uint8_t>(c);
  }
  return best;
}

double usual_sigma(Format f) {
  return f == Format::e4m3 ? 150 : f == Format::e5m2 ? 8
                               : f == Format::e3m2   ? 9
                                                     : 2.5;
}

uint8_t scale_code(Format f, Fill fill, Gen& gen) {
  if (fill == Fill::any_code) return static_cast<uint8_t>(gen());
  const int spread = fill == Fill::few_scales_far && gen() % 40 == 0 ? static_cast<int>(gen() % 60) : static_cast<int>(gen() % 3);
  return static_cast<uint8_t>(f == Format::ue8m0 ? 127 - spread + static_cast<int>(gen() % 2) : 0x58 + static_cast<int>(gen() % 8) - spread);
}

Operand random_operand(Format f, unsigned rows, unsigned k, unsigned scales, Format scale_format, Fill fill, Gen& gen) {
  Operand o = {f, rows, k, scales, scale_format, {}, {}};
  o.codes.resize(rows * o.stride());
  o.scale_codes.resize(size_t{rows} * scales);
  std::vector<uint8_t> usual(512);
  for (uint8_t& code : usual) code = near(f, usual_sigma(f), gen);
  const unsigned mask = (1u << format_info(f).bits()) - 1;
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned i = 0; i < k; ++i) {
      unsigned code = usual[gen() % usual.size()];
      if (fill == Fill::any_code && (f == Format::e2m1 || gen() % 16 == 0)) code = gen() & mask;
      if (fill == Fill::any_code && gen() % 64 != 0 && (decode(f, code).is_nan() || decode(f, code).is_infinity())) code = 1;
      if (fill == Fill::mostly_zero && gen() % 8 != 0) code = gen() % 2 * format_info(f).sign_mask();
      if (o.nibbles()) {
        o.codes[r * o.stride() + i / 2] |= static_cast<uint8_t>(code << i % 2 * 4);
      } else {
        o.codes[r * o.stride() + i] = static_cast<uint8_t>(code);
      }
    }
  }
  for (uint8_t& code : o.scale_codes) code = scale_code(scale_format, fill, gen);
  return o;
}

class Problem {
 public:
  Problem(const MmaRow& row, Operand a, Operand b) : row_(row), a_(std::move(a)), b_(std::move(b)), c_(size_t{a_.rows} * stride(), 0) {}

  /// C: zero, of the sum's size, (nearly) the negative of the sum, or any code; all of one kind if `fill` selects one.
  void fill_c(Fill fill, Gen& gen) {
    for (unsigned m = 0; m < a_.rows; ++m) {
      for (unsigned n = 0; n < b_.rows; ++n) {
        uint32_t& c = c_[m * stride() + n];
        const unsigned sort = fill == Fill::cancelling ? 2 + gen() % 2 : fill == Fill::any_code ? gen() % 30
                                                                                                : gen() % 200;
        if (fill == Fill::quantized && sort >= 4) {
          c = std::bit_cast<uint32_t>(static_cast<float>(std::normal_distribution<double>(0, 3000)(gen)));
        } else if (sort == 1) {
          c = gen();
        } else if (sort == 2) {
          c = expected(m, n) ^ 0x80000000;
        } else if (sort == 3) {
          c = (expected(m, n) ^ 0x80000000) + gen() % 5 - 2;
        }
      }
    }
  }

  /// C is the sum without it, shifted by up to 40 bits in either direction, with other low bits; some are huge or tiny. One C in
  /// `one_in` is set.
  void fill_c_near_window(Gen& gen, unsigned one_in = 1) {
    for (unsigned m = 0; m < a_.rows; ++m) {
      for (unsigned n = 0; n < b_.rows; ++n) {
        if (gen() % one_in != 0) continue;
        const uint32_t sum = expected(m, n, false);
        const int exponent = static_cast<int>(sum >> 23 & 0xFF) + static_cast<int>(gen() % 81) - 40;
        const uint32_t low = gen() % 2 == 0 ? 0 : gen() & (0x7FFFFF >> gen() % 23);
        c_[m * stride() + n] = (gen() & 0x80000000) | static_cast<uint32_t>(std::clamp(exponent, 0, 254)) << 23 | ((sum & 0x7FFFFF) ^ low);
        if (gen() % 100 == 0) c_[m * stride() + n] = gen() % 2 != 0 ? gen() : (gen() & 0x807FFFFF) | (150 + gen() % 77) << 23;
      }
    }
  }

  /// Sets one C in `one_in` to `c`.
  void sprinkle_c(uint32_t c, unsigned one_in, Gen& gen) {
    for (unsigned m = 0; m < a_.rows; ++m)
      for (unsigned n = 0; n < b_.rows; ++n)
        if (gen() % one_in == 0) c_[m * stride() + n] = c;
  }

  void check(const std::string& what, bool with_c = true) {
    std::vector<uint32_t> d = c_;
    mma_tile(row_.params, a_.source(), b_.source(), {with_c ? d.data() : nullptr, stride(), d.data(), stride()});
    expect_tile(what, a_.rows, b_.rows, stride(), c_, d, [&](unsigned m, unsigned n) { return expected(m, n, with_c); });
  }

 private:
  size_t stride() const { return b_.rows + 8; }
  uint32_t expected(unsigned m, unsigned n, bool with_c = true) const {
    std::vector<uint32_t> a(a_.k), b(a_.k), as(a_.scales), bs(a_.scales);
    for (unsigned i = 0; i < a_.k; ++i) a[i] = a_.code(m, i), b[i] = b_.code(n, i);
    for (unsigned i = 0; i < a_.scales; ++i) as[i] = a_.scale_codes[m * a_.scales + i], bs[i] = b_.scale_codes[n * a_.scales + i];
    return dot(row_.params, {a_.format, b_.format, a, b, a_.scale_format, as, bs}, with_c ? c_[m * stride() + n] : 0);
  }

  const MmaRow& row_;
  Operand a_, b_;
  std::vector<uint32_t> c_;
};

const MmaRow& tcgen05_row(MmaKind kind, Format a, Format b, Format scale) {
  return *find_mma({MmaArch::sm_100, MmaInstruction::tcgen05, kind, a, b, Format::f32, scale});
}

TEST(TileUnit, BlockScaledE2m1EqualsTheOracle) {
  Gen gen(1);
  for (const Format scale : {Format::ue4m3, Format::ue8m0}) {
    const MmaRow& row = tcgen05_row(MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, scale);
    for (int i = 0; i < static_cast<int>(Fill::all); ++i) {
      const auto fill = static_cast<Fill>(i);
      const unsigned scales = scale == Format::ue4m3 || gen() % 2 != 0 ? 4 : 2;
      Operand a = random_operand(Format::e2m1, 32, 64, scales, scale, fill, gen), b = random_operand(Format::e2m1, 64, 64, scales, scale, fill, gen);
      b.negate = gen() % 2 != 0;
      Problem p(row, std::move(a), std::move(b));
      p.fill_c(fill, gen);
      p.check(std::string(format_info(scale).name) + " fill " + std::to_string(i));
      p.check("without C", false);
    }
  }
}

// An odd number of tiles of rows, and more tiles of columns; each tile of rows has different scales, and so different limits.
TEST(TileUnit, ShapesOfBlockScaledE2m1) {
  Gen gen(8);
  constexpr unsigned kShapes[][2] = {{16, 64}, {48, 256}, {112, 192}, {64, 128}};
  const MmaRow& row = tcgen05_row(MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, Format::ue8m0);
  for (const auto& [rows, columns] : kShapes) {
    Operand a = random_operand(Format::e2m1, rows, 64, 2, Format::ue8m0, Fill::quantized, gen), b = random_operand(Format::e2m1, columns, 64, 2, Format::ue8m0, Fill::quantized, gen);
    int shift = 0;
    for (size_t i = 0; i < a.scale_codes.size(); ++i) {
      if (i % 32 == 0) shift = static_cast<int>(gen() % 31) - 15;
      a.scale_codes[i] = static_cast<uint8_t>(a.scale_codes[i] + shift);
    }
    Problem p(row, std::move(a), std::move(b));
    p.fill_c_near_window(gen, 100);
    p.check(std::to_string(rows) + " x " + std::to_string(columns));
    p.check(std::to_string(rows) + " x " + std::to_string(columns) + " without C", false);
  }
}

// One of them makes a block of 32 x 32 doubtful: too small for the window or too large for it, at any magnitude of the scales.
TEST(TileUnit, SingleAddendsOutsideTheWindow) {
  Gen gen(4);
  const MmaRow& row = tcgen05_row(MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, Format::ue8m0);
  constexpr uint32_t kAddends[] = {1, 0x80000001, 0x807FFFFF, 0x80800000, 0x8DFFFFFF, 0x3F800001, 0xC0000003, 0x5F7FFFFF, 0xFF7FFFFF,
                                   0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0x80000000};
  for (const uint32_t c : kAddends) {
    Operand a = random_operand(Format::e2m1, 48, 64, 2, Format::ue8m0, Fill::quantized, gen), b = random_operand(Format::e2m1, 128, 64, 2, Format::ue8m0, Fill::quantized, gen);
    const int shift = static_cast<int>(gen() % 81) - 40;
    for (Operand* o : {&a, &b})
      for (uint8_t& code : o->scale_codes) code = static_cast<uint8_t>(code + shift);
    std::fill_n(a.scale_codes.begin(), 2, uint8_t{0});  // one row near the least scales
    Problem p(row, std::move(a), std::move(b));
    p.sprinkle_c(c, 700, gen);
    p.check("scales by 2^" + std::to_string(shift));
  }
}

TEST(TileUnit, NarrowProductsEqualTheOracle) {
  Gen gen(2);
  constexpr Format kFormats[] = {Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1};
  for (const Format f : kFormats) {
    for (int i = 0; i < static_cast<int>(Fill::all); ++i) {
      const auto fill = static_cast<Fill>(i);
      const Format g = gen() % 3 != 0 ? f : kFormats[gen() % 5];
      const bool scaled = gen() % 2 != 0;
      const MmaRow& row = tcgen05_row(scaled ? MmaKind::mxf8f6f4 : MmaKind::f8f6f4, f, g, scaled ? Format::ue8m0 : Format::f32);
      Operand a = random_operand(f, 16, 32, scaled ? 1 : 0, Format::ue8m0, fill, gen), b = random_operand(g, 64, 32, scaled ? 1 : 0, Format::ue8m0, fill, gen);
      a.negate = gen() % 2 != 0;
      Problem p(row, std::move(a), std::move(b));
      p.fill_c(fill, gen);
      p.check(std::string(format_info(f).name) + " " + std::string(format_info(g).name) + " fill " + std::to_string(i));
      if (gen() % 2 != 0) p.check("without C", false);
    }
  }
}

/// Finite codes of some exponents, all equally likely, few of them zero; `low`, `high`: magnitudes as codes.
void refill(Operand& o, unsigned low, unsigned high, Gen& gen) {
  const auto sign = static_cast<unsigned>(format_info(o.format).sign_mask());
  for (unsigned r = 0; r < o.rows; ++r) {
    for (unsigned i = 0; i < o.k; ++i) {
      unsigned code = gen() % 20 == 0 ? 0 : low + gen() % (high - low + 1);
      if (const Decoded d = decode(o.format, code); d.is_nan() || d.is_infinity()) code = 1;
      o.codes[r * o.stride() + i] = static_cast<uint8_t>(code | (gen() % 2 != 0 ? sign : 0));
    }
  }
}

// Products of any two exponents, chained sums and C of any exponent near them: both edges of the window, and sums that do not
// fit a float.
TEST(TileUnit, NarrowProductsAtTheEdgesOfTheWindow) {
  Gen gen(5);
  constexpr Format kFormats[] = {Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2};
  for (int round = 0; round < 48; ++round) {
    const Format f = kFormats[gen() % 4], g = round % 2 == 0 ? f : kFormats[gen() % 4];
    const bool scaled = gen() % 2 != 0;
    const MmaRow& row = tcgen05_row(scaled ? MmaKind::mxf8f6f4 : MmaKind::f8f6f4, f, g, scaled ? Format::ue8m0 : Format::f32);
    Operand a = random_operand(f, 16, 32, scaled ? 1 : 0, Format::ue8m0, Fill::quantized, gen), b = random_operand(g, 128, 32, scaled ? 1 : 0, Format::ue8m0, Fill::quantized, gen);
    for (Operand* o : {&a, &b}) {
      const auto top = static_cast<unsigned>(format_info(o->format).sign_mask()) - 1;
      const unsigned high = 1 + gen() % top, low = gen() % 3 == 0 ? 0 : gen() % high;
      refill(*o, low, high, gen);
      if (gen() % 2 == 0) refill(*o, 0, top, gen);
      const int shift = static_cast<int>(gen() % 55) - 27;
      for (uint8_t& code : o->scale_codes) code = static_cast<uint8_t>(code + (gen() % 3 == 0 ? 0 : shift));
    }
    Problem p(row, std::move(a), std::move(b));
    if (round % 3 != 0) p.fill_c_near_window(gen);
    p.check(std::string(format_info(f).name) + " " + std::string(format_info(g).name) + " round " + std::to_string(round));
  }
}

// C so far above the products, the scales taken off, that its exponent leaves the range of a float's.
TEST(TileUnit, HugeAddendsWithTheSmallestScales) {
  Gen gen(7);
  for (const uint32_t c : {0x69D77813u, 0xF1000001u}) {
    Operand a = random_operand(Format::e4m3, 16, 32, 1, Format::ue8m0, Fill::quantized, gen), b = random_operand(Format::e4m3, 64, 32, 1, Format::ue8m0, Fill::quantized, gen);
    for (Operand* o : {&a, &b}) std::fill(o->scale_codes.begin(), o->scale_codes.end(), uint8_t{127 - 30});
    Problem p(tcgen05_row(MmaKind::mxf8f6f4, Format::e4m3, Format::e4m3, Format::ue8m0), std::move(a), std::move(b));
    p.sprinkle_c(c, 2, gen);
    p.check("C of " + std::to_string(c));
  }
}

/// 32 elements a row, the first of them `first` and the next `count` - 1 codes in turn, the others `code`.
Operand operand_of(Format f, unsigned rows, unsigned code, unsigned first, unsigned count) {
  Operand o = {f, rows, 32, 0, Format::ue8m0, {}, {}};
  o.codes.assign(rows * o.stride(), static_cast<uint8_t>(code));
  for (unsigned r = 0; r < rows; ++r) o.codes[r * o.stride()] = static_cast<uint8_t>(first + r % count);
  return o;
}

// A large sum, and a last bit that a float has no room for beside it.
TEST(TileUnit, SumsOfOneBitTooMany) {
  const auto check = [](const char* what, Operand a, Operand b) {
    Problem p(tcgen05_row(MmaKind::f8f6f4, a.format, b.format, Format::f32), std::move(a), std::move(b));
    p.check(what);
  };
  check("large elements", operand_of(Format::e4m3, 16, 0x7E, 0x38, 8), operand_of(Format::e4m3, 64, 0x7E, 0x50, 8));  // 448; from 1, from 8 up
  Operand small = operand_of(Format::e4m3, 16, 0x47, 0, 8);                                                           // 3.75 = 1920 * 2^-9
  small.codes[15 * small.stride() + 1] = 0x7E;                                                                        // a large element, which makes them low elements
  check("small ones by large ones", std::move(small), operand_of(Format::e4m3, 64, 0x7E, 0x30, 9));
  check("formats that reach too far together", operand_of(Format::e4m3, 16, 0x7E, 0, 8), operand_of(Format::e2m1, 64, 7, 1, 3));
}

TEST(TileUnit, ScaledSumsOfOneBitTooMany) {
  Operand a = operand_of(Format::e2m1, 32, 0x77, 0x77, 1), b = operand_of(Format::e2m1, 64, 0x77, 0x77, 1);  // 6
  for (Operand* o : {&a, &b}) {
    o->k = 64, o->scales = 4, o->scale_format = Format::ue4m3;
    std::vector<uint8_t> codes(o->rows * o->stride(), 0x77);
    for (unsigned r = 0; r < o->rows; ++r) {
      std::fill_n(codes.begin() + r * o->stride() + 24, 8, uint8_t{0});                                                         // the last group
      codes[r * o->stride() + 24] = static_cast<uint8_t>(o == &a ? r % 7 + 1 : 1);                                              // halves
      for (const int scale : {0x38, 0x38, 0x38, o == &a ? 0x01 : 0x18}) o->scale_codes.push_back(static_cast<uint8_t>(scale));  // 1; 2^-9, 2^-4
    }
    o->codes = std::move(codes);
  }
  Problem p(tcgen05_row(MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, Format::ue4m3), std::move(a), std::move(b));
  p.check("groups far apart");
}

// A large product and a small element's product that is its negative: neither of the two sums is zero.
TEST(TileUnit, OppositeProductsGivePositiveZero) {
  Gen gen(6);
  Operand a = random_operand(Format::e4m3, 16, 32, 0, Format::ue8m0, Fill::quantized, gen), b = random_operand(Format::e4m3, 64, 32, 0, Format::ue8m0, Fill::quantized, gen);
  a.codes[a.stride()] = b.codes[b.stride()] = 0x7E;  // 448 in another row
  std::fill_n(a.codes.begin(), 32, uint8_t{0});
  a.codes[0] = 0x68, a.codes[1] = 0x40;                                                                      // 64, 2
  for (unsigned n = 0; n < b.rows; ++n) b.codes[n * b.stride()] = 0x50, b.codes[n * b.stride() + 1] = 0xF8;  // 8, -256
  Problem p(tcgen05_row(MmaKind::f8f6f4, Format::e4m3, Format::e4m3, Format::f32), std::move(a), std::move(b));
  p.sprinkle_c(0x80000000, 1, gen);
  p.check("zeros");
}

TEST(TileUnit, IntegersEqualTheOracle) {
  Gen gen(3);
  for (unsigned variant = 0; variant < 4; ++variant) {
    IntegerTile t;
    t.m = 32, t.n = 64, t.k = 32, t.a_stride = 32, t.b_stride = 48;
    t.a_signed = (variant & 1) != 0, t.b_signed = (variant & 2) != 0;
    std::vector<uint8_t> a(t.m * t.a_stride), b(t.n * t.b_stride);
    for (auto* bytes : {&a, &b})
      for (uint8_t& v : *bytes) v = static_cast<uint8_t>(gen() % 3 == 0 ? 0x80 : gen());
    t.a = a.data(), t.b = b.data();
    std::vector<uint32_t> c(t.m * size_t{70}), d;
    for (uint32_t& v : c) v = gen();
    for (const bool with_c : {true, false}) {
      d = c;
      mma_tile_i8(t, {with_c ? d.data() : nullptr, 70, d.data(), 70});
      for (unsigned m = 0; m < t.m; ++m) {
        for (unsigned n = 0; n < t.n; ++n) {
          const uint32_t expected = dot_i8({a.data() + m * t.a_stride, t.k}, t.a_signed, {b.data() + n * t.b_stride, t.k}, t.b_signed,
                                           with_c ? c[m * 70 + n] : 0, false);
          ASSERT_EQ(d[m * 70 + n], expected) << m << ',' << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace drywell::numeric
