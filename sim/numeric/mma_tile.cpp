#include "drywell/sim/numeric/mma_tile.h"

#include <algorithm>
#include <array>
#include <limits>

#include "drywell/core/bits.h"
#include "drywell/core/error.h"
#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/convert_fast.h"
#include "sim/numeric/tile_kernels.h"

namespace drywell::numeric {

/// One call of mma_tile. Works through blocks of columns that stay in the L1 cache, rows inside.
class TileRun {
 public:
  TileRun(const MmaParams& params, const MmaOperand& a, const MmaOperand& b, const TileOutput& out)
      : p_(params), a_(a), b_(b), out_(out), f16_d_(params.d_format() == Format::f16) {
    DRYWELL_CHECK(a.side() == MmaOperand::Side::a && b.side() == MmaOperand::Side::b,
                  "operands on the wrong side");
    DRYWELL_CHECK(a.k() == b.k(), "A and B of different K");
    if (p_.group == 1 && (a.any_wide_ || b.any_wide_)) widen();
  }

  void rows(unsigned first, unsigned count) {
    const unsigned bytes_per_column = a_.k() * static_cast<unsigned>(p_.group == 1 ? 6 : 2);
    const unsigned fit = 24 * 1024 / bytes_per_column / kColumnMultiple * kColumnMultiple;
    const unsigned block = std::clamp(fit, kColumnMultiple, kMaxColumns);
    for (unsigned n = 0; n < b_.rows(); n += block) {
      const unsigned columns = std::min(block, b_.rows() - n);
      for (unsigned m = first; m < first + count; ++m) row(m, n, columns);
    }
  }

 private:
  /// Values of both operands as double, for operands whose rows leave float's range.
  void widen() {
    const auto doubles = [](const MmaOperand& x) {
      return x.any_wide_ ? x.wide_values_ : std::vector<double>(x.values_.begin(), x.values_.end());
    };
    wide_a_ = doubles(a_);
    wide_b_ = doubles(b_);
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
    if (p_.legacy_fp8) {
      legacy_row(m, n, columns, io);
    } else {
      io.c = c_.data();
      io.c_shift = static_cast<int>(out_.input_d_shift);
      sums(m, n, columns, p_.sum_terms == 0 ? a_.k() : static_cast<unsigned>(p_.sum_terms), io);
    }
    store_d(m, n, columns);
  }

  /// C as f32 values, and which elements of D `dot` must compute.
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
    std::copy_n(c, columns, c_codes_.begin());
    uint32_t special = 0;
    for (unsigned i = 0; i < columns; ++i) {
      const uint32_t word = f16_d_ ? f16_to_f32(c[i] & 0xFFFF) : c[i];
      special |= (word & 0x7F800000) == 0x7F800000 ? 1 : 0;
      c_[i] = detail::as_float(word);
    }
    std::fill(c_.begin() + columns, c_.begin() + static_cast<long>(round_up(columns, kColumnMultiple)), 0.0f);
    if (special != 0) mark_special(c_.data(), columns);
  }

  /// Elements whose C is infinite or NaN go to `dot`; the kernel gets a zero instead.
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
    // D = C + X, one ordinary addition. For f16 D the float sum is rounded again when it is stored; that is
    // the same as rounding once, since float carries more than twice the precision of f16 plus two bits.
    for (unsigned i = 0; i < columns; ++i) d_[i] = c_[i] + d_[i];
  }

  void fused_sum(unsigned m, unsigned n, unsigned k, unsigned count, const RowOutput& io) {
    if (p_.group != 1) {
      grouped(m, n, io);
    } else if (wide_a_.empty()) {
      aligned(m, n, k, count, a_.values_.data(), b_.values_.data(), io);
    } else {
      aligned(m, n, k, count, wide_a_.data(), wide_b_.data(), io);
    }
  }

  template <class T>
  void aligned(unsigned m, unsigned n, unsigned k, unsigned count, const T* a, const T* b,
               const RowOutput& io) {
    const size_t a_at = a_.at(m, k), b_at = b_.at(n, k);
    aligned_row(
        AlignedRow<T>{a + a_at, a_.exponents_.data() + a_at, a_.row_exponents_[m], b + b_at,
                      b_.exponents_.data() + b_at, b_.element_step_, b_.row_exponents_.data() + n, count},
        io);
  }

  void grouped(unsigned m, unsigned n, const RowOutput& io) {
    const unsigned groups = a_.k() / static_cast<unsigned>(p_.group);
    const size_t at = size_t{m} * groups;
    grouped_row({a_.integers_.data() + a_.at(m, 0), b_.integers_.data() + n, b_.element_step_, groups,
                 a_.group_scales_.data() + at, b_.group_scales_.data() + n, a_.group_exponents_.data() + at,
                 b_.group_exponents_.data() + n, a_.group_masks_.data() + at, b_.group_masks_.data() + n},
                io);
  }

  void store_d(unsigned m, unsigned n, unsigned columns) {
    uint32_t* d = out_.d + m * out_.d_stride + n;
    for (unsigned i = 0; i < columns; ++i) {
      const uint32_t word = detail::as_bits(d_[i]);
      d[i] = f16_d_ ? f32_to_f16_rn(word) : word;
    }
    if (!any_patch_) return;
    for (unsigned i = 0; i < columns; ++i) {
      if (patch_[i]) d[i] = exact(m, n + i, c_codes_[i]);
    }
  }

  uint32_t exact(unsigned m, unsigned n, uint32_t c) const {
    const auto slice = [](const std::vector<uint32_t>& all, unsigned row, unsigned count) {
      return std::span<const uint32_t>(all).subspan(size_t{row} * count, count);
    };
    const DotOperands in = {a_.format_,
                            b_.format_,
                            slice(a_.codes_, m, a_.k()),
                            slice(b_.codes_, n, b_.k()),
                            a_.scale_format_,
                            slice(a_.scale_codes_, m, a_.scales_per_row_),
                            slice(b_.scale_codes_, n, b_.scales_per_row_)};
    return dot(p_, in, c, out_.input_d_shift);
  }

  const MmaParams& p_;
  const MmaOperand& a_;
  const MmaOperand& b_;
  const TileOutput& out_;
  const bool f16_d_;
  std::vector<double> wide_a_, wide_b_;
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

void mma_tile_i8(const IntegerTile& t, const TileOutput& out) {
  const auto value = [](uint8_t v, bool is_signed) {
    return static_cast<float>(is_signed ? static_cast<int8_t>(v) : int{v});
  };
  // Sums of K <= 256 products of at most 255 * 255 are exact in float.
  DRYWELL_CHECK(t.k <= 256 && t.n <= kMaxColumns, "integer tile too large");
  std::vector<float> b(size_t{t.k} * t.n);
  for (unsigned n = 0; n < t.n; ++n) {
    for (unsigned k = 0; k < t.k; ++k) b[size_t{k} * t.n + n] = value(t.b[n * t.b_stride + k], t.b_signed);
  }
  for (unsigned m = 0; m < t.m; ++m) {
    std::array<float, kMaxColumns> sums{};
    for (unsigned k = 0; k < t.k; ++k) {
      const float a = value(t.a[m * t.a_stride + k], t.a_signed);
      const float* row = b.data() + size_t{k} * t.n;
      for (unsigned n = 0; n < t.n; ++n) sums[n] += a * row[n];
    }
    for (unsigned n = 0; n < t.n; ++n) {
      const uint32_t c = out.c == nullptr ? 0 : out.c[m * out.c_stride + n];
      const int64_t sum = int64_t{static_cast<int32_t>(c)} + static_cast<int32_t>(sums[n]);
      const int64_t clamped =
          std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max());
      out.d[m * out.d_stride + n] = static_cast<uint32_t>(t.saturate ? clamped : sum);
    }
  }
}

}  // namespace drywell::numeric
