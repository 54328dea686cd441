// Semantics of table/alu.inc: integer arithmetic.
#include <limits>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"

namespace drywell::sim {
namespace {

template <class T>
using U = std::make_unsigned_t<T>;

// Wrapping arithmetic goes through the unsigned type of at least 32 bits: signed overflow is undefined in C++.
template <class T>
using W = std::conditional_t<(sizeof(T) < 4), uint32_t, U<T>>;

struct Add {
  template <class T> static T apply(T a, T b) { return static_cast<T>(W<T>(a) + W<T>(b)); }
};
struct Sub {
  template <class T> static T apply(T a, T b) { return static_cast<T>(W<T>(a) - W<T>(b)); }
};
struct MulLo {
  template <class T> static T apply(T a, T b) { return static_cast<T>(W<T>(a) * W<T>(b)); }
};
struct MulHi {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (sizeof(T) == 8) {
      if constexpr (std::is_signed_v<T>) {
        return static_cast<T>((static_cast<Int128>(a) * b) >> 64);
      } else {
        return static_cast<T>((static_cast<UInt128>(a) * b) >> 64);
      }
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return static_cast<T>((Wide{a} * Wide{b}) >> (8 * sizeof(T)));
    }
  }
};
// Division by zero does not trap; quotient and remainder are all ones (H200), PTX calls them machine-specific.
struct Div {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Sub::apply<T>(0, a);
    }
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <class T> static T apply(T a, T b) { return b < a ? b : a; }
};
struct Max {
  template <class T> static T apply(T a, T b) { return a < b ? b : a; }
};
struct MinRelu {
  template <class T> static T apply(T a, T b) { return Max::apply<T>(Min::apply<T>(a, b), 0); }
};
struct MaxRelu {
  template <class T> static T apply(T a, T b) { return Max::apply<T>(Max::apply<T>(a, b), 0); }
};
struct AddSat {
  template <class T>
  static T apply(T a, T b) {
    const int64_t s = int64_t{a} + int64_t{b};
    return static_cast<T>(std::clamp<int64_t>(s, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  }
};
struct SubSat {
  template <class T>
  static T apply(T a, T b) {
    const int64_t s = int64_t{a} - int64_t{b};
    return static_cast<T>(std::clamp<int64_t>(s, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  }
};
struct Neg {
  template <class T> static T apply(T a) { return Sub::apply<T>(0, a); }
};
struct Abs {
  template <class T> static T apply(T a) { return a < 0 ? Neg::apply<T>(a) : a; }
};
struct MadLo {
  template <class T> static T apply(T a, T b, T c) { return Add::apply<T>(MulLo::apply<T>(a, b), c); }
};
struct MadHi {
  template <class T> static T apply(T a, T b, T c) { return Add::apply<T>(MulHi::apply<T>(a, b), c); }
};
struct MadHiSat {
  template <class T> static T apply(T a, T b, T c) { return AddSat::apply<T>(MulHi::apply<T>(a, b), c); }
};

template <class T>
Effect mul_wide(Warp& w, const DecodedOp& op, LaneMask mask) {
  using D = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 4, int64_t, int32_t>, std::conditional_t<sizeof(T) == 4, uint64_t, uint32_t>>;
  map2<D, T>(w, op, mask, [](T a, T b) { return static_cast<D>(D{a} * D{b}); });
  return Effect::next;
}
template <class T>
Effect mad_wide(Warp& w, const DecodedOp& op, LaneMask mask) {
  using D = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 4, int64_t, int32_t>, std::conditional_t<sizeof(T) == 4, uint64_t, uint32_t>>;
  map3<D, T, D>(w, op, mask, [](T a, T b, D c) { return Add::apply<D>(static_cast<D>(D{a} * D{b}), c); });
  return Effect::next;
}

// u16x2/s16x2: two independent 16-bit operations.
template <class F, class T>
struct Both {
  template <class W32>
  static W32 apply(W32 a, W32 b) {
    const auto half = [](W32 v, unsigned shift) { return static_cast<T>(v >> shift); };
    const auto low = static_cast<uint16_t>(F::template apply<T>(half(a, 0), half(b, 0)));
    const auto high = static_cast<uint16_t>(F::template apply<T>(half(a, 16), half(b, 16)));
    return W32{high} << 16 | low;
  }
};
template <class Plain, class Relu>
ExecFn bind_min_max(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  const bool relu = d.has(isa::Mod::relu);
  if (d.has(isa::Mod::u16x2)) return binary<Both<Plain, uint16_t>, uint32_t>;
  if (d.has(isa::Mod::s16x2)) return relu ? binary<Both<Relu, int16_t>, uint32_t> : binary<Both<Plain, int16_t>, uint32_t>;
  return relu ? binary<Relu, int32_t> : int_binary<Plain>(d);
}

// 24-bit operands are in the low bits; hi is bits 47..16 of the product.
template <bool High>
struct Mul24 {
  template <class T>
  static T apply(T a, T b) {
    const auto value = [](T v) { return std::is_signed_v<T> ? int64_t{static_cast<T>(static_cast<uint32_t>(v) << 8) >> 8} : static_cast<int64_t>(v & 0xFFFFFF); };
    const int64_t product = value(a) * value(b);
    return static_cast<T>(High ? product >> 16 : product);
  }
};
template <bool High>
struct Mad24 {
  template <class T> static T apply(T a, T b, T c) { return Add::apply<T>(Mul24<High>::template apply<T>(a, b), c); }
};
struct Mad24HiSat {
  template <class T> static T apply(T a, T b, T c) { return AddSat::apply<T>(Mul24<true>::apply<T>(a, b), c); }
};
struct Sad {
  template <class T> static T apply(T a, T b, T c) { return Add::apply<T>(c, a < b ? Sub::apply<T>(b, a) : Sub::apply<T>(a, b)); }
};

}  // namespace

template <> ExecFn bind<isa::row::add_int>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  if (d.has(isa::Mod::u16x2) || d.has(isa::Mod::s16x2)) return binary<Both<Add, uint16_t>, uint32_t>;
  return d.has(isa::Mod::sat) ? binary<AddSat, int32_t> : int_binary<Add>(d);
}
template <> ExecFn bind<isa::row::sub_int>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return d.has(isa::Mod::sat) ? binary<SubSat, int32_t> : int_binary<Sub>(d);
}
template <> ExecFn bind<isa::row::mul_int>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return d.has(isa::Mod::lo) ? int_binary<MulLo>(d) : int_binary<MulHi>(d);
}
template <> ExecFn bind<isa::row::mul_wide>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  switch (d.mod(isa::Slot::type)) {
    case isa::Mod::u16: return mul_wide<uint16_t>;
    case isa::Mod::s16: return mul_wide<int16_t>;
    case isa::Mod::u32: return widest<mul_wide<uint32_t>>();
    default: return widest<mul_wide<int32_t>>();
  }
}
template <> ExecFn bind<isa::row::mad_int>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2, 3});
  if (d.has(isa::Mod::sat)) return ternary<MadHiSat, int32_t>;
  return d.has(isa::Mod::lo) ? int_ternary<MadLo>(d) : int_ternary<MadHi>(d);
}
template <> ExecFn bind<isa::row::mad_wide>(Decoder& d, DecodedOp& op) {
  const unsigned bits = isa::type_bits(d.mod(isa::Slot::type));
  sources(d, op, {1, 2});
  op.src[2] = d.source(*d.operand(3), 2 * bits);
  switch (d.mod(isa::Slot::type)) {
    case isa::Mod::u16: return mad_wide<uint16_t>;
    case isa::Mod::s16: return mad_wide<int16_t>;
    case isa::Mod::u32: return widest<mad_wide<uint32_t>>();
    default: return widest<mad_wide<int32_t>>();
  }
}
template <> ExecFn bind<isa::row::div_int>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return int_binary<Div>(d);
}
template <> ExecFn bind<isa::row::rem_int>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  return int_binary<Rem>(d);
}
template <> ExecFn bind<isa::row::neg_int>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return signed_unary<Neg>(d);
}
template <> ExecFn bind<isa::row::abs_int>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  return signed_unary<Abs>(d);
}
template <> ExecFn bind<isa::row::min_int>(Decoder& d, DecodedOp& op) { return bind_min_max<Min, MinRelu>(d, op); }
template <> ExecFn bind<isa::row::max_int>(Decoder& d, DecodedOp& op) { return bind_min_max<Max, MaxRelu>(d, op); }
template <> ExecFn bind<isa::row::mul24>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  if (d.has(isa::Mod::hi)) return d.has(isa::Mod::s32) ? binary<Mul24<true>, int32_t> : binary<Mul24<true>, uint32_t>;
  return d.has(isa::Mod::s32) ? binary<Mul24<false>, int32_t> : binary<Mul24<false>, uint32_t>;
}
template <> ExecFn bind<isa::row::mad24>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2, 3});
  if (d.has(isa::Mod::sat)) return ternary<Mad24HiSat, int32_t>;
  if (d.has(isa::Mod::hi)) return d.has(isa::Mod::s32) ? ternary<Mad24<true>, int32_t> : ternary<Mad24<true>, uint32_t>;
  return d.has(isa::Mod::s32) ? ternary<Mad24<false>, int32_t> : ternary<Mad24<false>, uint32_t>;
}
template <> ExecFn bind<isa::row::sad>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2, 3});
  return int_ternary<Sad>(d);
}

}  // namespace drywell::sim
