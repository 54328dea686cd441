// Semantics of table/bits.inc: bit manipulation, permutation, dot products of bytes.
#include <bit>
#include <cstdlib>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/pair_operand.h"
#include "sim/state/payload/bits.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Slot;

template <class T>
using U = std::make_unsigned_t<T>;
template <class T>
constexpr uint32_t kBits = 8 * sizeof(T);

// Counts and positions are 32 bits wide for every source width.
template <class F, class T>
Effect count_bits(Warp& w, const DecodedOp& op, LaneMask mask) {
  map1<uint32_t, T>(w, op, mask, [](T a) { return F::apply(a); });
  return Effect::next;
}
struct Popc {
  template <class T> static uint32_t apply(T a) { return static_cast<uint32_t>(std::popcount(a)); }
};
struct Clz {
  template <class T> static uint32_t apply(T a) { return static_cast<uint32_t>(std::countl_zero(a)); }
};
template <bool ShiftAmount>
struct Bfind {
  template <class T>
  static uint32_t apply(T a) {
    const auto v = static_cast<U<T>>(std::is_signed_v<T> && a < 0 ? ~a : a);
    const auto zeros = static_cast<uint32_t>(std::countl_zero(v));
    if (zeros == kBits<T>) return ~0u;
    return ShiftAmount ? zeros : kBits<T> - 1 - zeros;
  }
};

struct Brev {
  template <class T>
  static T apply(T a) {
    T r = 0;
    for (uint32_t i = 0; i < kBits<T>; ++i) r |= static_cast<T>((a >> i & 1) << (kBits<T> - 1 - i));
    return r;
  }
};
struct Cnot {
  template <class T> static T apply(T a) { return a == 0 ? 1 : 0; }
};

// PTX ISA 9.7.1.17: base counts as the first candidate; with offset 0 base is the only candidate.
struct Fns {
  template <class T>
  static T apply(T mask, T base, T offset) {
    const auto n = static_cast<int32_t>(offset);
    if (base >= 32) return ~T{0};  // undefined in PTX
    if (n == INT32_MIN) return 0;  // as on an H200 for every mask and base: the magnitude is not representable as a 32-bit integer
    if (n == 0) return (mask >> base & 1) != 0 ? base : ~T{0};
    int64_t left = std::abs(int64_t{n});
    for (auto at = static_cast<int32_t>(base); at >= 0 && at<32; at += n> 0 ? 1 : -1) {
      if ((mask >> at & 1) != 0 && --left == 0) return static_cast<T>(at);
    }
    return ~T{0};
  }
};

// A T with its low n bits set; n may equal the width.
template <class T>
constexpr T low_ones(uint32_t n) { return n >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << n) - 1); }

// PTX ISA 9.7.1.19: bits past the top, and those above the field, repeat the field's sign.
template <class T>
T extract_field(T a, uint32_t b, uint32_t c) {
  const uint32_t pos = b & 0xFF, len = c & 0xFF;
  const auto bits = static_cast<U<T>>(a);
  const uint32_t top = std::min(pos + len - 1, kBits<T> - 1);
  const bool fill = std::is_signed_v<T> && len != 0 && (bits >> top & 1) != 0;
  const U<T> field = pos >= kBits<T> ? 0 : static_cast<U<T>>(bits >> pos);
  const U<T> keep = low_ones<U<T>>(pos >= kBits<T> ? 0 : std::min(len, kBits<T> - pos));
  return static_cast<T>((field & keep) | (fill ? static_cast<U<T>>(~keep) : U<T>{0}));
}
template <class T>
T insert_field(T a, T b, uint32_t c, uint32_t d) {
  const uint32_t pos = c & 0xFF, len = d & 0xFF;
  if (pos >= kBits<T>) return b;
  const auto field = static_cast<T>(low_ones<T>(len) << pos);
  return static_cast<T>((b & static_cast<T>(~field)) | (static_cast<T>(a << pos) & field));
}

template <class T>
Effect bit_field_extract(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Lane<T>* a = lanes<T>(w, op.src[0]);
  const uint32_t *b = lanes<uint32_t>(w, op.src[1]), *c = lanes<uint32_t>(w, op.src[2]);
  Lane<T> r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = to_lane<T>(extract_field(from_lane<T>(a[i]), b[i], c[i]));
  store_masked(lanes<T>(w, op.dst), r, mask);
  return Effect::next;
}
template <class T>
Effect bit_field_insert(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Lane<T>*a = lanes<T>(w, op.src[0]), *b = lanes<T>(w, op.src[1]);
  const uint32_t *c = lanes<uint32_t>(w, op.src[2]), *d = lanes<uint32_t>(w, op.src[3]);
  Lane<T> r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = to_lane<T>(insert_field(from_lane<T>(a[i]), from_lane<T>(b[i]), c[i], d[i]));
  store_masked(lanes<T>(w, op.dst), r, mask);
  return Effect::next;
}

template <bool Clamp>
struct Extend {
  template <class T>
  static T apply(T a, T b) {
    const auto n = static_cast<uint32_t>(b);
    if (Clamp && n >= 32) return a;
    return extract_field<T>(a, 0, n & 31);
  }
};
template <bool Clamp>
struct Mask {
  template <class T>
  static T apply(T a, T b) {
    const uint32_t at = Clamp ? std::min(a, 32u) : a & 31, n = Clamp ? std::min(b, 32u) : b & 31;
    return static_cast<T>(uint64_t{low_ones<uint32_t>(n)} << at);
  }
};

// Byte or 16-bit element k of v, extended to 32 bits.
template <unsigned Width, bool Signed>
constexpr int32_t element(uint32_t v, unsigned k) {
  const uint32_t e = v << (32 - Width * (k + 1));
  return Signed ? static_cast<int32_t>(e) >> (32 - Width) : static_cast<int32_t>(e >> (32 - Width));
}
template <bool SignedA, bool SignedB>
struct Dp4a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned k = 0; k < 4; ++k) c += static_cast<uint32_t>(element<8, SignedA>(a, k) * element<8, SignedB>(b, k));
    return c;
  }
};
template <bool SignedA, bool SignedB>
struct Dp2a {  // b shifted so that its two bytes are the low ones
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned k = 0; k < 2; ++k) c += static_cast<uint32_t>(element<16, SignedA>(a, k) * element<8, SignedB>(b, k));
    return c;
  }
};
template <class F>
Effect dot(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t shift = op.as<payload::DotProduct>().shift;
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [shift](uint32_t a, uint32_t b, uint32_t c) { return F::apply(a, b >> shift, c); });
  return Effect::next;
}
template <template <bool, bool> class F>
ExecFn bind_dot(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  for (size_t k = 0; k < 3; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  op.emplace<payload::DotProduct>({.shift = d.mod(Slot::half) == Mod::hi ? 16u : 0u});
  const bool a = d.mod(Slot::atype) == Mod::s32, b = d.mod(Slot::btype) == Mod::s32;
  if (a) return b ? dot<F<true, true>> : dot<F<true, false>>;
  return b ? dot<F<false, true>> : dot<F<false, false>>;
}

// Bit a*4 + b*2 + c of the table, for all 32 positions at once.
uint32_t look_up(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t r = 0;
  for (uint32_t k = 0; k < 8; ++k) {
    const uint32_t row = ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
    r |= (table >> k & 1) != 0 ? row : 0;
  }
  return r;
}
Effect logic3(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t table = op.as<payload::TruthTable>().table;
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [table](uint32_t a, uint32_t b, uint32_t c) { return look_up(a, b, c, table); });
  return Effect::next;
}
template <bool And>
Effect logic3_pred(Warp& w, const DecodedOp& op, LaneMask mask) {
  const LaneMask q = read_pred(w, op.pred[0]);
  logic3(w, op, mask);
  const uint32_t* r = lanes<uint32_t>(w, op.dst);
  LaneMask any = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) any |= LaneMask{r[i] != 0} << i;
  write_pred(w, op.as<payload::TruthTable>().predicate, And ? any & q : any | q, mask);
  return Effect::next;
}

template <bool Left, bool Clamp>
struct Funnel {
  template <class T>
  static T apply(T a, T b, T c) {
    const uint32_t n = Clamp ? std::min(c, 32u) : c & 31;
    const uint64_t pair = uint64_t{b} << 32 | a;
    return static_cast<T>(Left ? (pair << n) >> 32 : pair >> n);
  }
};

// Nibble k of the selector names the source byte of result byte k; its top bit replicates that byte's sign.
uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t pair = uint64_t{b} << 32 | a;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const uint32_t s = selector >> (4 * k);
    const auto byte = static_cast<uint32_t>(pair >> (8 * (s & 7)) & 0xFF);
    r |= ((s & 8) != 0 ? ((byte & 0x80) != 0 ? 0xFFu : 0u) : byte) << (8 * k);
  }
  return r;
}
// PTX ISA 9.7.9.7: the named modes are four selectors each, chosen by c[1:0].
using PermuteMode = payload::BytePermutation::Mode;
constexpr uint16_t kPermuteModes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543},   // f4e
    {0x5670, 0x6701, 0x7012, 0x0123},   // b4e
    {0x0000, 0x1111, 0x2222, 0x3333},   // rc8
    {0x3210, 0x3211, 0x3222, 0x3333},   // ecl
    {0x0000, 0x1110, 0x2210, 0x3210},   // ecr
    {0x1010, 0x3232, 0x1010, 0x3232}};  // rc16
Effect permute_bytes(Warp& w, const DecodedOp& op, LaneMask mask) {
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [](uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c); });
  return Effect::next;
}
Effect permute_mode(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint16_t* selectors = kPermuteModes[static_cast<size_t>(op.as<payload::BytePermutation>().mode)];
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [selectors](uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, selectors[c & 3]); });
  return Effect::next;
}

void bind_lop3(Decoder& d, DecodedOp& op, uint32_t predicate) {
  for (size_t k = 0; k < 3; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  op.emplace<payload::TruthTable>({.table = static_cast<uint32_t>(d.operand(4)->value) & 0xFF, .predicate = predicate});
}

}  // namespace

template <> ExecFn bind<isa::row::popc>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(Mod::b64) ? count_bits<Popc, uint64_t> : count_bits<Popc, uint32_t>;
}
template <> ExecFn bind<isa::row::clz>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(Mod::b64) ? count_bits<Clz, uint64_t> : count_bits<Clz, uint32_t>;
}
template <> ExecFn bind<isa::row::bfind>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  const bool shift = d.has(Mod::shiftamt);
  return with_int_type(d.mod(Slot::type), [shift]<class T>() -> ExecFn { return shift ? count_bits<Bfind<true>, T> : count_bits<Bfind<false>, T>; });
}
template <> ExecFn bind<isa::row::fns>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2, 3});
  return ternary<Fns, uint32_t>;
}
template <> ExecFn bind<isa::row::brev>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return d.has(Mod::b64) ? unary<Brev, uint64_t> : unary<Brev, uint32_t>;
}
template <> ExecFn bind<isa::row::cnot>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return with_int_type(d.mod(Slot::type), []<class T>() -> ExecFn { return unary<Cnot, T>; });
}
template <> ExecFn bind<isa::row::bfe>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  for (size_t k = 1; k < 3; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  return with_int_type(d.mod(Slot::type), []<class T>() -> ExecFn { return bit_field_extract<T>; });
}
template <> ExecFn bind<isa::row::bfi>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  for (size_t k = 2; k < 4; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  return d.has(Mod::b64) ? bit_field_insert<uint64_t> : bit_field_insert<uint32_t>;
}
template <> ExecFn bind<isa::row::szext>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  if (d.has(Mod::clamp)) return d.has(Mod::s32) ? binary<Extend<true>, int32_t> : binary<Extend<true>, uint32_t>;
  return d.has(Mod::s32) ? binary<Extend<false>, int32_t> : binary<Extend<false>, uint32_t>;
}
template <> ExecFn bind<isa::row::bmsk>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return d.has(Mod::clamp) ? binary<Mask<true>, uint32_t> : binary<Mask<false>, uint32_t>;
}
template <>
ExecFn bind<isa::row::dp4a>(Decoder& d, DecodedOp& op) { return bind_dot<Dp4a>(d, op); }
template <>
ExecFn bind<isa::row::dp2a>(Decoder& d, DecodedOp& op) { return bind_dot<Dp2a>(d, op); }
template <> ExecFn bind<isa::row::lop3>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  bind_lop3(d, op, d.sink_pred());
  return logic3;
}
template <> ExecFn bind<isa::row::lop3_pred>(Decoder& d, DecodedOp& op) {
  const PairOperand result = pair_operand(d, *d.operand(0));
  op.dst = result.value;
  bind_lop3(d, op, result.predicate);
  op.pred[0] = d.pred(*d.operand(5));
  return d.has(Mod::and_) ? logic3_pred<true> : logic3_pred<false>;
}
template <> ExecFn bind<isa::row::shf>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2, 3});
  const bool clamp = d.has(Mod::clamp);
  if (d.has(Mod::l)) return clamp ? ternary<Funnel<true, true>, uint32_t> : ternary<Funnel<true, false>, uint32_t>;
  return clamp ? ternary<Funnel<false, true>, uint32_t> : ternary<Funnel<false, false>, uint32_t>;
}
template <> ExecFn bind<isa::row::prmt>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2, 3});
  PermuteMode& mode = op.emplace<payload::BytePermutation>().mode;
  switch (d.mod(Slot::mode)) {
    case Mod::f4e: mode = PermuteMode::f4e; break;
    case Mod::b4e: mode = PermuteMode::b4e; break;
    case Mod::rc8: mode = PermuteMode::rc8; break;
    case Mod::ecl: mode = PermuteMode::ecl; break;
    case Mod::ecr: mode = PermuteMode::ecr; break;
    case Mod::rc16: mode = PermuteMode::rc16; break;
    default: return permute_bytes;
  }
  return permute_mode;
}

}  // namespace drywell::sim
