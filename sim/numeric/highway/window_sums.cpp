#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/numeric/highway/window_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "drywell/core/bits.h"
#include "sim/numeric/highway/tile_kernels.h"
#include "sim/numeric/highway/window_sums.h"

HWY_BEFORE_NAMESPACE();
namespace drywell::numeric {
namespace HWY_NAMESPACE {

bool HasWindowSums() { return HWY_NATIVE_FMA && HWY_HAVE_FLOAT64; }

#if HWY_NATIVE_FMA && HWY_HAVE_FLOAT64
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using F64 = hn::ScalableTag<double>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using VF = hn::Vec<F32>;
using VD = hn::Vec<F64>;
using VI = hn::Vec<I32>;

constexpr unsigned kLanes = static_cast<unsigned>(hn::MaxLanes(I32()));
constexpr unsigned kBlockLanes = 4;  // of the blocks of 128 bits within which vectors are interleaved

HWY_INLINE VI load(const uint32_t* p) { return hn::LoadU(I32(), reinterpret_cast<const int32_t*>(p)); }

/// The lower words of doubles: low_words(InterleaveLower(x, y), InterleaveUpper(x, y)) == x.
HWY_INLINE VI low_words(VD lower, VD upper) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return VI{_mm512_castps_si512(_mm512_shuffle_ps(_mm512_castpd_ps(lower.raw), _mm512_castpd_ps(upper.raw), 0x88))};
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_castps_si256(_mm256_shuffle_ps(_mm256_castpd_ps(lower.raw), _mm256_castpd_ps(upper.raw), 0x88))};
#else
  return hn::ConcatEven(I32(), hn::BitCast(I32(), upper), hn::BitCast(I32(), lower));
#endif
}

/// The order of columns after interleaving: the lower two of each block first.
HWY_INLINE VF interleaved(VF v) {
  if (kLanes == kBlockLanes) return v;
  int32_t order[kLanes];
  for (unsigned i = 0; i < kLanes / 2; ++i) {
    order[i] = static_cast<int32_t>(i / 2 * kBlockLanes + i % 2);
    order[kLanes / 2 + i] = order[i] + 2;
  }
  return hn::TableLookupLanes(v, hn::SetTableIndices(F32(), order));
}

/// The doubles of a vector of floats, lane by lane in `to`.
HWY_INLINE void store_doubles(VF v, double factor, double* to) {
  const F64 dd;
  const hn::Half<F32> half;
  hn::StoreU(hn::Mul(hn::PromoteTo(dd, hn::LowerHalf(half, v)), hn::Set(dd, factor)), dd, to);
  hn::StoreU(hn::Mul(hn::PromoteTo(dd, hn::UpperHalf(half, v)), hn::Set(dd, factor)), dd, to + hn::Lanes(dd));
}

/// Each byte in all bytes of a word.
HWY_INLINE hn::Vec<U32> four_times(const int8_t* bytes) {
  const auto byte = hn::PromoteTo(U32(), hn::LoadU(hn::Rebind<uint8_t, U32>(), reinterpret_cast<const uint8_t*>(bytes)));
  const auto twice = hn::Or(byte, hn::ShiftLeft<8>(byte));
  return hn::Or(twice, hn::ShiftLeft<16>(twice));
}

/// The work of WindowPanel::assign.
class Panel {
 public:
  explicit Panel(const PanelTask& t) : t_(t) {}

  void run() const {
    for (size_t row = 0; row < t_.stride; row += kLanes) {
      for (unsigned first = 0; first < t_.k; first += kWindowPart) part(row, first);
    }
  }

 private:
  void part(size_t row, unsigned first) const {
    const F32 df;
    const I32 d;
    VI negative = hn::Zero(d), positive = hn::Zero(d);
    for (unsigned i = first; i < std::min(first + kWindowPart, t_.k); ++i) {
      const VF v = hn::LoadU(df, t_.from + i * t_.stride + row);
      const VI bit = hn::Set(d, 1 << (i - first));
      negative = hn::Or(negative, hn::IfThenElseZero(hn::RebindMask(d, hn::Lt(v, hn::Zero(df))), bit));
      positive = hn::Or(positive, hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(v, hn::Zero(df))), bit));
      t_.columns ? column(v, row, i) : rows(v, row, i);
    }
    const VI low = t_.columns ? positive : negative, high = t_.columns ? negative : positive;
    hn::StoreU(hn::Or(low, hn::ShiftLeft<kWindowPart>(high)), d, reinterpret_cast<int32_t*>(t_.signs) + first / kWindowPart * t_.stride + row);
  }
  void column(VF v, size_t row, unsigned i) const { store_doubles(interleaved(v), 1, t_.values + row * t_.k + i * kLanes); }
  void rows(VF v, size_t row, unsigned i) const {
    double values[kLanes];
    uint32_t terms[kLanes];
    store_doubles(v, 1 + 0x1p-40, values);
    hn::StoreU(four_times(t_.exponents + i * t_.stride + row), U32(), terms);
    for (size_t r = 0; r < kLanes; r += kWindowRows) {
      const size_t at = (row + r) * t_.k + i * kWindowRows;
      std::copy_n(values + r, kWindowRows, t_.values + at);
      std::copy_n(terms + r, kWindowRows, t_.terms + at);
    }
  }

  const PanelTask& t_;
};

void FillPanel(const PanelTask& t) { Panel(t).run(); }

/// Place of a row's first element in its panel.
HWY_INLINE size_t row_place(const WindowProduct& x, unsigned m) { return size_t{m / kWindowRows * kWindowRows} * x.a->k + m % kWindowRows; }

/// Largest sums of exponents of R rows.
template <unsigned R>
HWY_INLINE void find_tops(const WindowProduct& x, unsigned m, unsigned n, unsigned columns, int8_t (&tops)[R][kMaxColumns + kReadSlack]) {
  const hn::Repartition<int8_t, F32> d8;
  for (unsigned i = 0; i < columns; i += static_cast<unsigned>(hn::Lanes(d8))) {
    hn::Vec<decltype(d8)> top[R];
    for (unsigned r = 0; r < R; ++r) top[r] = hn::Set(d8, 2 * kZeroExponent);
    const uint32_t* a = x.a->terms.data() + row_place(x, m);
    const int8_t* b = x.b_exponents + n + i;
    for (unsigned k = 0; k < x.a->k; ++k, a += kWindowRows, b += x.b->stride) {
      const auto term = hn::LoadU(d8, b);
      for (unsigned r = 0; r < R; ++r) top[r] = hn::Max(top[r], hn::Add(hn::BitCast(d8, hn::Set(U32(), a[r])), term));
    }
    for (unsigned r = 0; r < R; ++r) hn::StoreU(top[r], d8, tops[r] + i);
  }
}

// Exponents of float's encoding between which powers of two of the quantum and all results are normal floats.
constexpr int kLeastTop = 27, kGreatestTop = 227;
constexpr int kBias = 127, kFraction = 23, kShortCut = 10;  // kShortCut: bits of a float's fraction that a result of 14 bits does not have

/// What the checks of some vectors depend on.
struct Extremes {
  VI least, greatest;    // tops
  hn::Vec<U32> largest;  // magnitudes of sums
};
HWY_INLINE Extremes no_extremes() { return {hn::Set(I32(), kLeastTop), hn::Set(I32(), kLeastTop), hn::Zero(U32())}; }
/// Sums of C, below 2^26 quanta, and the products fit 31 bits.
HWY_INLINE bool sound(const Extremes& e) {
  const I32 d;
  const U32 du;
  const auto low = hn::Lt(e.least, hn::Set(d, kLeastTop)), high = hn::Gt(e.greatest, hn::Set(d, kGreatestTop));
  const auto over = hn::RebindMask(d, hn::Gt(e.largest, hn::Set(du, (1u << 31) - (1u << 27))));
  return hn::AllFalse(d, hn::Or(hn::Or(low, high), over));
}

/// The window's top of one vector of columns, in float's encoding. `rows`: exponents of both rows, plus kBias.
HWY_INLINE VI top_of(VI c, const int8_t* top, VI rows, Extremes& e) {
  const I32 d;
  const VI least = hn::Set(d, kLeastTop);
  const VI magnitude = hn::And(c, hn::Set(d, INT32_MAX));
  const VI c_top = hn::IfThenElse(hn::Eq(magnitude, hn::Zero(d)), least, hn::ShiftRight<kFraction>(magnitude));
  const VI sum = hn::PromoteTo(d, hn::LoadU(hn::Rebind<int8_t, I32>(), top));
  // A sum with a zero element is at most kZeroExponent and must be ignored.
  const VI products = hn::IfThenElse(hn::Gt(sum, hn::Set(d, kZeroExponent)), hn::Add(sum, rows), least);
  const VI highest = hn::Max(products, c_top);
  e.least = hn::Min(e.least, hn::Min(products, c_top));
  e.greatest = hn::Max(e.greatest, highest);
  return highest;
}

/// Numbers of set bits of 32-bit lanes.
HWY_INLINE VI bit_counts(VI v) {
#if HWY_TARGET == HWY_AVX2
  const auto nibbles = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const auto low = _mm256_set1_epi8(15);
  const auto bytes = _mm256_add_epi8(_mm256_shuffle_epi8(nibbles, _mm256_and_si256(v.raw, low)),
                                     _mm256_shuffle_epi8(nibbles, _mm256_and_si256(_mm256_srli_epi32(v.raw, 4), low)));
  return VI{_mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)), _mm256_set1_epi16(1))};
#else
  return hn::BitCast(I32(), hn::PopulationCount(hn::BitCast(U32(), v)));
#endif
}

/// Truncation toward zero of values below 2^31 (Highway's ConvertTo also handles overflow, which costs more).
HWY_INLINE VI truncate_small(VF v) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return VI{_mm512_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_cvttps_epi32(v.raw)};
#else
  return hn::ConvertTo(I32(), v);
#endif
}

/// R rows of D and the columns of one call, a vector of columns after the other. Fields are copies, which no store can change.
template <unsigned R, bool kShort>
class Rows {
 public:
  Rows(const WindowProduct& x, unsigned m, unsigned n)
      : x_(x), k_(x.a->k), a_(x.a->values.data() + row_place(x, m)), b_(x.b->values.data() + size_t{n} * k_), b_rows_(x.b_row_exponents + n), n_(n), m_(m) {
    for (unsigned r = 0; r < R; ++r) {
      a_rows_[r] = x.a_row_exponents[m + r] + kBias;
      c_[r] = x.c + (m + r) * x.c_stride + n;
      d_[r] = x.d + (m + r) * x.d_stride + n;
    }
  }

  /// Returns a bit for each kColumnMultiple columns that are not written.
  uint32_t run(unsigned columns) {
    alignas(64) int8_t tops[R][kMaxColumns + kReadSlack];
    find_tops<R>(x_, m_, n_, columns, tops);
    uint32_t left = 0;
    for (unsigned i = 0; i < columns; i += kColumnMultiple) {
      Extremes e = no_extremes();
      for (unsigned at = 0; at < kColumnMultiple; at += kLanes) add_vector(tops[0] + i + at, i + at, at, e);
      if (sound(e)) {
        for (unsigned at = 0; at < kColumnMultiple; at += kLanes) finish_vector(i + at, at);
      } else {
        left |= 1u << i / kColumnMultiple;
      }
    }
    return left;
  }

 private:
  /// Computes the windows' tops and the sums in quanta.
  HWY_INLINE void add_vector(const int8_t* tops, unsigned n, unsigned at, Extremes& e) {
    const I32 d;
    VI top[R], rows[R], sum[R];
    const VI b_rows = hn::LoadU(d, b_rows_ + n);
    for (unsigned r = 0; r < R; ++r) {
      rows[r] = hn::Add(hn::Set(d, a_rows_[r]), b_rows);
      top[r] = top_of(load(c_[r] + n), tops + r * (kMaxColumns + kReadSlack), rows[r], e);
      hn::Store(top[r], d, top_[r] + at);
    }
    part_sums(0, n, top, rows, sum);
    for (unsigned r = 0; r < R; ++r) note_sum(sum[r], e);
    if (k_ > kWindowPart) add_second_part(n, top, rows, sum, e);
    for (unsigned r = 0; r < R; ++r) hn::Store(sum[r], d, sum_[r] + at);
  }
  HWY_INLINE void add_second_part(unsigned n, const VI (&top)[R], const VI (&rows)[R], VI (&sum)[R], Extremes& e) {
    VI more[R];
    part_sums(1, n, top, rows, more);
    for (unsigned r = 0; r < R; ++r) {
      const VI both = hn::Add(sum[r], more[r]), over = hn::And(hn::Xor(sum[r], both), hn::Xor(more[r], both));
      // The sign bit is above every sum that is sound.
      e.largest = hn::Max(e.largest, hn::BitCast(U32(), hn::And(over, hn::Set(I32(), INT32_MIN))));
      note_sum(both, e);
      sum[r] = both;
    }
  }
  static HWY_INLINE void note_sum(VI sum, Extremes& e) { e.largest = hn::Max(e.largest, hn::BitCast(U32(), hn::Abs(sum))); }

  /// Sums of a part's products in quanta. `tops`, `rows`: as top_of.
  HWY_INLINE void part_sums(unsigned part, unsigned n, const VI (&tops)[R], const VI (&rows)[R], VI (&out)[R]) const {
    const I32 d;
    const F64 dd;
    VD sum[R][2];
    const VI signs = load(x_.b->signs.data() + part * x_.b->stride + n_ + n);
    const uint32_t* a_signs = x_.a->signs.data() + part * x_.a->stride + m_;
    const VI magic = hn::Set(d, magic_);
    for (unsigned r = 0; r < R; ++r) {
      const VI negative = bit_counts(hn::And(signs, hn::Set(d, static_cast<int32_t>(a_signs[r]))));
      const VI high = hn::Add(hn::ShiftLeft<kHighFraction>(hn::Sub(tops[r], rows[r])), magic);
      sum[r][0] = hn::BitCast(dd, hn::InterleaveLower(d, negative, high));
      sum[r][1] = hn::BitCast(dd, hn::InterleaveUpper(d, negative, high));
    }
    const double* a = a_ + size_t{part} * kWindowPart * kWindowRows;
    const double* b = b_ + size_t{n} * k_ + size_t{part} * kWindowPart * kLanes;
    for (unsigned k = std::min(kWindowPart, k_ - part * kWindowPart) / kWindowStep; k != 0; --k, a += kWindowStep * kWindowRows, b += kWindowStep * kLanes) add_products(a, b, sum);
    for (unsigned r = 0; r < R; ++r) out[r] = low_words(sum[r][0], sum[r][1]);
  }
  /// Adds kWindowStep products.
  static HWY_INLINE void add_products(const double* a, const double* b, VD (&sum)[R][2]) {
    const F64 dd;
#pragma GCC unroll 8
    for (unsigned k = 0; k < kWindowStep; ++k) {
      const VD b0 = hn::LoadU(dd, b + k * kLanes), b1 = hn::LoadU(dd, b + k * kLanes + kLanes / 2);
      for (unsigned r = 0; r < R; ++r) {
        const VD v = hn::Set(dd, a[k * kWindowRows + r]);
        sum[r][0] = hn::MulAdd(v, b0, sum[r][0]);
        sum[r][1] = hn::MulAdd(v, b1, sum[r][1]);
      }
    }
  }

  HWY_INLINE void finish_vector(unsigned n, unsigned at) {
    const I32 d;
    for (unsigned r = 0; r < R; ++r) hn::StoreU(result(hn::Load(d, sum_[r] + at), load(c_[r] + n), hn::Load(d, top_[r] + at)), d, reinterpret_cast<int32_t*>(d_[r] + n));
  }
  /// D from the sum of the products in quanta, C and the window's top.
  HWY_INLINE VI result(VI products, VI c, VI top) const {
    const I32 d;
    const F32 df;
    const VI field = hn::ShiftLeft<kFraction>(top);
    const VF one_over_quantum = hn::BitCast(df, hn::Sub(hn::Set(d, inverse_), field)), quantum = hn::BitCast(df, hn::Sub(field, hn::Set(d, window_)));
    const VI sum = hn::Add(products, truncate_small(hn::Mul(hn::BitCast(df, c), one_over_quantum)));
    // A magnitude that is rounded down is rounded toward zero.
    VI magnitude = hn::BitCast(d, hn::Mul(hn::ConvertTo(df, hn::Abs(sum)), quantum));
    if (kShort) magnitude = hn::And(magnitude, hn::Set(d, ~((1 << kShortCut) - 1)));
    return hn::Or(magnitude, hn::And(sum, hn::Set(d, INT32_MIN)));
  }

  static constexpr int kHighFraction = 20, kHighBias = 1023;  // of a double's upper word

  const WindowProduct x_;
  const unsigned k_;
  // The upper word of 1.5 * 2^52 quanta whose top is 2^0, and terms that make a quantum and its inverse of a top, as floats.
  const int32_t magic_ = ((kHighBias + 52 - x_.window) << kHighFraction) + (1 << (kHighFraction - 1)), window_ = x_.window << kFraction,
                inverse_ = (2 * kBias << kFraction) + window_;
  const double* const a_;
  const double* const b_;
  const int32_t* const b_rows_;
  const unsigned n_, m_;
  int32_t a_rows_[R];
  const uint32_t* c_[R];
  uint32_t* d_[R];
  alignas(64) int32_t sum_[R][kColumnMultiple];
  alignas(64) int32_t top_[R][kColumnMultiple];
};

template <bool kShort>
void sums(const WindowProduct& x, unsigned m, unsigned rows, unsigned n, unsigned columns, uint32_t* left) {
  if (rows == kWindowRows && m % kWindowRows == 0) {
    std::fill_n(left, rows, Rows<kWindowRows, kShort>(x, m, n).run(columns));
    return;
  }
  for (unsigned r = 0; r < rows; ++r) left[r] = Rows<1, kShort>(x, m + r, n).run(columns);
}

void WindowSums(const WindowProduct& x, unsigned m, unsigned rows, unsigned n, unsigned columns, uint32_t* left) {
  x.short_result ? sums<true>(x, m, rows, n, columns, left) : sums<false>(x, m, rows, n, columns, left);
}
#else
void FillPanel(const PanelTask&) {}
void WindowSums(const WindowProduct&, unsigned, unsigned, unsigned, unsigned, uint32_t*) {}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace drywell::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drywell::numeric {

HWY_EXPORT(HasWindowSums);
HWY_EXPORT(FillPanel);
HWY_EXPORT(WindowSums);

bool has_window_sums() { return HWY_DYNAMIC_DISPATCH(HasWindowSums)(); }

void WindowPanel::assign(PanelSide side, const float* from, const int8_t* exponents, unsigned element_count, size_t row_stride) {
  k = element_count;
  stride = row_stride;
  values.resize(k * stride);
  signs.resize(round_up(k, kWindowPart) / kWindowPart * stride);
  if (side == PanelSide::rows) terms.resize(k * stride);
  HWY_DYNAMIC_DISPATCH(FillPanel)
  ({side == PanelSide::columns, from, exponents, stride, k, values.data(), signs.data(), side == PanelSide::rows ? terms.data() : nullptr});
}

void window_sums(const WindowProduct& x, unsigned m, unsigned rows, unsigned n, unsigned columns, uint32_t* left) {
  HWY_DYNAMIC_DISPATCH(WindowSums)
  (x, m, rows, n, columns, left);
}

}  // namespace drywell::numeric
#endif
