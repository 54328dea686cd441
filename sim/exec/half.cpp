// Semantics of table/half.inc: f16 and bf16 arithmetic, alone, in pairs and mixed with f32.
#include "sim/exec/half_math.h"

#include "drywell/isa/opcode.h"
#include "sim/exec/rounded.h"
#include "sim/state/payload/half.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Slot;

constexpr uint32_t kOobNan = 0x7FF7;  // of either sign, as a or b: all codes on an H200. TMA fills with it (docs/facts/tma-mbarrier.md §2.4)

// In the format's wider one: products are exact there.
struct AddHalf {
  template <class T>
  static T apply(T a, T b, T) { return add_to_odd(a, b); }
};
struct SubHalf {
  template <class T>
  static T apply(T a, T b, T) { return add_to_odd(a, -b); }
};
struct MulHalf {
  template <class T>
  static T apply(T a, T b, T) { return a * b; }
};
struct FmaHalf {
  template <class T>
  static T apply(T a, T b, T c) { return add_to_odd(a * b, c); }
};

template <class Fmt>
uint32_t finish(typename Fmt::Wide exact, payload::Half mods) {
  const bool tiny = mods.ftz && Fmt::is_subnormal(exact);
  uint32_t r = Fmt::round(tiny ? std::copysign(typename Fmt::Wide{0}, exact) : exact);
  const bool nan = (r & 0x7FFF) > Fmt::kInfinity;
  if (mods.sat) r = nan || (r & 0x8000) != 0 ? 0 : std::min(r, Fmt::kOne);
  if (mods.relu) r = !nan && (r & 0x8000) != 0 ? 0 : r;
  return r;
}
template <class Fmt, class F>
uint32_t compute(uint32_t a, uint32_t b, uint32_t c, payload::Half mods) {
  if (mods.oob && ((a & 0x7FFF) == kOobNan || (b & 0x7FFF) == kOobNan)) return 0;
  const auto in = [mods](uint32_t h) { return Fmt::value(mods.ftz ? Fmt::flush(h) : h); };
  return finish<Fmt>(F::apply(in(a), in(b), in(c)), mods);
}

// Without modifiers, which most instructions are.
template <class Fmt, class F>
uint32_t compute(uint32_t a, uint32_t b, uint32_t c) {
  return Fmt::round(F::apply(Fmt::value(a), Fmt::value(b), Fmt::value(c)));
}

// Two-operand instructions have src[2] == src[1]. Mods: none, or payload::Half.
template <class Fmt, class F, bool Pair, class... Mods>
Effect arith(Warp& w, const DecodedOp& op, LaneMask mask) {
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [... mods = op.as<Mods>()](uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t low = compute<Fmt, F>(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF, mods...);
    return Pair ? compute<Fmt, F>(a >> 16, b >> 16, c >> 16, mods...) << 16 | low : low;
  });
  return Effect::next;
}
template <class Fmt, class F, class... Mods>
ExecFn arith_of(bool pair) {
  return pair ? widest<arith<Fmt, F, true, Mods...>>() : widest<arith<Fmt, F, false, Mods...>>();
}
template <class Fmt, class F>
ExecFn bind_arith(bool pair, payload::Half mods) {
  const bool plain = !mods.ftz && !mods.sat && !mods.relu && !mods.oob;
  return plain ? arith_of<Fmt, F>(pair) : arith_of<Fmt, F, payload::Half>(pair);
}

bool is_pair(Decoder& d) { return d.has(Mod::f16x2) || d.has(Mod::bf16x2); }
bool is_f16(Decoder& d) { return d.has(Mod::f16) || d.has(Mod::f16x2); }

template <class F>
ExecFn bind_half(Decoder& d, DecodedOp& op, size_t operands) {
  sources(d, op, {1, 2, operands});
  const payload::Half mods = op.emplace<payload::Half>({.ftz = d.has(Mod::ftz), .sat = d.has(Mod::sat), .relu = d.has(Mod::relu), .oob = d.has(Mod::oob)});
  return is_f16(d) ? bind_arith<F16Format, F>(is_pair(d), mods) : bind_arith<Bf16Format, F>(is_pair(d), mods);
}

// Changes the sign of one or both halves; .ftz flushes first. A NaN is replaced by the canonical NaN (H200).
template <class Fmt, bool Neg>
uint32_t sign_half(uint32_t h, bool ftz) {
  if (ftz) h = Fmt::flush(h);
  return (h & 0x7FFF) > Fmt::kInfinity ? 0x7FFF : Neg ? h ^ 0x8000
                                                      : h & 0x7FFF;
}
template <class Fmt, bool Neg, bool Pair>
Effect sign(Warp& w, const DecodedOp& op, LaneMask mask) {
  const bool ftz = op.as<payload::Half>().ftz;
  map1<uint32_t, uint32_t>(w, op, mask, [ftz](uint32_t v) {
    const uint32_t low = sign_half<Fmt, Neg>(v & 0xFFFF, ftz);
    return Pair ? sign_half<Fmt, Neg>(v >> 16, ftz) << 16 | low : low;
  });
  return Effect::next;
}
template <bool Neg>
ExecFn bind_sign(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  op.emplace<payload::Half>({.ftz = d.has(Mod::ftz)});
  if (is_f16(d)) return is_pair(d) ? widest<sign<F16Format, Neg, true>>() : widest<sign<F16Format, Neg, false>>();
  return is_pair(d) ? widest<sign<Bf16Format, Neg, true>>() : widest<sign<Bf16Format, Neg, false>>();
}

// Conversion to the wider format keeps order and zeros; the narrow result is one of the operands.
template <class Fmt, bool Max>
uint32_t min_max_half(uint32_t a, uint32_t b, payload::Half mods) {
  if (mods.ftz) {
    a = Fmt::flush(a);
    b = Fmt::flush(b);
  }
  const uint32_t sign_bit = mods.xorsign ? (a ^ b) & 0x8000 : 0;
  if (mods.xorsign) {
    a &= 0x7FFF;
    b &= 0x7FFF;
  }
  const bool a_nan = (a & 0x7FFF) > Fmt::kInfinity, b_nan = (b & 0x7FFF) > Fmt::kInfinity;
  if ((a_nan && b_nan) || (mods.nan && (a_nan || b_nan))) return 0x7FFF;
  const auto key = [](uint32_t h) { return static_cast<int32_t>((h & 0x8000) != 0 ? 0x8000u ^ h ^ ~0u : h); };
  const bool first = b_nan || (!a_nan && (Max ? key(a) > key(b) : key(a) < key(b)));
  return (first ? a : b) | sign_bit;
}
template <class Fmt, bool Max, bool Pair>
Effect min_max_lanes(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto mods = op.as<payload::Half>();
  map2<uint32_t, uint32_t>(w, op, mask, [mods](uint32_t a, uint32_t b) {
    const uint32_t low = min_max_half<Fmt, Max>(a & 0xFFFF, b & 0xFFFF, mods);
    return Pair ? min_max_half<Fmt, Max>(a >> 16, b >> 16, mods) << 16 | low : low;
  });
  return Effect::next;
}
template <bool Max>
ExecFn bind_min_max(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  op.emplace<payload::Half>({.ftz = d.has(Mod::ftz), .nan = d.has(Mod::NaN), .xorsign = d.has(Mod::xorsign)});
  if (is_f16(d)) return is_pair(d) ? widest<min_max_lanes<F16Format, Max, true>>() : widest<min_max_lanes<F16Format, Max, false>>();
  return is_pair(d) ? widest<min_max_lanes<Bf16Format, Max, true>>() : widest<min_max_lanes<Bf16Format, Max, false>>();
}

// The narrow operand comes first, the f32 operand last.
template <class F>
ExecFn bind_mixed2(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), 16);
  op.src[1] = d.source(*d.operand(2), 32);
  return d.mod(Slot::atype) == Mod::f16 ? bind_f32<F, F16Source, Plain<float>>(d, op) : bind_f32<F, Bf16Source, Plain<float>>(d, op);
}

}  // namespace

template <> ExecFn bind<isa::row::add_half>(Decoder& d, DecodedOp& op) { return bind_half<AddHalf>(d, op, 2); }
template <> ExecFn bind<isa::row::sub_half>(Decoder& d, DecodedOp& op) { return bind_half<SubHalf>(d, op, 2); }
template <> ExecFn bind<isa::row::mul_half>(Decoder& d, DecodedOp& op) { return bind_half<MulHalf>(d, op, 2); }
template <> ExecFn bind<isa::row::fma_half>(Decoder& d, DecodedOp& op) { return bind_half<FmaHalf>(d, op, 3); }
template <> ExecFn bind<isa::row::fma_half_oob>(Decoder& d, DecodedOp& op) { return bind_half<FmaHalf>(d, op, 3); }
template <> ExecFn bind<isa::row::neg_half>(Decoder& d, DecodedOp& op) { return bind_sign<true>(d, op); }
template <> ExecFn bind<isa::row::abs_half>(Decoder& d, DecodedOp& op) { return bind_sign<false>(d, op); }
template <> ExecFn bind<isa::row::min_half>(Decoder& d, DecodedOp& op) { return bind_min_max<false>(d, op); }
template <> ExecFn bind<isa::row::max_half>(Decoder& d, DecodedOp& op) { return bind_min_max<true>(d, op); }
template <> ExecFn bind<isa::row::add_f32_half>(Decoder& d, DecodedOp& op) { return bind_mixed2<AddOp>(d, op); }
template <> ExecFn bind<isa::row::sub_f32_half>(Decoder& d, DecodedOp& op) { return bind_mixed2<SubOp>(d, op); }
template <> ExecFn bind<isa::row::fma_f32_half>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  for (size_t k = 0; k < 2; ++k) op.src[k] = d.source(*d.operand(k + 1), 16);
  op.src[2] = d.source(*d.operand(3), 32);
  if (d.mod(Slot::atype) == Mod::f16) return bind_f32<FmaOp, F16Source, F16Source, Plain<float>>(d, op);
  return bind_f32<FmaOp, Bf16Source, Bf16Source, Plain<float>>(d, op);
}

}  // namespace drywell::sim
