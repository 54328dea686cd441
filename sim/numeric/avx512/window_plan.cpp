#include "sim/numeric/avx512/window_plan.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/numeric/avx512/window_kernels.h"

namespace drywell::numeric {

#if defined(DRYWELL_WINDOW_KERNELS)
namespace {

bool processor_fits() {
  static const bool kFits = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
  return kFits;
}

bool known_format(Format f) { return f == Format::f16 || f == Format::bf16 || f == Format::tf32; }
WindowFormat window_format(Format f) {
  return f == Format::f16 ? WindowFormat::f16 : f == Format::bf16 ? WindowFormat::bf16
                                                                  : WindowFormat::tf32;
}

/// One decoded operand.
struct Side {
  void load(const OperandSource& s, WindowSide side) {
    const WindowSource in = {static_cast<const uint8_t*>(s.codes), s.row_stride, s.rows, window_format(s.format), s.negate};
    range = decode_window(in, side, {values.data(), exponents.data(), signs.data()});
  }
  alignas(64) std::array<double, kWindowRows * kWindowK> values;
  alignas(64) std::array<int8_t, kWindowRows * kWindowK> exponents;
  alignas(64) std::array<uint32_t, kWindowRows> signs;
  WindowRange range;
};

class WindowProduct {
 public:
  static bool fits(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out) {
    const auto shaped = [](const OperandSource& s, unsigned step) {
      const CodeStorage storage = s.format == Format::tf32 ? CodeStorage::words : CodeStorage::halves;
      return known_format(s.format) && s.storage == storage && s.k == (s.format == Format::tf32 ? 8 : 16) && s.scales_per_row == 0 &&
             s.rows % step == 0 && s.rows <= kWindowRows && s.rows != 0;
    };
    return p.group == 1 && p.output != MmaOutput::f32_rz14 && !p.legacy_fp8 && p.window <= 25 && out.input_d_shift == 0 &&
           (p.sum_terms == 0 || static_cast<unsigned>(p.sum_terms) >= a.k) && shaped(a, kWindowPanel) && shaped(b, kWindowColumns);
  }

  bool run(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left) {
    rows_.load(a, WindowSide::rows);
    columns_.load(b, WindowSide::columns);
    const WindowRange &x = rows_.range, &y = columns_.range;
    // Sums must fit 31 bits: sqrt(x.square * y.square) bounds the sum of significands (Cauchy-Schwarz), and C adds at most two.
    const float greatest_sum = static_cast<float>((1u << (31 - p.window)) - 2) * 0.999f;
    if (x.special || y.special || x.square * y.square >= greatest_sum * greatest_sum) return false;
    const auto greatest_of = [](const WindowRange& r) { return r.least > r.greatest ? 0 : r.greatest; };
    const int rows_top = greatest_of(x), columns_top = greatest_of(y), top = kBias + rows_top + columns_top;
    if (top < kLeastTop || top > kGreatestTop) return false;
    // A term and a sum of two terms fit a byte. A sum with a zero is at most `none`; a sum of very small elements may be, too.
    const int span = std::min(kGreatestSpan, top / 2 - 1), none = top - span - 1;
    const bool only_zeros = x.greatest - x.least + y.greatest - y.least <= span;
    const int floor = std::max(kLeastField, p.exponent_floor + kBias);
    spread_row_terms({rows_.exponents.data(), a.rows, a.k, rows_top, span, 0}, row_terms_.data());
    spread_column_terms({columns_.exponents.data(), b.rows, b.k, columns_top, span, none - span - 1}, column_terms_.data());
    left.assign(a.rows, 0);
    window_sums({rows_.values.data(), columns_.values.data(), row_terms_.data(), column_terms_.data(), rows_.signs.data(),
                 columns_.signs.data(), a.rows, b.rows, a.k, p.window, none, only_zeros ? floor : kUnusable, floor,
                 p.output == MmaOutput::f16_rn, out.keep_upper_halves, out.c, out.d, out.c_stride, out.d_stride, left.data()});
    return true;
  }

 private:
  static constexpr int kBias = 127, kLeastField = 1;
  /// Exponents in float's encoding between which no sum in quanta overflows and the quantum is a normal float.
  static constexpr int kLeastTop = 6, kGreatestTop = 253;
  static constexpr int kGreatestSpan = 63;
  static constexpr int kUnusable = 255;

  Side rows_, columns_;
  alignas(64) std::array<uint32_t, kWindowRows * kWindowK> row_terms_;
  alignas(64) std::array<uint8_t, kWindowRows * kWindowK> column_terms_;
};

}  // namespace

bool multiply_in_window(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left) {
  if (!processor_fits() || !WindowProduct::fits(params, a, b, out)) return false;
  WindowProduct product;
  return product.run(params, a, b, out, left);
}

#else
bool multiply_in_window(const MmaParams&, const OperandSource&, const OperandSource&, const TileOutput&, TileLeft&) { return false; }
#endif

}  // namespace drywell::numeric
