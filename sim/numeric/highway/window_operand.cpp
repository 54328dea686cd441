#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/numeric/highway/window_operand.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "drywell/core/bits.h"
#include "sim/numeric/highway/window_operand.h"

HWY_BEFORE_NAMESPACE();
#include "sim/numeric/highway/element_fields-inl.h"
namespace drywell::numeric {
namespace HWY_NAMESPACE {

#if HWY_NATIVE_FMA && HWY_HAVE_FLOAT64
namespace {

using F64 = hn::ScalableTag<double>;
using U32 = hn::RebindToUnsigned<F32>;
using VD = hn::Vec<F64>;

constexpr unsigned kLanes = static_cast<unsigned>(hn::MaxLanes(I32()));
constexpr unsigned kBlockLanes = 4;  // of the blocks of 128 bits within which vectors are interleaved
constexpr unsigned kRowBytes = 32;   // at most

/// The order of columns after interleaving: the lower two of each block first.
template <class V>
HWY_INLINE V interleaved(V v) {
  if (kLanes == kBlockLanes) return v;
  const hn::DFromV<V> d;
  int32_t order[kLanes];
  for (unsigned i = 0; i < kLanes / 2; ++i) {
    order[i] = static_cast<int32_t>(i / 2 * kBlockLanes + i % 2);
    order[kLanes / 2 + i] = order[i] + 2;
  }
  return hn::TableLookupLanes(v, hn::SetTableIndices(d, order));
}

/// The lower byte of each lane in its four bytes.
HWY_INLINE hn::Vec<U32> four_times(VI v) {
  const hn::Repartition<uint8_t, I32> d8;
  alignas(16) static constexpr uint8_t kLow[16] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
  return hn::BitCast(U32(), hn::TableLookupBytes(hn::BitCast(d8, v), hn::LoadDup128(d8, kLow)));
}

/// The words of a vector of rows, transposed.
struct Words {
  alignas(64) uint32_t at[kRowBytes / 4][kLanes];
};
void load_words(const OperandSource& s, unsigned row, unsigned bytes, uint32_t flip, Words& out) {
  const unsigned rows = std::min(kLanes, s.rows - row);
  if (rows != kLanes) std::memset(out.at, 0, sizeof(out.at));
  const auto* from = static_cast<const unsigned char*>(s.codes) + row * s.row_stride;
  for (unsigned r = 0; r < rows; ++r, from += s.row_stride) {
    uint32_t words[kRowBytes / 4];
    std::memcpy(words, from, bytes);
    for (unsigned w = 0; w < bytes / 4; ++w) out.at[w][r] = words[w] ^ flip;
  }
}

/// Decodes vectors of rows.
template <bool kColumns>
class Decoder {
 public:
  Decoder(const OperandSource& s, unsigned element_bits, WindowOperand& out)
      : s_(s), l_(layout_of(s.format)), bits_(element_bits), per_word_(32 / element_bits), flip_(s.negate ? sign_bits() : 0), out_(out) {}

  /// Returns false if an element is infinite or NaN.
  bool run() {
    VI largest = hn::Zero(I32());
    for (unsigned row = 0; row < s_.rows; row += kLanes) {
      load_words(s_, row, s_.k * bits_ / 8, flip_, words_);
      rows(row, largest);
    }
    return hn::AllFalse(I32(), hn::Gt(largest, hn::Set(I32(), l_.special - 1)));
  }

 private:
  uint32_t sign_bits() const {
    uint32_t signs = 0;
    for (unsigned bit = 0; bit < 32; bit += bits_) signs |= format_info(s_.format).sign_mask() << bit;
    return signs;
  }
  HWY_INLINE Element element(unsigned k) const {
    return take(l_, hn::Load(I32(), reinterpret_cast<const int32_t*>(words_.at[k / per_word_])), static_cast<int>(k % per_word_ * bits_));
  }
  /// The exponent of each row's largest element; other formats have one for all rows.
  VI exponents() const {
    const I32 d;
    if (!l_.wide_range) return hn::Set(d, l_.top);
    VI largest = hn::Zero(d);
    for (unsigned k = 0; k < s_.k; ++k) largest = hn::Max(largest, element(k).magnitude);
    return hn::Sub(hn::Max(hn::ShiftRightSame(largest, l_.fraction), hn::Set(d, 1)), hn::Set(d, l_.bias));
  }
  /// 2^-exponent, times `factor`.
  HWY_INLINE static VD down(hn::Vec<hn::Half<I32>> exponent, double factor) {
    const hn::RebindToSigned<F64> d64;
    return hn::Mul(hn::BitCast(F64(), hn::ShiftLeft<52>(hn::Sub(hn::Set(d64, 1023), hn::PromoteTo(d64, exponent)))), hn::Set(F64(), factor));
  }

  void rows(unsigned row, VI& largest) {
    const I32 d;
    const hn::Half<I32> half;
    const VI row_exponent = exponents(), scale = l_.wide_range ? (kColumns ? interleaved(row_exponent) : row_exponent) : hn::Zero(d);
    constexpr double kFactor = kColumns ? 1 : 1 + 0x1p-40;
    const VD lower = down(hn::LowerHalf(half, scale), kFactor), upper = down(hn::UpperHalf(half, scale), kFactor);
    const VI shift = hn::Add(row_exponent, hn::Set(d, l_.bias));
    for (unsigned first = 0; first < s_.k; first += kWindowPart) {
      VI some = hn::Zero(d), negative = hn::Zero(d);
      for (unsigned i = first; i < std::min(first + kWindowPart, s_.k); ++i) {
        const Element e = element(i);
        largest = hn::Max(largest, e.magnitude);
        const auto zero = hn::Eq(e.magnitude, hn::Zero(d));
        const VI bit = hn::IfThenZeroElse(zero, hn::Set(d, 1 << (i - first)));
        some = hn::Or(some, bit);
        negative = hn::Or(negative, hn::And(bit, hn::BroadcastSignBit(e.sign)));
        const VI exponent = hn::Max(hn::Sub(hn::Max(e.exponent_field, hn::Set(d, 1)), shift), hn::Set(d, -kWindowSpan));
        store(row, i, value(e), lower, upper, hn::IfThenElse(zero, hn::Set(d, kWindowZero), exponent));
      }
      const VI positive = hn::Xor(some, negative), low = kColumns ? positive : negative, high = kColumns ? negative : positive;
      hn::StoreU(hn::Or(low, hn::ShiftLeft<kWindowPart>(high)), d, reinterpret_cast<int32_t*>(out_.signs) + first / kWindowPart * out_.stride + row);
    }
    hn::StoreU(row_exponent, d, out_.row_exponents + row);
  }

  HWY_INLINE VF value(const Element& e) const {
    if (!l_.wide_range) return narrow_value(l_, e);
    return hn::BitCast(F32(), hn::Or(hn::ShiftLeftSame(e.magnitude, 23 - l_.fraction), e.sign));
  }

  HWY_INLINE void store(unsigned row, unsigned k, VF v, VD lower, VD upper, VI exponent) {
    const F64 dd;
    const hn::Half<F32> half;
    if (kColumns) v = interleaved(v);
    const VD low = hn::Mul(hn::PromoteTo(dd, hn::LowerHalf(half, v)), lower), high = hn::Mul(hn::PromoteTo(dd, hn::UpperHalf(half, v)), upper);
    if (kColumns) {
      double* const to = out_.values + size_t{row} * s_.k + size_t{k} * kLanes;
      hn::StoreU(low, dd, to);
      hn::StoreU(high, dd, to + kLanes / 2);
      hn::StoreU(hn::DemoteTo(hn::Rebind<int8_t, I32>(), exponent), hn::Rebind<int8_t, I32>(), out_.exponents + k * out_.stride + row);
      return;
    }
    alignas(64) double values[kLanes];
    alignas(64) uint32_t terms[kLanes];
    hn::Store(low, dd, values);
    hn::Store(high, dd, values + kLanes / 2);
    hn::Store(four_times(exponent), U32(), terms);
    for (unsigned r = 0; r < kLanes; r += kWindowRows) {
      const size_t at = size_t{row + r} * s_.k + k * kWindowRows;
      std::memcpy(out_.values + at, values + r, kWindowRows * sizeof(double));
      std::memcpy(out_.terms + at, terms + r, kWindowRows * sizeof(uint32_t));
    }
  }

  const OperandSource& s_;
  const Layout l_;
  const unsigned bits_, per_word_;
  const uint32_t flip_;
  WindowOperand& out_;
  Words words_;
};

}  // namespace

bool DecodeWindow(bool columns, const OperandSource& s, unsigned element_bits, WindowOperand& out) {
  return columns ? Decoder<true>(s, element_bits, out).run() : Decoder<false>(s, element_bits, out).run();
}
#else
bool DecodeWindow(bool, const OperandSource&, unsigned, WindowOperand&) { return false; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace drywell::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drywell::numeric {

HWY_EXPORT(DecodeWindow);

namespace {

unsigned element_bits(CodeStorage s) { return s == CodeStorage::words ? 32 : s == CodeStorage::halves ? 16
                                                                                                      : 8; }

/// Adds the scales' exponents. Returns false if one is NaN.
bool add_scales(const OperandSource& s, int32_t* exponents) {
  bool numbers = true;
  for (unsigned r = 0; r < s.rows; ++r) {
    const Decoded scale = decode(s.scale_format, s.scales[r * s.scale_stride]);
    numbers = numbers && !scale.is_nan();
    exponents[r] += scale.raw_exponent;
  }
  return numbers;
}

}  // namespace

bool WindowOperand::fits(const OperandSource& s) {
  return s.rows != 0 && s.rows <= kMostRows && s.k <= kMostK && s.k % kWindowStep == 0 && s.storage != CodeStorage::nibbles && s.scales_per_row <= 1 &&
         s.k * element_bits(s.storage) <= 8 * 32;
}

bool WindowOperand::assign(PanelSide side, const OperandSource& s) {
  rows = s.rows;
  k = s.k;
  stride = round_up(rows, 16u);
  if (!HWY_DYNAMIC_DISPATCH(DecodeWindow)(side == PanelSide::columns, s, element_bits(s.storage), *this)) return false;
  return s.scales_per_row == 0 || add_scales(s, row_exponents);
}

}  // namespace drywell::numeric
#endif
