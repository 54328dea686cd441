// Adds four products of bytes to each 32-bit lane: the most frequent instruction of the exact kernels, in the form of each
// target. Included once per target, between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE.

namespace drywell::numeric {
namespace HWY_NAMESPACE {

/// sum + u0*s0 + u1*s1 + u2*s2 + u3*s3 with u unsigned and s signed bytes. kSmall: sums of two neighbouring products are
/// below 2^15.
template <bool kSmall, class V>
HWY_INLINE V add_byte_products(V sum, V u, V s) {
#if HWY_TARGET == HWY_AVX3_DL
  // Highway 1.0 has no function for this instruction, and compiles this target without -mavx512vnni.
  asm("vpdpbusd %2, %1, %0"
      : "+v"(sum.raw)
      : "v"(u.raw), "v"(s.raw));
  return sum;
#else
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<hn::ScalableTag<float>> d;
#if HWY_TARGET == HWY_AVX3
  if constexpr (kSmall) return hn::Add(sum, V{_mm512_madd_epi16(_mm512_maddubs_epi16(u.raw, s.raw), _mm512_set1_epi16(1))});
#elif HWY_TARGET == HWY_AVX2
  if constexpr (kSmall) return hn::Add(sum, V{_mm256_madd_epi16(_mm256_maddubs_epi16(u.raw, s.raw), _mm256_set1_epi16(1))});
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  if constexpr (kSmall) return hn::Add(sum, V{_mm_madd_epi16(_mm_maddubs_epi16(u.raw, s.raw), _mm_set1_epi16(1))});
#endif
  const auto unsigned_byte = [&](int shift) { return hn::And(hn::ShiftRightSame(u, shift), hn::Set(d, 0xFF)); };
  const auto signed_byte = [&](int shift) { return hn::ShiftRight<24>(hn::ShiftLeftSame(s, shift)); };
  for (int i = 0; i < 4; ++i) sum = hn::Add(sum, hn::Mul(unsigned_byte(8 * i), signed_byte(24 - 8 * i)));
  return sum;
#endif
}

/// The sum of a group's products: four words of bytes, whose sums of all pairs in one place are below 2^15.
class GroupSum {
 public:
  using V = hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::RebindToSigned<hwy::HWY_NAMESPACE::ScalableTag<float>>>;

#if HWY_TARGET == HWY_AVX2
  // Sums of 16 bits, which are widened once.
  HWY_INLINE void add(V u, V s, bool first) {
    const auto products = _mm256_maddubs_epi16(u.raw, s.raw);
    sum_.raw = first ? products : _mm256_add_epi16(sum_.raw, products);
  }
  HWY_INLINE V total() const { return V{_mm256_madd_epi16(sum_.raw, _mm256_set1_epi16(1))}; }
#else
  HWY_INLINE void add(V u, V s, bool first) { sum_ = add_byte_products<true>(first ? hwy::HWY_NAMESPACE::Zero(hwy::HWY_NAMESPACE::DFromV<V>()) : sum_, u, s); }
  HWY_INLINE V total() const { return sum_; }
#endif

 private:
  V sum_;
};

}  // namespace HWY_NAMESPACE
}  // namespace drywell::numeric
