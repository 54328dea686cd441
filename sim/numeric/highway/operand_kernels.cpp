#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/numeric/highway/operand_kernels.cpp"
#define HWY_WANT_AVX3_DL  // integer dot products
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sim/numeric/highway/operand_kernels.h"

HWY_BEFORE_NAMESPACE();
#include "sim/numeric/highway/byte_dot-inl.h"
#include "sim/numeric/highway/element_fields-inl.h"
namespace drywell::numeric {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The decoding of a vector of rows.
class Rows {
 public:
  Rows(const DecodeTask& t, const Layout& l, unsigned first) : t_(t), l_(l), first_(first), per_word_(32 / t.element_bits) {}

  void run() {
    const I32 d;
    find_range();
    const VI none = hn::Set(d, kNoTop);
    const VI row_exponent = l_.wide_range ? hn::IfThenElse(hn::Eq(top_, none), hn::Zero(d), top_) : hn::Set(d, l_.top);
    // 2^-127 is subnormal and needs its own bits.
    const VI down_bits = hn::Sub(hn::Set(d, 127), row_exponent);
    const VF down = hn::BitCast(F32(), hn::IfThenElse(hn::Gt(down_bits, hn::Zero(d)), hn::ShiftLeft<23>(down_bits), hn::Set(d, 1 << 22)));
    VI least = hn::Set(d, 0xFF), mantissas = hn::Zero(d);
    for (unsigned k = 0; k < t_.words * per_word_; ++k) {
      const Element e = element(k);
      const VF value = l_.wide_range ? wide_value(e, down) : narrow_value(l_, e);
      const VI raw = raw_exponent(l_, e, none), zero = hn::Set(d, kZeroExponent);
      const VI relative = hn::Max(hn::Sub(raw, row_exponent), hn::Set(d, -kMaxExponentSpan));
      const VI exponent = hn::IfThenElse(hn::Eq(raw, none), zero, relative);
      const size_t at = size_t{k} * t_.rows + first_;
      hn::StoreU(value, F32(), t_.values + at);
      hn::StoreU(hn::DemoteTo(hn::Rebind<int8_t, I32>(), exponent), hn::Rebind<int8_t, I32>(), t_.exponents + at);
      const VI bits = hn::And(hn::BitCast(d, value), hn::Set(d, 0x7FFFFFFF));
      least = hn::IfThenElse(hn::Eq(bits, hn::Zero(d)), least, hn::Min(least, hn::ShiftRight<23>(bits)));
      mantissas = hn::Or(mantissas, hn::And(bits, hn::Set(d, 0x7FFFFF)));
    }
    hn::StoreU(row_exponent, d, t_.row_exponents + first_);
    store_lowest(row_exponent, least, mantissas);
  }

 private:
  Element element(unsigned k) const {
    const VI word = hn::LoadU(I32(), reinterpret_cast<const int32_t*>(t_.codes) + size_t{k / per_word_} * t_.rows + first_);
    return take(l_, word, static_cast<int>(k % per_word_ * t_.element_bits));
  }
  VF wide_value(const Element& e, VF down) const {
    const auto bits = hn::Or(hn::ShiftLeftSame(e.magnitude, 23 - l_.fraction), e.sign);
    return hn::Mul(hn::BitCast(F32(), bits), down);
  }

  void find_range() {
    const I32 d;
    const VI none = hn::Set(d, kNoTop);
    top_ = none;
    VI bottom = hn::Set(d, -kNoTop), largest = hn::Zero(d);
    for (unsigned k = 0; k < t_.words * per_word_; ++k) {
      const Element e = element(k);
      const VI raw = raw_exponent(l_, e, none);
      top_ = hn::Max(top_, raw);
      bottom = hn::IfThenElse(hn::Eq(raw, none), bottom, hn::Min(bottom, raw));
      largest = hn::Max(largest, e.magnitude);
    }
    hn::StoreU(top_, d, t_.tops + first_);
    hn::StoreU(bottom, d, t_.bottoms + first_);
    const auto special = hn::Gt(largest, hn::Set(d, l_.special - 1));
    hn::StoreU(hn::IfThenElse(special, hn::Set(d, 1), hn::Zero(d)), d, reinterpret_cast<int32_t*>(t_.specials) + first_);
  }

  /// All elements are multiples of this bit: the lowest bit that is set in a mantissa, at the smallest exponent.
  void store_lowest(VI row_exponent, VI least, VI mantissas) const {
    const I32 d;
    const F32 df;
    // The lowest set bit of a 24-bit integer, as a float, has its index in the exponent field.
    const auto all = hn::Or(mantissas, hn::Set(d, 1 << 23));
    const auto lowest_bit = hn::ConvertTo(df, hn::And(all, hn::Neg(all)));
    const auto index = hn::Sub(hn::ShiftRight<23>(hn::BitCast(d, lowest_bit)), hn::Set(d, 127));
    const auto lowest = hn::Add(hn::Add(row_exponent, hn::Sub(least, hn::Set(d, 127 + 23))), index);
    const int significant = l_.wide_range ? (l_.width == 32 ? 10 : l_.fraction) : l_.fraction;
    hn::StoreU(hn::Max(lowest, hn::Set(d, l_.min_exponent - significant)), d, t_.lowest + first_);
  }

  const DecodeTask& t_;
  const Layout& l_;
  const unsigned first_, per_word_;
  VI top_;
};

void DecodeValues(const DecodeTask& t) {
  const Layout l = layout_of(t.format);
  for (unsigned r = 0; r < t.rows; r += static_cast<unsigned>(hn::Lanes(I32()))) Rows(t, l, r).run();
}

void DecodeE2m1(const uint32_t* codes, unsigned words, unsigned rows, int bias, uint32_t* bytes) {
  const I32 d;
  const hn::Repartition<int8_t, I32> d8;
  alignas(16) static constexpr int8_t kDoubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const auto table = hn::LoadDup128(d8, kDoubled);
  const auto add = hn::Set(d8, static_cast<int8_t>(bias));
  // Four codes in the low half of a word become its four bytes.
  const auto spread = [&](VI half) {
    const auto pairs = hn::And(hn::Or(half, hn::ShiftLeft<8>(half)), hn::Set(d, 0x00FF00FF));
    const auto codes_apart = hn::And(hn::Or(pairs, hn::ShiftLeft<4>(pairs)), hn::Set(d, 0x0F0F0F0F));
    return hn::Add(hn::TableLookupBytes(table, hn::BitCast(d8, codes_apart)), add);
  };
  for (unsigned w = 0; w < words; ++w) {
    for (unsigned r = 0; r < rows; r += static_cast<unsigned>(hn::Lanes(d))) {
      const auto word = hn::LoadU(d, reinterpret_cast<const int32_t*>(codes) + size_t{w} * rows + r);
      auto* out = reinterpret_cast<int32_t*>(bytes) + size_t{2} * w * rows + r;
      hn::StoreU(hn::BitCast(d, spread(hn::And(word, hn::Set(d, 0xFFFF)))), d, out);
      const auto high = hn::ShiftRight<16>(hn::BitCast(hn::RebindToUnsigned<I32>(), word));
      hn::StoreU(hn::BitCast(d, spread(hn::BitCast(d, high))), d, out + rows);
    }
  }
}

void GroupBiases(const uint32_t* bytes, unsigned groups, unsigned rows, int32_t* biases) {
  const I32 d;
  const auto ones = hn::Set(d, 0x01010101);
  for (unsigned g = 0; g < groups; ++g) {
    for (unsigned r = 0; r < rows; r += static_cast<unsigned>(hn::Lanes(d))) {
      VI sum = hn::Zero(d);
      for (unsigned w = 4 * g; w < 4 * g + 4; ++w)
        sum = add_byte_products<true>(sum, ones, hn::LoadU(d, reinterpret_cast<const int32_t*>(bytes) + size_t{w} * rows + r));
      hn::StoreU(hn::Add(hn::Mul(sum, hn::Set(d, -kE2m1Bias)), hn::Set(d, kMagicBits)), d, biases + size_t{g} * rows + r);
    }
  }
}

/// 2^(code - 127); code 0 is a subnormal float.
HWY_INLINE VF ue8m0_value(VI code) {
  const I32 d;
  const auto bits = hn::IfThenElse(hn::Eq(code, hn::Zero(d)), hn::Set(d, 1 << 22), hn::ShiftLeft<23>(code));
  return hn::BitCast(F32(), bits);
}

void DecodeScales(const ScaleTask& t) {
  const I32 d;
  const F32 df;
  const bool exponents_only = t.format == Format::ue8m0;
  Layout l = {};
  if (!exponents_only) l = {7, 3, 7, -6, 0x7F, 0x7F, false, 0};
  for (unsigned r = 0; r < t.rows; r += static_cast<unsigned>(hn::Lanes(d))) {
    const VI none = hn::Set(d, kNoScale);
    VI top = none, lowest = hn::Set(d, -kNoScale), special = hn::Zero(d);
    for (unsigned g = 0; g < t.groups; ++g) {
      const unsigned scale = g / t.groups_per_scale;
      const VI word = hn::LoadU(d, reinterpret_cast<const int32_t*>(t.codes) + scale / 4 * t.rows + r);
      const VI code = hn::And(hn::ShiftRightSame(word, static_cast<int>(8 * (scale % 4))), hn::Set(d, 0xFF));
      const Element e = {hn::And(code, hn::Set(d, 0x7F)), hn::Zero(d), hn::ShiftRight<3>(hn::And(code, hn::Set(d, 0x7F)))};
      const auto nan = exponents_only ? hn::Eq(code, hn::Set(d, 0xFF)) : hn::Eq(e.magnitude, hn::Set(d, 0x7F));
      const VI raw = exponents_only ? hn::Sub(code, hn::Set(d, 127)) : raw_exponent(l, e, none);
      const VF value = hn::Mul(exponents_only ? ue8m0_value(code) : narrow_value(l, e), hn::Set(df, t.factor));
      const VI exponent = hn::IfThenElse(nan, none, raw);
      const VF used = hn::BitCast(df, hn::IfThenZeroElse(hn::Eq(exponent, none), hn::BitCast(d, value)));
      const size_t at = size_t{g} * t.rows + r;
      hn::StoreU(used, df, t.scales + at);
      hn::StoreU(hn::Mul(used, hn::Set(df, -kMagic)), df, t.magic_scales + at);
      hn::StoreU(exponent, d, t.exponents + at);
      special = hn::Or(special, hn::VecFromMask(d, nan));
      top = hn::Max(top, exponent);
      lowest = hn::IfThenElse(hn::Eq(exponent, none), lowest, hn::Min(lowest, exponent));
    }
    hn::StoreU(top, d, t.tops + r);
    hn::StoreU(lowest, d, t.lowest + r);
    hn::StoreU(special, d, reinterpret_cast<int32_t*>(t.specials) + r);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace drywell::numeric
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drywell::numeric {

HWY_EXPORT(DecodeValues);
HWY_EXPORT(DecodeE2m1);
HWY_EXPORT(GroupBiases);
HWY_EXPORT(DecodeScales);

void decode_values(const DecodeTask& t) { return HWY_DYNAMIC_DISPATCH(DecodeValues)(t); }
void decode_e2m1(const uint32_t* codes, unsigned words, unsigned rows, int bias, uint32_t* bytes) {
  HWY_DYNAMIC_DISPATCH(DecodeE2m1)
  (codes, words, rows, bias, bytes);
}

void group_biases(const uint32_t* bytes, unsigned groups, unsigned rows, int32_t* biases) {
  HWY_DYNAMIC_DISPATCH(GroupBiases)
  (bytes, groups, rows, biases);
}
void decode_scales(const ScaleTask& t) { return HWY_DYNAMIC_DISPATCH(DecodeScales)(t); }

}  // namespace drywell::numeric
#endif
