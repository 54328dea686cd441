#include "sim/numeric/tile_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "drywell/sim/numeric/convert_fast.h"
#include "sim/numeric/grouped_limits.h"
#include "sim/numeric/tile_scaled.h"

namespace drywell::numeric {

#if defined(DRYWELL_TILE_UNIT)
namespace {

constexpr unsigned kMaxRows = 256, kColumnStep = 64, kLeftStep = 32;

bool has_tile_shape(unsigned rows, unsigned columns) {
  return rows % kTileRows == 0 && rows <= kMaxRows && columns % kColumnStep == 0 && columns <= kMaxRows && rows != 0 && columns != 0;
}

/// Scales this far from 1 are left to the other kernels: products and sums stay within the normal range of floats.
constexpr int kScaleReach = 44;

ScaleTable make_scale_table(Format format) {
  ScaleTable t = {};
  for (unsigned code = 0; code < 256; ++code) {
    const uint32_t known = format == Format::ue4m3 ? code & 0x7F : code;
    const Decoded scale = decode(format, known);
    const double value = scale.is_nan() ? 0 : to_double(format, known);
    int& exponent = t.exponents[code];
    exponent = value == 0 ? ScaleTable::kZero : scale.raw_exponent;
    if (scale.is_nan() || (value != 0 && std::abs(scale.raw_exponent) > kScaleReach)) exponent = ScaleTable::kUnfit;
    if (std::abs(exponent) > kScaleReach) continue;
    t.lowest_bits[code] = scale.lsb_exponent + std::countr_zero(scale.significand) - 1;  // e2m1: multiples of a half
    for (unsigned e = 0; e < 16; ++e) {
      const auto product = static_cast<float>(value * to_double(Format::e2m1, e));
      const uint32_t bits = detail::as_bits(product) >> 16;
      t.values[code].low[e] = static_cast<uint8_t>(bits);
      t.values[code].high[e] = static_cast<uint8_t>(bits >> 8);
    }
  }
  return t;
}

const ScaleTable& scale_table(Format format) {
  static const auto kUe4m3 = std::make_unique<const ScaleTable>(make_scale_table(Format::ue4m3));
  static const auto kUe8m0 = std::make_unique<const ScaleTable>(make_scale_table(Format::ue8m0));
  return format == Format::ue4m3 ? *kUe4m3 : *kUe8m0;
}

/// A block-scaled product of e2m1: every row of tiles whose sums are known to be exact.
class ScaledTile {
 public:
  static bool fits(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out) {
    const auto packed = [](const OperandSource& s) {
      return s.format == Format::e2m1 && s.storage == CodeStorage::nibbles && s.k == kScaledPlanes * kTileK &&
             (s.scales_per_row == 2 || s.scales_per_row == 4);
    };
    return p.group == 16 && p.output == MmaOutput::f32_rz24 && p.sum_terms == 0 && out.input_d_shift == 0 && packed(a) && packed(b) &&
           a.scales_per_row == b.scales_per_row;
  }

  ScaledTile(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out)
      : p_(p), rows_(a.rows), columns_(b.rows), out_(out) {
    fit_ = a_.load(a, TileSide::rows) && b_.load(b, TileSide::lanes);
    for (unsigned i = 0; fit_ && i < columns_ / kLeftStep; ++i)
      greatest_spans_[i] = *std::max_element(b_.spans.begin() + kLeftStep * i, b_.spans.begin() + kLeftStep * (i + 1));
  }

  bool run(TileLeft& left) {
    if (!fit_) return false;
    const TileUnit unit;
    left.resize(rows_);
    for (unsigned m = 0; m < rows_; m += kTileRows) rows(m, left.data() + m);
    const auto all = static_cast<uint32_t>((uint64_t{1} << columns_ / kLeftStep) - 1);
    for (uint32_t& columns : left) columns &= all;
    return true;
  }

 private:
  struct Side {
    bool load(const OperandSource& s, TileSide side) {
      const ScaledRows in = {static_cast<const uint8_t*>(s.codes), s.scales,         s.row_stride, s.scale_stride, s.rows,
                             s.scales_per_row,                     s.negate, &scale_table(s.scale_format)};
      if (!decode_scaled(in, side, tiles.data(), {tops.data(), lowest.data(), spans.data()})) return false;
      greatest_top = *std::max_element(tops.begin(), tops.begin() + s.rows);
      least_lowest = *std::min_element(lowest.begin(), lowest.begin() + s.rows);
      return true;
    }
    alignas(64) std::array<uint8_t, kScaledPlanes * kMaxRows / kTileRows * kTileBytes> tiles;
    std::array<int32_t, kMaxRows> tops, lowest;
    std::array<float, kMaxRows> spans;
    int greatest_top = 0, least_lowest = 0;
  };

  /// No partial sum of products of two rows is larger than the product of their lengths (Cauchy-Schwarz).
  uint32_t exact_columns(unsigned m) const {
    constexpr float kExact = 0x1p48f * 0.999f;
    const float row = *std::max_element(a_.spans.begin() + m, a_.spans.begin() + m + kTileRows);
    uint32_t exact = 0;
    for (unsigned i = 0; i < columns_ / kLeftStep; ++i)
      if (row * greatest_spans_[i] < kExact) exact |= 1u << i;
    return exact;
  }

  void rows(unsigned m, uint32_t* left) {
    ScaledFinish finish;
    finish.wanted = exact_columns(m);
    if (finish.wanted == 0) {
      std::fill_n(left, kTileRows, ~0u);
      return;
    }
    TileProduct products[kScaledPlanes];
    for (unsigned p = 0; p < kScaledPlanes; ++p)
      products[p] = {a_.tiles.data() + (p * rows_ + m) / kTileRows * kTileBytes, b_.tiles.data() + p * columns_ / kTileRows * kTileBytes};
    tile_sums(products, kScaledPlanes, columns_ / kTileRows, sums_.data());
    finish.sums = sums_.data();
    finish.columns = columns_;
    finish.c = out_.c == nullptr ? nullptr : out_.c + m * out_.c_stride;
    finish.d = out_.d + m * out_.d_stride;
    finish.c_stride = out_.c_stride;
    finish.d_stride = out_.d_stride;
    for (unsigned r = 0; r < kTileRows; ++r) {
      const int top = a_.tops[m + r] + b_.greatest_top;
      const CLimits limits = c_limits(top, a_.lowest[m + r] + b_.least_lowest, p_.window);
      finish.quanta[r] = std::abs(top) <= 2 * kScaleReach ? detail::as_float(detail::pow2_bits(p_.window - top)) : 0;
      finish.least[r] = limits.least;
      finish.greatest[r] = limits.greatest;
    }
    finish_scaled(finish, left);
  }

  const MmaParams& p_;
  const unsigned rows_, columns_;
  const TileOutput& out_;
  bool fit_;
  Side a_, b_;
  std::array<float, kMaxRows / kLeftStep> greatest_spans_;
  alignas(64) std::array<float, kTileRows * kMaxRows> sums_;
};

/// Rows of at most 64 bytes, as tiles.
void pack_bytes(const uint8_t* bytes, size_t stride, unsigned rows, unsigned k, TileSide side, uint8_t* tiles) {
  std::memset(tiles, 0, size_t{rows} * 64);
  for (unsigned r = 0; r < rows; ++r) std::memcpy(tiles + size_t{64} * r, bytes + r * stride, k);
  for (unsigned r = 0; side == TileSide::lanes && r < rows; r += kTileRows) turn_tile(tiles + size_t{64} * r);
}

}  // namespace

bool multiply_on_tile_unit(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left) {
  if (!tile_unit_available() || !has_tile_shape(a.rows, b.rows)) return false;
  if (ScaledTile::fits(params, a, b, out)) return ScaledTile(params, a, b, out).run(left);
  return multiply_bytes_on_tile_unit(params, a, b, out, left);
}

bool multiply_on_tile_unit(const IntegerTile& t, const TileOutput& out) {
  if (!tile_unit_available() || t.saturate || t.k > 64 || !has_tile_shape(t.m, t.n)) return false;
  alignas(64) std::array<uint8_t, kMaxRows * 64> rows, lanes;
  pack_bytes(t.a, t.a_stride, t.m, t.k, TileSide::rows, rows.data());
  pack_bytes(t.b, t.b_stride, t.n, t.k, TileSide::lanes, lanes.data());
  const TileUnit unit;
  for (unsigned m = 0; m < t.m; m += kTileRows) {
    tile_dots({rows.data() + size_t{64} * m, lanes.data(), t.a_signed, t.b_signed, t.n / kTileRows,
               out.c == nullptr ? nullptr : out.c + m * out.c_stride, out.d + m * out.d_stride, 4 * out.c_stride, 4 * out.d_stride});
  }
  return true;
}

#else
bool multiply_on_tile_unit(const MmaParams&, const OperandSource&, const OperandSource&, const TileOutput&, TileLeft&) { return false; }
bool multiply_on_tile_unit(const IntegerTile&, const TileOutput&) { return false; }
#endif

}  // namespace drywell::numeric
