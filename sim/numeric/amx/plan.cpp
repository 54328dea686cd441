#include "sim/numeric/amx/plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "drywell/sim/numeric/convert_fast.h"
#include "sim/numeric/amx/grouped_limits.h"
#include "sim/numeric/amx/scaled.h"

namespace drywell::numeric {

#if defined(DRYWELL_TILE_UNIT)
namespace {

constexpr unsigned kMaxRows = kScaledMaxRows, kColumnStep = 64;

bool has_tile_shape(unsigned rows, unsigned columns) {
  return rows % kTileRows == 0 && rows <= kMaxRows && columns % kColumnStep == 0 && columns <= kMaxRows && rows != 0 && columns != 0;
}

/// Exponents of scales from which on the other kernels are used, so that products and sums are normal floats here.
constexpr int kScaleReach = 44;

ScaleTable make_scale_table(Format format) {
  ScaleTable t = {};
  for (unsigned code = 0; code < 256; ++code) {
    const uint32_t known = format == Format::ue4m3 ? code & 0x7F : code;
    const Decoded scale = decode(format, known);
    const double value = scale.is_nan() ? 0 : to_double(format, known);
    t.tops[code] = ScaleTable::kNone;
    t.lowest[code] = t.units[code] = -1 - ScaleTable::kNone;
    if (scale.is_nan() || (value != 0 && std::abs(scale.raw_exponent) > kScaleReach)) t.tops[code] = ScaleTable::kUnfit;
    if (value == 0 || t.tops[code] == ScaleTable::kUnfit) continue;
    t.tops[code] = t.lowest[code] = static_cast<int8_t>(scale.raw_exponent);
    t.units[code] = static_cast<int8_t>(scale.lsb_exponent + std::countr_zero(scale.significand) - 1);  // e2m1: multiples of a half
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
  // Never destroyed: destructors of a program's globals may still launch kernels.
  static const auto& kUe4m3 = *new ScaleTable(make_scale_table(Format::ue4m3));
  static const auto& kUe8m0 = *new ScaleTable(make_scale_table(Format::ue8m0));
  return format == Format::ue4m3 ? kUe4m3 : kUe8m0;
}

/// A block-scaled product of e2m1: computes every row of tiles whose sums are proved exact.
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
      : p_(p), columns_(b.rows), out_(out) {
    rows_ = scaled_rows(a);
    fit_ = scales_fit(rows_) && load_lanes(scaled_rows(b));
  }

  bool run(TileLeft& left) {
    if (!fit_) return false;
    const TileUnit unit;
    left.resize(rows_.rows);
    multiply_scaled({rows_, tiles_.data(), spans_.data(), range_, columns_, out_.c, out_.d, out_.c_stride, out_.d_stride, p_.window, kGroupDepth},
                    left.data());
    return true;
  }

 private:
  static ScaledRows scaled_rows(const OperandSource& s) {
    return {static_cast<const uint8_t*>(s.codes), s.scales, s.row_stride, s.scale_stride, s.rows, s.scales_per_row, s.negate,
            &scale_table(s.scale_format)};
  }
  bool load_lanes(const ScaledRows& lanes) {
    range_ = decode_scaled(lanes, tiles_.data(), spans_.data());
    return range_.greatest_top != ScaleTable::kUnfit;
  }

  const MmaParams& p_;
  const unsigned columns_;
  const TileOutput& out_;
  ScaledRows rows_;
  bool fit_;
  alignas(64) std::array<uint8_t, kScaledPlanes * kMaxRows / kTileRows * kTileBytes> tiles_;
  std::array<float, kMaxRows / kTileRows> spans_ = {};
  ScaledRange range_;
};

/// Copies rows of at most 64 bytes into tiles.
void pack_bytes(const uint8_t* bytes, size_t stride, unsigned rows, unsigned k, TileSide side, uint8_t* tiles) {
  std::memset(tiles, 0, size_t{rows} * 64);
  for (unsigned r = 0; r < rows; ++r) std::memcpy(tiles + size_t{64} * r, bytes + r * stride, k);
  for (unsigned r = 0; side == TileSide::lanes && r < rows; r += kTileRows) turn_tile(tiles + size_t{64} * r);
}

}  // namespace

bool multiply_with_amx(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left) {
  if (!amx_available() || !has_tile_shape(a.rows, b.rows)) return false;
  if (ScaledTile::fits(params, a, b, out)) return ScaledTile(params, a, b, out).run(left);
  return multiply_bytes_with_amx(params, a, b, out, left);
}

bool multiply_with_amx(const IntegerTile& t, const TileOutput& out) {
  if (!amx_available() || t.saturate || t.k > 64 || !has_tile_shape(t.m, t.n)) return false;
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
bool multiply_with_amx(const MmaParams&, const OperandSource&, const OperandSource&, const TileOutput&, TileLeft&) { return false; }
bool multiply_with_amx(const IntegerTile&, const TileOutput&) { return false; }
#endif

}  // namespace drywell::numeric
