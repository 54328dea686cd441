// Integer arithmetic (PTX ISA 9.7.1), extended precision (9.7.2), logic and shifts (9.7.8), comparison and selection (9.7.6).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "conformance/programs/families.h"

namespace drywell::kernels::conformance {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;

template <class T>
struct TypeInfo;
#define TYPE_INFO(T_, NAME_, LETTER_, WIDE_)   \
  template <>                                  \
  struct TypeInfo<T_> {                        \
    static constexpr const char* name = NAME_; \
    static constexpr char letter = LETTER_;    \
    using Product = WIDE_;                     \
  };
TYPE_INFO(uint16_t, "u16", 'h', uint32_t)
TYPE_INFO(int16_t, "s16", 'h', int32_t)
TYPE_INFO(uint32_t, "u32", 'w', uint64_t)
TYPE_INFO(int32_t, "s32", 'w', int64_t)
TYPE_INFO(uint64_t, "u64", 'd', UWide)
TYPE_INFO(int64_t, "s64", 'd', Wide)
#undef TYPE_INFO

class Forms {
 public:
  explicit Forms(std::vector<ProgramSpec>& out, std::string family) : out_(out), family_(std::move(family)) {}
  template <class F>
  void add(std::string op, std::string operands, F f, std::function<void(uint64_t*)> prepare = {}) {
    out_.push_back(lane_program(family_, {.op = std::move(op), .operands = std::move(operands), .expect = row(f), .prepare = std::move(prepare)}));
  }

 private:
  std::vector<ProgramSpec>& out_;
  std::string family_;
};

template <class T>
std::string op(const char* stem) { return fmt::format("{}.{}", stem, TypeInfo<T>::name); }
template <class T>
std::string operands(size_t inputs) { return fmt::format("{}={}", TypeInfo<T>::letter, std::string(inputs, TypeInfo<T>::letter)); }
template <class T>
constexpr unsigned kBits = 8 * sizeof(T);

// All operations wrap: PTX integer arithmetic is modulo 2^N.
template <class T>
void ring(Forms& f) {
  using U = std::make_unsigned_t<T>;
  using P = typename TypeInfo<T>::Product;
  f.add(op<T>("add"), operands<T>(2), [](T a, T b) -> T { return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b))); });
  f.add(op<T>("sub"), operands<T>(2), [](T a, T b) -> T { return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b))); });
  f.add(op<T>("mul.lo"), operands<T>(2), [](T a, T b) -> T { return static_cast<T>(static_cast<P>(static_cast<P>(a) * static_cast<P>(b))); });
  f.add(op<T>("mul.hi"), operands<T>(2), [](T a, T b) -> T { return static_cast<T>(static_cast<P>(a) * static_cast<P>(b) >> kBits<T>); });
  f.add(op<T>("mad.lo"), operands<T>(3), [](T a, T b, T c) -> T {
    return static_cast<T>(static_cast<U>(static_cast<U>(static_cast<P>(a) * static_cast<P>(b)) + static_cast<U>(c)));
  });
  f.add(op<T>("mad.hi"), operands<T>(3), [](T a, T b, T c) -> T {
    return static_cast<T>(static_cast<U>(static_cast<U>(static_cast<P>(a) * static_cast<P>(b) >> kBits<T>) + static_cast<U>(c)));
  });
  f.add(op<T>("min"), operands<T>(2), [](T a, T b) -> T { return a < b ? a : b; });
  f.add(op<T>("max"), operands<T>(2), [](T a, T b) -> T { return a > b ? a : b; });
}

// Division by zero is undefined (9.7.1.8), and so is the one signed quotient that does not fit.
template <class T>
void absolute_difference(Forms& f) {
  using U = std::make_unsigned_t<T>;
  f.add(op<T>("sad"), operands<T>(3), [](T a, T b, T c) -> T {
    const auto x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<T>(static_cast<U>(c) + static_cast<U>(a < b ? y - x : x - y));
  });
}
template <class T>
void division(Forms& f) {
  const auto prepare = [](uint64_t* in) {
    if (detail::from_bits<T>(in[1]) == 0) in[1] = 3;
    if (std::is_signed_v<T> && detail::from_bits<T>(in[1]) == static_cast<T>(-1)) in[1] = 5;
  };
  f.add(
      op<T>("div"), operands<T>(2), [](T a, T b) -> T { return static_cast<T>(a / b); }, prepare);
  f.add(
      op<T>("rem"), operands<T>(2), [](T a, T b) -> T { return static_cast<T>(a % b); }, prepare);
}

template <class T>
void wide(Forms& f) {
  using P = typename TypeInfo<T>::Product;
  using UP = std::make_unsigned_t<P>;
  const std::string w(1, TypeInfo<P>::letter), n(2, TypeInfo<T>::letter);
  f.add(op<T>("mul.wide"), w + "=" + n, [](T a, T b) -> P { return static_cast<P>(a) * static_cast<P>(b); });
  f.add(op<T>("mad.wide"), w + "=" + n + w, [](T a, T b, P c) -> P { return static_cast<P>(static_cast<UP>(static_cast<P>(a) * static_cast<P>(b)) + static_cast<UP>(c)); });
}

template <class T>
void negation(Forms& f) {
  using U = std::make_unsigned_t<T>;
  f.add(op<T>("neg"), operands<T>(1), [](T a) -> T { return static_cast<T>(static_cast<U>(0 - static_cast<U>(a))); });
  f.add(op<T>("abs"), operands<T>(1), [](T a) -> T { return a < 0 ? static_cast<T>(static_cast<U>(0 - static_cast<U>(a))) : a; });
}

template <class T>
void comparisons(Forms& f) {
  const std::string in = fmt::format("p={0}{0}", TypeInfo<T>::letter);
  f.add(op<T>("setp.eq"), in, [](T a, T b) -> bool { return a == b; });
  f.add(op<T>("setp.ne"), in, [](T a, T b) -> bool { return a != b; });
  f.add(op<T>("setp.lt"), in, [](T a, T b) -> bool { return a < b; });
  f.add(op<T>("setp.le"), in, [](T a, T b) -> bool { return a <= b; });
  f.add(op<T>("setp.gt"), in, [](T a, T b) -> bool { return a > b; });
  f.add(op<T>("setp.ge"), in, [](T a, T b) -> bool { return a >= b; });
  f.add(op<T>("setp.lt.and"), in + "p", [](T a, T b, bool c) -> bool { return a < b && c; });
  f.add(op<T>("setp.ge.or"), in + "p", [](T a, T b, bool c) -> bool { return a >= b || c; });
  f.add(op<T>("setp.ne.xor"), in + "p", [](T a, T b, bool c) -> bool { return (a != b) != c; });
  f.add(op<T>("selp"), fmt::format("{0}={0}{0}p", TypeInfo<T>::letter), [](T a, T b, bool c) -> T { return c ? a : b; });
}

// Shift amounts are 32-bit and clamp (9.7.8.8, 9.7.8.9).
template <class T>
void right_shift(Forms& f) {
  f.add(op<T>("shr"), fmt::format("{0}={0}s", TypeInfo<T>::letter), [](T a, uint32_t n) -> T {
    if (n >= kBits<T>) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
  });
}

template <class T>
void bits(Forms& f, const char* type) {
  const std::string l(1, TypeInfo<T>::letter), in1 = l + "=" + l, in2 = in1 + l;
  const auto named = [&](const char* stem) { return fmt::format("{}.{}", stem, type); };
  f.add(named("and"), in2, [](T a, T b) -> T { return static_cast<T>(a & b); });
  f.add(named("or"), in2, [](T a, T b) -> T { return static_cast<T>(a | b); });
  f.add(named("xor"), in2, [](T a, T b) -> T { return static_cast<T>(a ^ b); });
  f.add(named("not"), in1, [](T a) -> T { return static_cast<T>(~a); });
  f.add(named("cnot"), in1, [](T a) -> T { return a == 0 ? T{1} : T{0}; });
  f.add(named("shl"), in1 + "s", [](T a, uint32_t n) -> T { return n >= kBits<T> ? T{0} : static_cast<T>(a << n); });
}

void predicates(Forms& f) {
  f.add("and.pred", "p=pp", [](bool a, bool b) -> bool { return a && b; });
  f.add("or.pred", "p=pp", [](bool a, bool b) -> bool { return a || b; });
  f.add("xor.pred", "p=pp", [](bool a, bool b) -> bool { return a != b; });
  f.add("not.pred", "p=p", [](bool a) -> bool { return !a; });
}

uint32_t lut3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (unsigned i = 0; i < 32; ++i) r |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
  return r;
}

// bfe and bfi as in 9.7.1.19-20: position and length are taken modulo 256; bits past the top are the sign (bfe) or
// unchanged (bfi).
template <class T>
T extract(T a, uint32_t b, uint32_t c) {
  const unsigned pos = b & 0xFF, len = c & 0xFF, msb = kBits<T> - 1;
  bool sign = false;
  if (std::is_signed_v<T> && len != 0) sign = static_cast<std::make_unsigned_t<T>>(a) >> std::min(pos + len - 1, msb) & 1;
  std::make_unsigned_t<T> d = 0;
  for (unsigned i = 0; i <= msb; ++i) {
    const bool bit = i < len && pos + i <= msb ? (static_cast<std::make_unsigned_t<T>>(a) >> (pos + i) & 1) != 0 : sign;
    d |= std::make_unsigned_t<T>{bit} << i;
  }
  return static_cast<T>(d);
}
template <class T>
T insert(T a, T b, uint32_t c, uint32_t e) {
  const unsigned pos = c & 0xFF, len = e & 0xFF, msb = kBits<T> - 1;
  T f = b;
  for (unsigned i = 0; i < len && pos + i <= msb; ++i) f = static_cast<T>((f & ~(T{1} << (pos + i))) | (a >> i & 1) << (pos + i));
  return f;
}
template <class T>
void fields(Forms& f) {
  f.add(op<T>("bfe"), fmt::format("{0}={0}ss", TypeInfo<T>::letter), [](T a, uint32_t b, uint32_t c) -> T { return extract(a, b, c); });
}

void bit_counting(Forms& f) {
  f.add("popc.b32", "w=w", [](uint32_t a) -> uint32_t { return static_cast<uint32_t>(std::popcount(a)); });
  f.add("popc.b64", "w=d", [](uint64_t a) -> uint32_t { return static_cast<uint32_t>(std::popcount(a)); });
  f.add("clz.b32", "w=w", [](uint32_t a) -> uint32_t { return static_cast<uint32_t>(std::countl_zero(a)); });
  f.add("clz.b64", "w=d", [](uint64_t a) -> uint32_t { return static_cast<uint32_t>(std::countl_zero(a)); });
  f.add("brev.b32", "w=w", [](uint32_t a) -> uint32_t {
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; ++i) r |= (a >> i & 1) << (31 - i);
    return r;
  });
  f.add("brev.b64", "d=d", [](uint64_t a) -> uint64_t {
    uint64_t r = 0;
    for (unsigned i = 0; i < 64; ++i) r |= (a >> i & 1) << (63 - i);
    return r;
  });
}

void saturating(Forms& f) {
  f.add("add.sat.s32", "w=ww", [](int32_t a, int32_t b) -> int32_t { return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX)); });
  f.add("sub.sat.s32", "w=ww", [](int32_t a, int32_t b) -> int32_t { return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} - b, INT32_MIN, INT32_MAX)); });
  f.add("mad.hi.sat.s32", "w=www", [](int32_t a, int32_t b, int32_t c) -> int32_t {
    return static_cast<int32_t>(std::clamp<int64_t>((int64_t{a} * b >> 32) + c, INT32_MIN, INT32_MAX));
  });
}

// Bytes of {b, a}, least significant first, selected by the nibbles of c; bit 3 of a nibble replicates the sign (9.7.9.7).
uint32_t permute(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t source = uint64_t{b} << 32 | a;
  uint32_t r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t nibble = c >> 4 * i & 15;
    uint32_t byte = source >> 8 * (nibble & 7) & 0xFF;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
    r |= byte << 8 * i;
  }
  return r;
}

uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n) { return static_cast<uint32_t>(((uint64_t{b} << 32 | a) << n) >> 32); }
uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n) { return static_cast<uint32_t>((uint64_t{b} << 32 | a) >> n); }

int64_t low_24(int32_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v) << 8) >> 8; }

void mixing(Forms& f) {
  f.add("prmt.b32", "w=www", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return permute(a, b, c); });
  f.add("lop3.b32", "w=www#0x96", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return lut3(a, b, c, 0x96); });
  f.add("shf.l.wrap.b32", "w=wws", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return funnel_left(a, b, c & 31); });
  f.add("shf.r.wrap.b32", "w=wws", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return funnel_right(a, b, c & 31); });
  f.add("shf.l.clamp.b32", "w=wws", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return funnel_left(a, b, std::min(c, 32u)); });
  f.add("shf.r.clamp.b32", "w=wws", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return funnel_right(a, b, std::min(c, 32u)); });
  f.add("bfi.b32", "w=wwss", [](uint32_t a, uint32_t b, uint32_t c, uint32_t d) -> uint32_t { return insert(a, b, c, d); });
  f.add("bfi.b64", "d=ddss", [](uint64_t a, uint64_t b, uint32_t c, uint32_t d) -> uint64_t { return insert(a, b, c, d); });
  f.add("mul24.lo.s32", "w=ww", [](int32_t a, int32_t b) -> int32_t { return static_cast<int32_t>(low_24(a) * low_24(b)); });
  f.add("mul24.hi.s32", "w=ww", [](int32_t a, int32_t b) -> int32_t { return static_cast<int32_t>(low_24(a) * low_24(b) >> 16); });
  f.add("mul24.lo.u32", "w=ww", [](uint32_t a, uint32_t b) -> uint32_t { return static_cast<uint32_t>(uint64_t{a & 0xFFFFFF} * (b & 0xFFFFFF)); });
  f.add("mul24.hi.u32", "w=ww", [](uint32_t a, uint32_t b) -> uint32_t { return static_cast<uint32_t>(uint64_t{a & 0xFFFFFF} * (b & 0xFFFFFF) >> 16); });
}

template <bool SignedA, bool SignedB>
uint32_t dot4(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t sum = c;
  for (unsigned i = 0; i < 4; ++i) {
    const int32_t x = SignedA ? static_cast<int8_t>(a >> 8 * i) : static_cast<int32_t>(a >> 8 * i & 0xFF);
    const int32_t y = SignedB ? static_cast<int8_t>(b >> 8 * i) : static_cast<int32_t>(b >> 8 * i & 0xFF);
    sum += static_cast<uint32_t>(x * y);
  }
  return sum;
}
void dot_products(Forms& f) {
  f.add("dp4a.u32.u32", "w=www", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return dot4<false, false>(a, b, c); });
  f.add("dp4a.s32.s32", "w=www", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return dot4<true, true>(a, b, c); });
  f.add("dp4a.s32.u32", "w=www", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return dot4<true, false>(a, b, c); });
  f.add("dp4a.u32.s32", "w=www", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return dot4<false, true>(a, b, c); });
}

void each(Forms& f, std::initializer_list<void (*)(Forms&)> groups) {
  for (const auto group : groups) group(f);
}

}  // namespace

void add_integer(std::vector<ProgramSpec>& out) {
  Forms f(out, "integer");
  each(f, {ring<uint16_t>, ring<int16_t>, ring<uint32_t>, ring<int32_t>, ring<uint64_t>, ring<int64_t>});
  each(f, {absolute_difference<uint16_t>, absolute_difference<int16_t>, absolute_difference<uint32_t>, absolute_difference<int32_t>, absolute_difference<uint64_t>, absolute_difference<int64_t>});
  each(f, {division<uint16_t>, division<int16_t>, division<uint32_t>, division<int32_t>, division<uint64_t>, division<int64_t>});
  each(f, {wide<uint16_t>, wide<int16_t>, wide<uint32_t>, wide<int32_t>});
  each(f, {negation<int16_t>, negation<int32_t>, negation<int64_t>, saturating, dot_products});
}

void add_logic(std::vector<ProgramSpec>& out) {
  Forms f(out, "logic");
  each(f, {comparisons<uint16_t>, comparisons<int16_t>, comparisons<uint32_t>, comparisons<int32_t>, comparisons<uint64_t>, comparisons<int64_t>});
  each(f, {right_shift<uint16_t>, right_shift<int16_t>, right_shift<uint32_t>, right_shift<int32_t>, right_shift<uint64_t>, right_shift<int64_t>});
  bits<uint16_t>(f, "b16");
  bits<uint32_t>(f, "b32");
  bits<uint64_t>(f, "b64");
  each(f, {fields<uint32_t>, fields<int32_t>, fields<uint64_t>, fields<int64_t>});
  each(f, {predicates, bit_counting, mixing});
}

}  // namespace drywell::kernels::conformance
