#include "drywell/sim/numeric/mma_tile.h"

#include <algorithm>
#include <array>
#include <optional>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/convert_fast.h"
#include "sim/numeric/amx/grouped_limits.h"
#include "sim/numeric/amx/plan.h"
#include "sim/numeric/avx512/window_plan.h"
#include "sim/numeric/highway/exact_kernels.h"
#include "sim/numeric/highway/exact_rounding.h"
#include "sim/numeric/highway/tile_kernels.h"
#include "sim/numeric/special_sums.h"
#include "sim/numeric/window_tile.h"

namespace drywell::numeric {

/// One call of mma_tile. Computes blocks of columns that stay in the L1 cache, row by row within a block.
class TileRun {
 public:
  TileRun(const MmaParams& params, const MmaOperand& a, const MmaOperand& b, const TileOutput& out)
      : p_(params), a_(a), b_(b), out_(out), f16_d_(params.d_format() == Format::f16) {
    DRYWELL_CHECK(a.side() == MmaOperand::Side::a && b.side() == MmaOperand::Side::b,
                  "operands on the wrong side");
    DRYWELL_CHECK(a.k() == b.k(), "A and B of different K");
    wide_ = p_.group == 1 && (a.any_wide_ || b.any_wide_);
    if (wide_) {
      if (!a.any_wide_) widened_a_ = widened(a);
      if (!b.any_wide_) widened_b_ = widened(b);
    }
    chained_ = p_.legacy_fp8 || (p_.sum_terms != 0 && static_cast<unsigned>(p_.sum_terms) < a.k());
    if ((a.any_special_ || b.any_special_) && a.k() <= RowClasses::kMostElements) {
      a_classes_ = classes(a);
      b_classes_ = classes(b);
    }
    plan_path();
  }

  void rows(unsigned first, unsigned count) {
    const unsigned width = path_ == Path::grouped ? kGroupedBlockColumns : kMaxColumns;
    for (unsigned n = 0; n < b_.rows(); n += width) {
      const unsigned columns = std::min(width, b_.rows() - n);
      const unsigned fast = path_ == Path::general ? 0 : columns / kColumnMultiple * kColumnMultiple;
      for (unsigned m = first; fast != 0 && m < first + count; m += kGroupedBlockRows) grouped_block(m, std::min(kGroupedBlockRows, first + count - m), n, fast);
      for (unsigned m = first; fast < columns && m < first + count; ++m) row(m, n + fast, columns - fast);
    }
  }

  /// Computes the columns in `left`: b.rows() is at most kMaxColumns.
  void rest(const TileLeft& left) {
    const uint32_t all = static_cast<uint32_t>((uint64_t{1} << ceil_div(b_.rows(), kColumnMultiple)) - 1);
    for (unsigned m = 0; m < left.size();) {
      unsigned whole = 0;
      while (m + whole < left.size() && (left[m + whole] & all) == all) ++whole;
      if (whole != 0) {
        rows(m, whole);
        m += whole;
        continue;
      }
      if ((left[m] & all) != 0) general_parts(m, 0, b_.rows(), left[m] & all);
      ++m;
    }
  }

 private:
  /// Exponents of the scales of one side, over all rows.
  struct Range {
    int32_t least_lowest = 1000, greatest_top = -1000;
  };
  static Range range_of(const MmaOperand& x) {
    Range r;
    for (unsigned i = 0; i < x.rows(); ++i) {
      r.least_lowest = std::min(r.least_lowest, x.row_lowest_[i]);
      r.greatest_top = std::max(r.greatest_top, x.row_tops_[i]);
    }
    return r;
  }

  /// The first path tried for a tile. Columns that it does not compute are left to the general one.
  enum class Path : uint8_t {
    window,
    grouped,
    general
  };

  /// All groups are terms of one sum of ordinary elements.
  bool is_plain() const {
    return out_.input_d_shift == 0 && !a_.any_special_ && !b_.any_special_ && b_.rows() >= kColumnMultiple &&
           (p_.sum_terms == 0 || static_cast<unsigned>(p_.sum_terms) >= a_.k());
  }

  void plan_path() {
    path_ = Path::general;
    if (p_.group != 1 && is_plain()) plan_grouped();
  }

  void plan_grouped() {
    const Range a = range_of(a_), b = range_of(b_);
    b_range_ = b;
    // Below this bound, powers of two of these exponents are normal floats, and sums are far from infinity.
    constexpr int kSafe = 45;
    if (p_.output == MmaOutput::f32_rz24 && std::max(a.greatest_top, b.greatest_top) < kSafe) path_ = Path::grouped;
  }

  void grouped_block(unsigned m, unsigned rows, unsigned n, unsigned columns) {
    rounding_.reset();
    const bool exact = exact_sums(m, rows, n, columns);
    std::array<uint32_t, kGroupedBlockRows> left;
    left.fill(~0u);
    for (unsigned r = 0; exact && r < rows; ++r) left[r] = finish_groups(m + r, {sums_.data() + size_t{r} * kGroupedBlockColumns, columns, 0, 0, c_of(m + r, n), d_of(m + r, n)});
    rounding_.restore();
    for (unsigned r = 0; r < rows; ++r) general_parts(m + r, n, columns, left[r]);
  }

  /// Computes the columns whose bits are set in `left`, one bit per kColumnMultiple columns.
  void general_parts(unsigned m, unsigned n, unsigned columns, uint32_t left) {
    for (unsigned i = 0; left != 0 && i < columns; i += kColumnMultiple)
      if ((left >> i / kColumnMultiple & 1) != 0) row(m, n + i, std::min(kColumnMultiple, columns - i));
  }

  /// Writes sums of products to sums_; returns false if one of them was rounded.
  bool exact_sums(unsigned m, unsigned rows, unsigned n, unsigned columns) {
    exact_grouped_sums({a_.bytes_.data() + m, b_.bytes_.data() + n, a_.group_bias_.data() + m, a_.group_scales_.data() + m,
                        b_.group_scales_.data() + n, b_.group_magic_scales_.data() + n, a_.stride_, b_.stride_,
                        a_.k() / static_cast<unsigned>(p_.group), rows, columns, sums_.data(), kGroupedBlockColumns});
    return !rounding_.inexact();
  }

  const uint32_t* c_of(unsigned m, unsigned n) const { return out_.c == nullptr ? nullptr : out_.c + m * out_.c_stride + n; }
  uint32_t* d_of(unsigned m, unsigned n) const { return out_.d + m * out_.d_stride + n; }

  uint32_t finish_groups(unsigned m, GroupedFinish io) const {
    const CLimits c = c_limits(a_.row_tops_[m] + b_range_.greatest_top, a_.row_lowest_[m] + b_range_.least_lowest, p_.window);
    if (c.least > c.greatest) return ~0u;
    io.least = c.least;
    io.greatest = c.greatest;
    return finish_grouped(io);
  }

  /// Values and exponents of an operand in the types of wide rows.
  struct Widened {
    std::vector<double> values;
    std::vector<int16_t> exponents;
  };
  static Widened widened(const MmaOperand& x) {
    Widened w{{x.values_.begin(), x.values_.end()}, {x.exponents_.begin(), x.exponents_.end()}};
    std::replace(w.exponents.begin(), w.exponents.end(), int16_t{kZeroExponent}, int16_t{kWideZeroExponent});
    return w;
  }

  void row(unsigned m, unsigned n, unsigned columns) {
    RowOutput io = {};
    io.columns = static_cast<unsigned>(round_up(columns, kColumnMultiple));
    io.d = d_.data();
    io.c_min_exponent = format_info(p_.d_format()).min_exponent();
    io.window = p_.window;
    io.floor = p_.exponent_floor;
    io.output = p_.output;
    load_c(m, n, columns);
    if (any_patch_ && std::all_of(patch_.begin(), patch_.begin() + columns, [](bool patched) { return patched; })) {
      d_.fill(0);  // store_d replaces all of it
    } else if (p_.legacy_fp8) {
      legacy_row(m, n, columns, io);
    } else {
      io.c = c_.data();
      io.c_shift = static_cast<int>(out_.input_d_shift);
      sums(m, n, columns, p_.sum_terms == 0 ? a_.k() : static_cast<unsigned>(p_.sum_terms), io);
    }
    store_d(m, n, columns);
  }

  /// Loads C as f32 values, and marks the elements of D that `dot` must compute.
  void load_c(unsigned m, unsigned n, unsigned columns) {
    const uint32_t* c = out_.c == nullptr ? nullptr : out_.c + m * out_.c_stride + n;
    any_patch_ = (a_.row_flags_[m] & MmaOperand::kSpecial) != 0;
    std::fill_n(patch_.begin(), columns, any_patch_);
    if (b_.any_special_) {
      for (unsigned i = 0; i < columns; ++i) patch_[i] |= (b_.row_flags_[n + i] & MmaOperand::kSpecial) != 0;
      any_patch_ = true;
    }
    if (c == nullptr) {
      std::fill(c_.begin(), c_.end(), 0.0f);
      std::fill(c_codes_.begin(), c_codes_.end(), 0);
      return;
    }
    std::transform(c, c + columns, c_codes_.begin(), [this](uint32_t code) { return f16_d_ ? code & 0xFFFF : code; });
    uint32_t special = 0;
    for (unsigned i = 0; i < columns; ++i) {
      const uint32_t word = f16_d_ ? f16_to_f32(c_codes_[i]) : c[i];
      special |= (word & 0x7F800000) == 0x7F800000 ? 1 : 0;
      c_[i] = detail::as_float(word);
    }
    std::fill(c_.begin() + columns, c_.begin() + static_cast<long>(round_up(columns, kColumnMultiple)), 0.0f);
    if (special != 0) mark_special(c_.data(), columns);
  }

  /// Marks elements whose C is infinite or NaN for `dot`, and replaces their C by zero for the kernel.
  void mark_special(float* c, unsigned columns) {
    for (unsigned i = 0; i < columns; ++i) {
      if ((detail::as_bits(c[i]) & 0x7F800000) != 0x7F800000) continue;
      patch_[i] = any_patch_ = true;
      c[i] = 0.0f;
    }
  }

  /// Fused sums of `step` elements each, chained through D, from io.c into d_.
  void sums(unsigned m, unsigned n, unsigned columns, unsigned step, RowOutput io) {
    for (unsigned k = 0; k < a_.k(); k += step) {
      fused_sum(m, n, k, std::min(step, a_.k() - k), io);
      if (k + step >= a_.k()) break;
      std::copy_n(d_.begin(), io.columns, chain_.begin());
      mark_special(chain_.data(), columns);
      io.c = chain_.data();
      io.c_shift = 0;
    }
  }

  void legacy_row(unsigned m, unsigned n, unsigned columns, RowOutput io) {
    std::fill(chain_.begin(), chain_.end(), 0.0f);
    io.c = chain_.data();
    sums(m, n, columns, a_.k() / 2, io);
    // D = C + X, one ordinary addition. For f16 D the float sum is rounded again when it is stored; this equals one
    // rounding, because float has more than twice the precision of f16 plus two bits.
    for (unsigned i = 0; i < columns; ++i) d_[i] = c_[i] + d_[i];
  }

  void fused_sum(unsigned m, unsigned n, unsigned k, unsigned count, const RowOutput& io) {
    if (p_.group != 1) return grouped(m, n, io);
    const size_t a_at = k * a_.stride_ + m, b_at = k * b_.stride_ + n;
    const int32_t* b_rows = b_.row_exponents_.data() + n;
    const auto run = [&](const auto* a, const auto* a_exponents, const auto* b, const auto* b_exponents) {
      aligned_row({a + a_at, a_exponents + a_at, a_.stride_, a_.row_exponents_[m], b + b_at, b_exponents + b_at, b_.stride_,
                   b_rows, count},
                  io);
    };
    if (!wide_) return run(a_.values_.data(), a_.exponents_.data(), b_.values_.data(), b_.exponents_.data());
    const bool own_a = a_.any_wide_, own_b = b_.any_wide_;
    run((own_a ? a_.wide_values_ : widened_a_.values).data(), (own_a ? a_.wide_exponents_ : widened_a_.exponents).data(),
        (own_b ? b_.wide_values_ : widened_b_.values).data(), (own_b ? b_.wide_exponents_ : widened_b_.exponents).data());
  }

  void grouped(unsigned m, unsigned n, const RowOutput& io) {
    grouped_row({a_.bytes_.data() + m, b_.bytes_.data() + n, a_.words_.data() + m, b_.words_.data() + n, a_.stride_, b_.stride_,
                 a_.k() / static_cast<unsigned>(p_.group), a_.group_bias_.data() + m, a_.group_scales_.data() + m,
                 b_.group_scales_.data() + n, a_.group_exponents_.data() + m, b_.group_exponents_.data() + n},
                io);
  }

  void store_d(unsigned m, unsigned n, unsigned columns) {
    uint32_t* d = out_.d + m * out_.d_stride + n;
    const uint32_t kept = f16_d_ && out_.keep_upper_halves ? 0xFFFF0000 : 0;
    for (unsigned i = 0; i < columns; ++i) {
      const uint32_t word = detail::as_bits(d_[i]);
      d[i] = (d[i] & kept) | (f16_d_ ? f32_to_f16_rn(word) : word);
    }
    if (!any_patch_) return;
    for (unsigned i = 0; i < columns; ++i) {
      if (patch_[i]) d[i] = (d[i] & kept) | exact(m, n + i, c_codes_[i]);
    }
  }

  /// The classes of all rows, if one of them has specials.
  static std::vector<RowClasses> classes(const MmaOperand& x) {
    std::vector<RowClasses> all(x.rows());
    for (unsigned row = 0; row < x.rows(); ++row) {
      for (unsigned k = 0; k < x.k(); ++k) all[row].set(k, decode(x.format_, x.code(row, k)));
      for (unsigned i = 0; i < x.scales_per_row_; ++i) all[row].set_scale(decode(x.scale_format_, x.scale_code(row, i)));
    }
    return all;
  }

  /// D without a sum. Chained sums may overflow on their way to an infinity of the other sign: only a NaN decides them.
  std::optional<uint32_t> special(unsigned m, unsigned n, uint32_t c) const {
    const bool by_rows = !a_classes_.empty();
    if (!by_rows && (a_.any_special_ || b_.any_special_)) return std::nullopt;
    const RowClasses finite;
    const RowClasses &a = by_rows ? a_classes_[m] : finite, &b = by_rows ? b_classes_[n] : finite;
    const Decoded start = decode(p_.d_format(), c);
    if (chained_ && !a.nan() && !b.nan() && !start.is_nan()) return std::nullopt;
    return RowClasses::sum(a, b, start, p_.d_format());
  }

  uint32_t exact(unsigned m, unsigned n, uint32_t c) const {
    if (const auto word = special(m, n, c); word.has_value()) return *word;
    const auto codes = [](const MmaOperand& x, unsigned row) {
      std::vector<uint32_t> out(x.k());
      for (unsigned k = 0; k < x.k(); ++k) out[k] = x.code(row, k);
      return out;
    };
    const auto scales = [](const MmaOperand& x, unsigned row) {
      std::vector<uint32_t> out(x.scales_per_row_);
      for (unsigned i = 0; i < x.scales_per_row_; ++i) out[i] = x.scale_code(row, i);
      return out;
    };
    const std::vector<uint32_t> a = codes(a_, m), b = codes(b_, n), a_scales = scales(a_, m), b_scales = scales(b_, n);
    const DotOperands in = {a_.format_, b_.format_, a, b, a_.scale_format_, a_scales, b_scales};
    return dot(p_, in, c, out_.input_d_shift);
  }

  const MmaParams& p_;
  const MmaOperand& a_;
  const MmaOperand& b_;
  const TileOutput& out_;
  const bool f16_d_;
  bool wide_ = false;
  Path path_ = Path::general;
  Widened widened_a_, widened_b_;
  Range b_range_;
  ExactRounding rounding_;
  bool chained_ = false;                           // a sum of sums
  std::vector<RowClasses> a_classes_, b_classes_;  // empty if no element is special
  alignas(64) std::array<float, size_t{kGroupedBlockRows} * kGroupedBlockColumns> sums_;
  bool any_patch_ = false;
  std::array<bool, kMaxColumns> patch_{};
  std::array<uint32_t, kMaxColumns> c_codes_{};
  alignas(64) std::array<float, kMaxColumns> c_{}, d_{}, chain_{};
};

void mma_tile(const MmaParams& params, const MmaOperand& a, const MmaOperand& b, const TileOutput& out,
              unsigned first_row, unsigned row_count) {
  TileRun(params, a, b, out).rows(first_row, row_count);
}

void mma_tile(const MmaParams& params, const MmaOperand& a, const MmaOperand& b, const TileOutput& out) {
  mma_tile(params, a, b, out, 0, a.rows());
}

void mma_tile(const MmaParams& params, const OperandSource& a, const OperandSource& b, const TileOutput& out) {
  TileLeft left;
  const bool begun = multiply_with_amx(params, a, b, out, left) || multiply_in_window(params, a, b, out, left) || multiply_with_doubles(params, a, b, out, left);
  if (begun && std::all_of(left.begin(), left.end(), [](uint32_t columns) { return columns == 0; })) return;
  MmaOperand rows, lanes;
  rows.assign(MmaOperand::Side::a, params, a);
  lanes.assign(MmaOperand::Side::b, params, b);
  if (begun) return TileRun(params, rows, lanes, out).rest(left);
  mma_tile(params, rows, lanes, out);
}

}  // namespace drywell::numeric
