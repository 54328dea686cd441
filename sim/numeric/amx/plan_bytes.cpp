#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "drywell/sim/numeric/convert_fast.h"
#include "sim/numeric/amx/bytes.h"
#include "sim/numeric/amx/plan.h"

#if defined(DRYWELL_TILE_UNIT)
namespace drywell::numeric {
namespace {

/// Number of exponents that a table distinguishes, from the largest element down.
constexpr int kTableReach = 9;
/// Exponents of scales from which on the other kernels are used, so that products are normal floats here.
constexpr int kScaleReach = 30;

ByteTable make_table(Format format, int unit) {
  const FormatInfo& in = format_info(format);
  ByteTable t = {};
  t.mask = static_cast<uint8_t>((1u << in.bits()) - 1);
  t.sign = in.bits() == 8 ? 0x80 : 0;
  t.unit = unit;
  for (unsigned code = 0; code < 128; ++code) {
    const Decoded d = decode(format, code);
    if (d.is_zero() || d.is_nan() || d.is_infinity()) continue;  // tiles with NaN or infinity do not use these tables
    const uint32_t bits = detail::as_bits(static_cast<float>(std::ldexp(to_double(format, code), -unit))) >> 16;
    t.low[code] = static_cast<uint8_t>(bits);
    t.high[code] = static_cast<uint8_t>(bits >> 8);
    t.bottoms[code] = static_cast<uint8_t>(127 - kBottomStep * (d.lsb_exponent + std::countr_zero(d.significand) - unit));
  }
  return t;
}

/// e5m2 has a wider range of exponents: the largest element determines the unit.
constexpr int kE5m2Lowest = -24, kE5m2Units = 32;
const ByteTable& e5m2_table(int unit) {
  // Never destroyed: destructors of a program's globals may still launch kernels.
  static const auto& kTables = *new auto([] {
    std::vector<ByteTable> tables;
    for (int i = 0; i < kE5m2Units; ++i) tables.push_back(make_table(Format::e5m2, kE5m2Lowest + i));
    return tables;
  }());
  return kTables[static_cast<size_t>(unit - kE5m2Lowest)];
}

const ByteTable& table_of_range(Format format) {
  static const ByteTable kE4m3 = make_table(Format::e4m3, 0), kE2m3 = make_table(Format::e2m3, 0), kE3m2 = make_table(Format::e3m2, 0),
                         kE2m1 = make_table(Format::e2m1, 0);
  return format == Format::e4m3 ? kE4m3 : format == Format::e2m3 ? kE2m3
                                      : format == Format::e3m2   ? kE3m2
                                                                 : kE2m1;
}

/// Bounds of an operand before it is decoded; exponents in units.
struct Reach {
  const ByteTable* table;
  int top;     // largest raw exponent
  int lowest;  // lowest bit of the format
};

/// Returns false if the operand has infinities or NaNs.
bool find_reach(const OperandSource& s, Reach& out) {
  const FormatInfo& in = format_info(s.format);
  out.table = &table_of_range(s.format);
  uint32_t largest = in.sign_mask() - 1;
  if (s.format == Format::e4m3 || s.format == Format::e5m2) {
    largest = largest_code(static_cast<const uint8_t*>(s.codes), s.row_stride, s.rows);
    const Decoded d = decode(s.format, largest);
    if (d.is_nan() || d.is_infinity()) return false;
    if (s.format == Format::e5m2) {
      const int top = d.is_zero() ? 0 : d.lsb_exponent + static_cast<int>(std::bit_width(d.significand)) - 1;
      out.table = &e5m2_table(top + 1 - kTableReach);
    }
  }
  const Decoded d = decode(s.format, largest);
  out.top = (d.is_zero() ? in.min_exponent() : d.raw_exponent) - out.table->unit;
  out.lowest = in.min_exponent() - static_cast<int>(in.fraction_bits) - out.table->unit;
  return true;
}

/// True if sums of 32 products are exact for all elements within the bounds.
bool is_exact_unsplit(const Reach& a, const Reach& b) {
  constexpr int kSumBits = 5, kFloatBits = 24;
  return (a.top + 1 - a.lowest) + (b.top + 1 - b.lowest) + kSumBits <= kFloatBits;
}

/// High elements are multiples of 2^(top - depth). If the depths add up to 17, no sum of products of high elements is
/// rounded: it is below 32 * 1.875^2 < 2^7 times 2^(sum of the tops).
constexpr int kRowDepth = 9, kLaneDepth = 8;

/// Exponent of the smallest high element. If it is below the floor, every element is high.
int least_high(const OperandSource& s, const Reach& reach, int depth) {
  return reach.top - depth + static_cast<int>(format_info(s.format).fraction_bits);
}

/// Returns false if a scale is too far from 1.
bool load_scales(const OperandSource& s, ByteOperand& out, bool& scaled) {
  std::fill_n(out.exponents, s.rows, 0);
  if (s.scales_per_row == 0) return true;
  int farthest = 0;
  for (unsigned r = 0; r < s.rows; ++r) {
    out.exponents[r] = s.scales[r * s.scale_stride] - 127;
    farthest = std::max(farthest, std::abs(out.exponents[r]));
  }
  scaled |= farthest != 0;
  return farthest <= kScaleReach;
}

/// A product of elements of at most eight bits, K = 32.
class ByteTile {
 public:
  ByteTile(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out)
      : p_(p), a_(a), b_(b), out_(out) {}

  bool run(TileLeft& left) {
    Reach a, b;
    bool scaled = false;
    if (!find_reach(a_, a) || !find_reach(b_, b) || !load_scales(a_, rows_, scaled) || !load_scales(b_, lanes_, scaled)) return false;
    const bool split = !is_exact_unsplit(a, b);
    decode(a_, a, split, kRowDepth, TileSide::rows, rows_);
    decode(b_, b, split, kLaneDepth, TileSide::lanes, lanes_);
    const TileUnit unit;
    left.resize(a_.rows);
    multiply_bytes({rows_, lanes_, a_.rows, b_.rows, split, scaled, p_.window, a.top + b.top, split ? exact_bottom(a, b) : a.lowest + b.lowest,
                    out_.c, out_.d, out_.c_stride, out_.d_stride},
                   left.data());
    return true;
  }

 private:
  static void decode(const OperandSource& s, const Reach& reach, bool split, int depth, TileSide side, ByteOperand& out) {
    const FormatInfo& format = format_info(s.format);
    const auto sign = static_cast<uint8_t>(format.sign_mask());
    out.unit = reach.table->unit;
    out.floor = format.min_exponent() - out.unit;
    const int exponent = least_high(s, reach, depth);
    const int bound = exponent <= out.floor ? 0 : (exponent - out.floor + 1) << format.fraction_bits;
    const auto flip = static_cast<uint8_t>(s.negate ? sign : 0);
    decode_bytes({static_cast<const uint8_t*>(s.codes), s.row_stride, s.rows, flip, reach.table, split, static_cast<uint8_t>(sign - 1),
                  static_cast<uint8_t>(bound)},
                 side, out);
  }

  /// No sum of products with a low element is rounded if their lowest bit is at least this: the product of the rows' lengths
  /// bounds the sum.
  int exact_bottom(const Reach& a, const Reach& b) const {
    const auto low = [](const ByteOperand& x, int exponent) { return std::sqrt(static_cast<float>(x.low_count)) * std::ldexp(1.0f, exponent); };
    const float row_lows = low(rows_, least_high(a_, a, kRowDepth)), lane_lows = low(lanes_, least_high(b_, b, kLaneDepth));
    const float sum = row_lows * std::sqrt(lanes_.square) + std::sqrt(rows_.square) * lane_lows;
    constexpr int kFloatBits = 24, kNone = -60;
    return sum == 0 ? kNone : std::max(std::ilogb(sum) + 1 - kFloatBits, kNone);
  }

  const MmaParams& p_;
  const OperandSource &a_, &b_;
  const TileOutput& out_;
  ByteOperand rows_, lanes_;
};

}  // namespace

bool multiply_bytes_with_amx(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left) {
  const auto narrow = [](const OperandSource& s) {
    return s.storage == CodeStorage::bytes && s.k == kTileK && s.scales_per_row <= 1 && format_info(s.format).bits() <= 8 &&
           (s.scales_per_row == 0 || s.scale_format == Format::ue8m0);
  };
  // Terms below 2^(window + 2) are summed in 32 bits (bytes_cut.cpp). A floor at or below -126 has no effect: see kScaleReach.
  if (p.group != 1 || p.window > 25 || p.exponent_floor > -126 || p.output != MmaOutput::f32_rz24 || p.legacy_fp8 ||
      out.input_d_shift != 0 || !narrow(a) || !narrow(b) ||
      (p.sum_terms != 0 && static_cast<unsigned>(p.sum_terms) < a.k))
    return false;
  return ByteTile(p, a, b, out).run(left);
}

}  // namespace drywell::numeric
#endif
