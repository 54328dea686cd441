#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "drywell/sim/numeric/convert_fast.h"
#include "sim/numeric/tile_bytes.h"
#include "sim/numeric/tile_plan.h"

#if defined(DRYWELL_TILE_UNIT)
namespace drywell::numeric {
namespace {

constexpr unsigned kMaxRows = 256;
/// Exponents a table tells apart, from the largest element down.
constexpr int kTableReach = 9;
/// Scales this far from 1 are left to the other kernels: products stay within the normal range of floats.
constexpr int kScaleReach = 30;

uint8_t power_field(int exponent) { return static_cast<uint8_t>(127 + kExponentStep * exponent); }

ByteTable make_table(Format format, int unit) {
  const FormatInfo& in = format_info(format);
  ByteTable t = {};
  t.mask = static_cast<uint8_t>((1u << in.bits()) - 1);
  t.sign = in.bits() == 8 ? 0x80 : 0;
  t.unit = unit;
  for (unsigned code = 0; code < 128; ++code) {
    const Decoded d = decode(format, code);
    if (d.is_zero() || d.is_nan() || d.is_infinity()) continue;  // tiles with NaN or infinity are not for these tables
    const uint32_t bits = detail::as_bits(static_cast<float>(std::ldexp(to_double(format, code), -unit))) >> 16;
    t.low[code] = static_cast<uint8_t>(bits);
    t.high[code] = static_cast<uint8_t>(bits >> 8);
    const int bottom = d.lsb_exponent + std::countr_zero(d.significand) - unit;
    t.bad[code] = bottom <= kBadExponent ? 1 : 0;
    t.tops[code] = power_field(std::max(d.raw_exponent - unit, kBadExponent));
    t.bottoms[code] = power_field(-std::max(bottom, kBadExponent));
  }
  return t;
}

/// e5m2 reaches further: the unit follows the largest element.
constexpr int kE5m2Lowest = -24, kE5m2Units = 32;
const ByteTable& e5m2_table(int unit) {
  static const auto kTables = [] {
    std::vector<ByteTable> tables;
    for (int i = 0; i < kE5m2Units; ++i) tables.push_back(make_table(Format::e5m2, kE5m2Lowest + i));
    return tables;
  }();
  return kTables[static_cast<size_t>(unit - kE5m2Lowest)];
}

const ByteTable& table_of_range(Format format) {
  static const ByteTable kE4m3 = make_table(Format::e4m3, 0), kE2m3 = make_table(Format::e2m3, 0), kE3m2 = make_table(Format::e3m2, 0),
                         kE2m1 = make_table(Format::e2m1, 0);
  return format == Format::e4m3 ? kE4m3 : format == Format::e2m3 ? kE2m3 : format == Format::e3m2 ? kE3m2 : kE2m1;
}

/// Null if there are infinities or NaNs.
const ByteTable* find_table(const OperandSource& s) {
  if (s.format != Format::e4m3 && s.format != Format::e5m2) return &table_of_range(s.format);
  const Decoded largest = decode(s.format, largest_code(static_cast<const uint8_t*>(s.codes), s.row_stride, s.rows));
  if (largest.is_nan() || largest.is_infinity()) return nullptr;
  if (s.format == Format::e4m3) return &table_of_range(s.format);
  const int top = largest.is_zero() ? 0 : largest.lsb_exponent + static_cast<int>(std::bit_width(largest.significand)) - 1;
  return &e5m2_table(top + 1 - kTableReach);
}

class Side {
 public:
  bool load(const OperandSource& s, TileSide side) {
    table_ = find_table(s);
    if (table_ == nullptr || !load_scales(s)) return false;
    plane_ = size_t{s.rows} / kTileRows * kTileBytes;
    const auto flip = static_cast<uint8_t>(s.negate ? format_info(s.format).sign_mask() : 0);
    decode_bytes({static_cast<const uint8_t*>(s.codes), s.row_stride, s.rows, flip, table_}, side,
                 {tiles_.data(), values_.data(), turned_.data(), lengths_.data(), bad_.data()});
    return true;
  }

  const uint8_t* tiles(BytePlane p, unsigned row = 0) const { return tiles_.data() + p * plane_ + size_t{row} / kTileRows * kTileBytes; }
  const float* values(unsigned row = 0) const { return values_.data() + size_t{kTileK} * row; }
  const float* turned_values() const { return turned_.data(); }
  const float* lengths() const { return lengths_.data(); }
  const int32_t* exponents() const { return exponents_.data(); }
  const uint16_t* bad() const { return bad_.data(); }
  int unit() const { return table_->unit; }

 private:
  bool load_scales(const OperandSource& s) {
    for (unsigned r = 0; r < s.rows; ++r) {
      exponents_[r] = s.scales_per_row == 0 ? 0 : s.scales[r * s.scale_stride] - 127;
      if (std::abs(exponents_[r]) > kScaleReach) return false;
    }
    return true;
  }

  const ByteTable* table_ = nullptr;
  size_t plane_ = 0;
  alignas(64) std::array<uint8_t, size_t{kBytePlanes} * kMaxRows / kTileRows * kTileBytes> tiles_;
  alignas(64) std::array<float, size_t{kTileK} * kMaxRows> values_, turned_;
  std::array<float, kMaxRows> lengths_;
  std::array<int32_t, kMaxRows> exponents_;
  std::array<uint16_t, kMaxRows / kTileRows> bad_;
};

/// A product of elements of at most eight bits, K = 32.
class ByteTile {
 public:
  ByteTile(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out)
      : p_(p), rows_(a.rows), columns_(b.rows), out_(out) {
    fit_ = a_.load(a, TileSide::rows) && b_.load(b, TileSide::lanes);
  }

  bool run(TileLeft& left) {
    if (!fit_) return false;
    const TileUnit unit;
    left.resize(rows_);
    for (unsigned m = 0; m < rows_; m += kTileRows) rows(m, left.data() + m);
    return true;
  }

 private:
  using Sums = std::array<float, kTileRows * kMaxRows>;

  const float* sum(unsigned m, BytePlane plane) {
    const TileProduct product = {a_.tiles(plane, m), b_.tiles(plane)};
    tile_sums(&product, 1, columns_ / kTileRows, sums_[plane].data());
    return sums_[plane].data();
  }

  void rows(unsigned m, uint32_t* left) {
    ByteFinish f;
    f.sums = sum(m, kValues);
    f.tops = sum(m, kTops);
    f.bottoms = sum(m, kBottoms);
    f.rows = a_.values(m);
    f.lanes = b_.values();
    f.turned_lanes = b_.turned_values();
    f.row_lengths = a_.lengths() + m;
    f.column_lengths = b_.lengths();
    f.row_exponents = a_.exponents() + m;
    f.column_exponents = b_.exponents();
    f.unit = a_.unit() + b_.unit();
    f.bad_rows = a_.bad()[m / kTileRows];
    f.bad_lanes = b_.bad();
    f.columns = columns_;
    f.window = p_.window;
    f.c = out_.c == nullptr ? nullptr : out_.c + m * out_.c_stride;
    f.d = out_.d + m * out_.d_stride;
    f.c_stride = out_.c_stride;
    f.d_stride = out_.d_stride;
    finish_bytes(f, left);
  }

  const MmaParams& p_;
  const unsigned rows_, columns_;
  const TileOutput& out_;
  bool fit_;
  Side a_, b_;
  alignas(64) std::array<Sums, kBytePlanes> sums_;
};

}  // namespace

bool multiply_bytes_on_tile_unit(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left) {
  const auto narrow = [](const OperandSource& s) {
    return s.storage == CodeStorage::bytes && s.k == kTileK && s.scales_per_row <= 1 && format_info(s.format).bits() <= 8 &&
           (s.scales_per_row == 0 || s.scale_format == Format::ue8m0);
  };
  // Terms of 2^(window + 2) are summed in 32 bits (finish_bytes). A floor at or below -126 cannot bind: see kScaleReach.
  if (p.group != 1 || p.window > 25 || p.exponent_floor > -126 || p.output != MmaOutput::f32_rz24 || p.legacy_fp8 || out.input_d_shift != 0 || !narrow(a) || !narrow(b) ||
      (p.sum_terms != 0 && static_cast<unsigned>(p.sum_terms) < a.k))
    return false;
  return ByteTile(p, a, b, out).run(left);
}

}  // namespace drywell::numeric
#endif
