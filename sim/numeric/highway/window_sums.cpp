#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/numeric/highway/window_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "sim/numeric/highway/window_sums.h"

HWY_BEFORE_NAMESPACE();
namespace drywell::numeric {
namespace HWY_NAMESPACE {

bool HasWindowSums() { return HWY_NATIVE_FMA && HWY_HAVE_FLOAT64; }

#if HWY_NATIVE_FMA && HWY_HAVE_FLOAT64
namespace hn = hwy::HWY_NAMESPACE;

namespace {

using F32 = hn::ScalableTag<float>;
using F64 = hn::ScalableTag<double>;
using I32 = hn::RebindToSigned<F32>;
using U32 = hn::RebindToUnsigned<F32>;
using I8 = hn::Repartition<int8_t, F32>;
using VF = hn::Vec<F32>;
using VD = hn::Vec<F64>;
using VI = hn::Vec<I32>;

constexpr unsigned kLanes = static_cast<unsigned>(hn::MaxLanes(I32()));

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

/// Place of a row's first element in its panel.
HWY_INLINE size_t row_place(const WindowProduct& x, unsigned m) { return size_t{m / kWindowRows * kWindowRows} * x.a->k + m % kWindowRows; }

/// Largest sums of exponents of R rows, all columns.
template <unsigned R>
struct Tops {
  alignas(64) int8_t at[R][WindowOperand::kMostRows + kReadSlack];
};

/// Returns a bit for each kColumnMultiple columns in which a sum is not known.
template <unsigned R>
HWY_INLINE uint32_t find_tops(const WindowProduct& x, unsigned m, Tops<R>& tops) {
  const I8 d8;
  constexpr auto kBytes = static_cast<unsigned>(hn::MaxLanes(I8()));
  const unsigned k_end = x.a->k;
  const size_t stride = x.b->stride;
  uint32_t unknown = 0;
  for (unsigned n = 0; n < x.b->rows; n += kBytes) {
    hn::Vec<I8> top[R];
    for (unsigned r = 0; r < R; ++r) top[r] = hn::Set(d8, kWindowZero);
    const uint32_t* a = x.a->terms + row_place(x, m);
    const int8_t* b = x.b->exponents + n;
    for (unsigned k = 0; k < k_end; ++k, a += kWindowRows, b += stride) {
      const auto term = hn::LoadU(d8, b);
      for (unsigned r = 0; r < R; ++r) top[r] = hn::Max(top[r], hn::SaturatedAdd(hn::BitCast(d8, hn::Set(U32(), a[r])), term));
    }
    auto low = hn::Set(d8, 0);  // the least of those that are not kWindowZero
    for (unsigned r = 0; r < R; ++r) {
      hn::StoreU(top[r], d8, tops.at[r] + n);
      low = hn::Min(low, hn::IfThenZeroElse(hn::Eq(top[r], hn::Set(d8, kWindowZero)), top[r]));
    }
    // Nothing was decoded behind the last column. Highway's AVX2 takes the number as a signed byte: 128 would be no lane at all.
    low = hn::IfThenElseZero(hn::FirstN(d8, std::min(kBytes, x.b->rows - n)), low);
    constexpr unsigned kGroups = kBytes > kColumnMultiple ? kBytes / kColumnMultiple : 1;
    if (!hn::AllFalse(d8, hn::Lt(low, hn::Set(d8, 1 - kWindowSpan)))) unknown |= ((1u << kGroups) - 1) << n / kColumnMultiple;
  }
  return unknown;
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
  // Products that are all zero do not count.
  const VI products = hn::IfThenElse(hn::Gt(sum, hn::Set(d, kWindowZero)), hn::Add(sum, rows), least);
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

/// R rows of D, a vector of columns after the other. Fields are copies, which no store can change.
template <unsigned R, bool kShort>
class Rows {
 public:
  Rows(const WindowProduct& x, unsigned m) : x_(x), k_(x.a->k), a_(x.a->values + row_place(x, m)), b_(x.b->values), b_rows_(x.b->row_exponents), m_(m) {
    for (unsigned r = 0; r < R; ++r) {
      a_rows_[r] = x.a->row_exponents[m + r] + kBias;
      c_[r] = x.c + (m + r) * x.c_stride;
      d_[r] = x.d + (m + r) * x.d_stride;
    }
  }

  /// Returns a bit for each kColumnMultiple columns that are not written.
  uint32_t run() {
    Tops<R> tops;
    uint32_t left = find_tops<R>(x_, m_, tops);
    for (unsigned n = 0; n < x_.b->rows; n += kColumnMultiple) {
      if ((left >> n / kColumnMultiple & 1) != 0) continue;
      if (!columns(tops, n, std::min(kColumnMultiple, x_.b->rows - n))) left |= 1u << n / kColumnMultiple;
    }
    return left;
  }

 private:
  /// Returns false, and writes nothing, if these columns must be left to others.
  bool columns(const Tops<R>& tops, unsigned n, unsigned count) {
    if (count % kLanes != 0) widen_c(n, count);
    Extremes e = no_extremes();
    for (unsigned at = 0; at < count; at += kLanes) add_vector(tops, n + at, at, e);
    if (!sound(e)) return false;
    for (unsigned at = 0; at < count; at += kLanes) finish_vector(n + at, at, std::min(kLanes, count - at));
    return true;
  }

  /// The last columns are not whole vectors: C's rows may end there.
  void widen_c(unsigned n, unsigned count) {
    for (unsigned r = 0; r < R; ++r) {
      std::fill_n(last_c_[r], kColumnMultiple, 0);
      std::copy_n(c_[r] + n, count, last_c_[r]);
      c_[r] = last_c_[r] - n;
    }
  }

  /// Computes the windows' tops and the sums in quanta.
  HWY_INLINE void add_vector(const Tops<R>& tops, unsigned n, unsigned at, Extremes& e) {
    const I32 d;
    VI top[R], rows[R], sum[R];
    const VI b_rows = hn::LoadU(d, b_rows_ + n);
    for (unsigned r = 0; r < R; ++r) {
      rows[r] = hn::Add(hn::Set(d, a_rows_[r]), b_rows);
      top[r] = top_of(load(c_[r] + n), tops.at[r] + n, rows[r], e);
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
    const VI signs = load(x_.b->signs + part * x_.b->stride + n);
    const uint32_t* a_signs = x_.a->signs + part * x_.a->stride + m_;
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

  HWY_INLINE void finish_vector(unsigned n, unsigned at, unsigned count) {
    const I32 d;
    for (unsigned r = 0; r < R; ++r) {
      const VI v = result(hn::Load(d, sum_[r] + at), load(c_[r] + n), hn::Load(d, top_[r] + at));
      if (count == kLanes) {
        hn::StoreU(v, d, reinterpret_cast<int32_t*>(d_[r] + n));
      } else {
        alignas(64) int32_t last[kLanes];
        hn::Store(v, d, last);
        std::copy_n(last, count, d_[r] + n);
      }
    }
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
  // The upper word of 1.5 * 2^52 quanta whose top is 2^0, and terms that make a quantum and its inverse of a top, as floats. The last one wraps, as
  // the sum with a top does.
  const int32_t magic_ = ((kHighBias + 52 - x_.window) << kHighFraction) + (1 << (kHighFraction - 1)), window_ = x_.window << kFraction,
                inverse_ = static_cast<int32_t>((uint32_t{2 * kBias} << kFraction) + static_cast<uint32_t>(window_));
  const double* const a_;
  const double* const b_;
  const int32_t* const b_rows_;
  const unsigned m_;
  int32_t a_rows_[R];
  const uint32_t* c_[R];
  uint32_t* d_[R];
  alignas(64) int32_t sum_[R][kColumnMultiple];
  alignas(64) int32_t top_[R][kColumnMultiple];
  uint32_t last_c_[R][kColumnMultiple];
};

template <bool kShort>
void sums(const WindowProduct& x, unsigned m, unsigned rows, uint32_t* left) {
  if (rows == kWindowRows) {
    std::fill_n(left, rows, Rows<kWindowRows, kShort>(x, m).run());
    return;
  }
  for (unsigned r = 0; r < rows; ++r) left[r] = Rows<1, kShort>(x, m + r).run();
}

}  // namespace

void WindowSums(const WindowProduct& x, unsigned m, unsigned rows, uint32_t* left) {
  x.short_result ? sums<true>(x, m, rows, left) : sums<false>(x, m, rows, left);
}
#else
void WindowSums(const WindowProduct&, unsigned, unsigned, uint32_t*) {}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace drywell::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drywell::numeric {

HWY_EXPORT(HasWindowSums);
HWY_EXPORT(WindowSums);

bool has_window_sums() { return HWY_DYNAMIC_DISPATCH(HasWindowSums)(); }
void window_sums(const WindowProduct& x, unsigned m, unsigned rows, uint32_t* left) {
  HWY_DYNAMIC_DISPATCH(WindowSums)
  (x, m, rows, left);
}

}  // namespace drywell::numeric
#endif
