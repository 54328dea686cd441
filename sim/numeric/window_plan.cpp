#include "sim/numeric/window_plan.h"

#include <algorithm>
#include <array>
#include <bit>

#include "drywell/core/bits.h"
#include "sim/numeric/window_kernels.h"

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
  return f == Format::f16 ? WindowFormat::f16 : f == Format::bf16 ? WindowFormat::bf16 : WindowFormat::tf32;
}

constexpr unsigned kDepthColumns = round_up(kWindowRows, kWindowBytes);

/// One operand.
struct Side {
  void load(const OperandSource& s, WindowSide side) {
    const WindowSource in = {static_cast<const uint8_t*>(s.codes), s.row_stride, s.rows, s.k, window_format(s.format), s.negate};
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
      return known_format(s.format) && s.storage == storage && s.scales_per_row == 0 && s.rows % step == 0 && s.rows <= kWindowRows &&
             s.rows != 0 && s.k <= kWindowK && s.k % 2 == 0;
    };
    return p.group == 1 && p.output != MmaOutput::f32_rz14 && !p.legacy_fp8 && p.window <= 25 && out.input_d_shift == 0 &&
           (p.sum_terms == 0 || static_cast<unsigned>(p.sum_terms) >= a.k) && shaped(a, kWindowPanel) && shaped(b, kWindowColumns);
  }

  bool run(const MmaParams& p, const OperandSource& a, const OperandSource& b, const TileOutput& out, TileLeft& left) {
    rows_.load(a, WindowSide::rows);
    columns_.load(b, WindowSide::columns);
    const WindowRange &x = rows_.range, &y = columns_.range;
    // Sums must fit 31 bits: sqrt(x.square * y.square) bounds that of significands (Cauchy-Schwarz), C adds at most two.
    const float greatest = static_cast<float>((1u << (31 - p.window)) - 2) * 0.999f;
    if (x.special || y.special || x.square * y.square >= greatest * greatest) return false;
    const int columns_top = y.least > y.greatest ? 0 : y.greatest, top = x.least > x.greatest ? 0 : x.greatest + columns_top;
    if (top > kGreatestTop) return false;
    lift_exponents(rows_.exponents.data(), a.rows, a.k, columns_top, lifts_.data());
    sink_exponents(columns_.exponents.data(), b.rows, b.k, columns_top, depths_.data());
    left.assign(a.rows, 0);
    const bool halves = p.output == MmaOutput::f16_rn;
    window_sums({rows_.values.data(), columns_.values.data(), lifts_.data(), depths_.data(), rows_.signs.data(), columns_.signs.data(),
                 a.rows, b.rows, a.k, p.window, std::max(kLeastField, p.exponent_floor + kBias), x.least + y.least < kLeastTop ? kDoubtful : 0,
                 halves, out.c, out.d, out.c_stride, out.d_stride, left.data()});
    return true;
  }

 private:
  static constexpr int kBias = 127, kLeastField = 1;
  /// Tops whose powers of two, and the sums in quanta they stand for, are floats.
  static constexpr int kGreatestTop = 126, kLeastTop = -124;
  /// Where some products are below: tops that none of them reaches.
  static constexpr int kDoubtful = 8;

  Side rows_, columns_;
  alignas(64) std::array<uint32_t, kWindowRows * kWindowK> lifts_;
  alignas(64) std::array<uint8_t, kDepthColumns * kWindowK> depths_;
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
