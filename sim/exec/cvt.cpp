// Semantics of table/cvt.inc: conversions between integers and scalar floats.
#include <cmath>
#include <limits>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "drywell/sim/numeric/convert.h"
#include "sim/exec/half_math.h"
#include "sim/exec/int_shape.h"
#include "sim/exec/rounded.h"
#include "sim/state/payload/cvt.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Slot;
using numeric::Format;
using numeric::Rounding;
using payload::Conversion;
using payload::IntShape;

Rounding rounding_of(Decoder& d) {
  switch (d.mod(Slot::rnd)) {
    case Mod::rz:
    case Mod::rzi: return Rounding::rz;
    case Mod::rm:
    case Mod::rmi: return Rounding::rm;
    case Mod::rp:
    case Mod::rpi: return Rounding::rp;
    case Mod::rna: return Rounding::rna;
    default: return Rounding::rn;
  }
}
Format format_of(Mod type) {
  return type == Mod::f16    ? Format::f16
         : type == Mod::bf16 ? Format::bf16
         : type == Mod::tf32 ? Format::tf32
                             : Format::f32;
}

// ---- integers

uint64_t read_int(const Warp& w, Src s, uint32_t lane, const IntShape& from) {
  return from.extended(lane_value(w, s, lane, from.register_bits >= 64));
}

template <class D, class S>
Effect int_to_int(Warp& w, const DecodedOp& op, LaneMask mask) {
  map1<D, S>(w, op, mask, [](S v) { return static_cast<D>(v); });
  return Effect::next;
}
Effect int_to_int_general(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Conversion c = op.as<Conversion>();
  const Int128 low = c.to.is_signed ? -(Int128{1} << (c.to.bits - 1)) : Int128{0},
               high = (Int128{1} << (c.to.bits - (c.to.is_signed ? 1 : 0))) - 1;
  uint64_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const uint64_t v = read_int(w, op.src[0], i, c.from);
    const Int128 exact = c.from.is_signed ? Int128{static_cast<int64_t>(v)} : Int128{v};
    r[i] = c.to.extended(c.sat ? static_cast<uint64_t>(exact < low ? low : exact > high ? high
                                                                                        : exact)
                               : v);
  }
  write_ints(w, op, c.to, r, mask);
  return Effect::next;
}

// Without saturation only the width and sign of the source matter, and of the destination the register's width and, if
// the value is extended past the type, the sign.
template <class S>
ExecFn pick_plain(const IntShape& to) {
  const bool extends = to.is_signed && to.register_bits > to.bits && to.bits <= 8 * sizeof(S);
  if (extends || to.register_bits == 128 || (to.bits < 32 && to.register_bits == 64)) return int_to_int_general;
  switch (std::max<unsigned>(to.bits, to.register_bits == 64 ? 64 : 8)) {
    case 8: return int_to_int<uint8_t, S>;
    case 16: return to.is_signed && to.register_bits == 32 ? int_to_int<int32_t, S> : int_to_int<uint16_t, S>;
    case 32: return int_to_int<uint32_t, S>;
    default: return to.bits == 32 ? int_to_int_general : int_to_int<uint64_t, S>;
  }
}

// ---- integer to float

uint64_t magnitude(uint64_t v, bool negative) { return negative ? 0 - v : v; }

double int_to_f64(uint64_t v, bool negative, Rounding mode) {
  const uint64_t m = magnitude(v, negative);
  const int shift = std::max(0, 11 - std::countl_zero(m));  // bits below the 53 that are kept
  const double r = std::ldexp(static_cast<double>(numeric::round_shift(m, shift, mode, negative)), shift);
  return negative ? -r : r;
}

// Saturation to [0, 1] of a result that is an integer.
uint64_t clamp_to_one(uint64_t v, bool negative) { return negative ? 0 : std::min<uint64_t>(v, 1); }

Effect int_to_float_general(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Conversion c = op.as<Conversion>();
  uint64_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    uint64_t v = read_int(w, op.src[0], i, c.from);
    bool negative = c.from.is_signed && static_cast<int64_t>(v) < 0;
    if (c.sat) {
      v = clamp_to_one(v, negative);
      negative = false;
    }
    r[i] = c.f64 ? std::bit_cast<uint64_t>(int_to_f64(v, negative, c.rounding))
                 : numeric::encode(c.format, negative, magnitude(v, negative), 0, c.rounding, false);
  }
  write_ints(w, op, c.to, r, mask);
  return Effect::next;
}
template <class F, class S>
Effect int_to_float_nearest(Warp& w, const DecodedOp& op, LaneMask mask) {
  map1<F, S>(w, op, mask, [](S v) { return static_cast<F>(v); });
  return Effect::next;
}

// ---- float to integer

double round_to_integral(double v, Rounding mode) {
  switch (mode) {
    case Rounding::rz: return std::trunc(v);
    case Rounding::rm: return std::floor(v);
    case Rounding::rp: return std::ceil(v);
    default: return std::nearbyint(v);
  }
}
uint64_t clamp_to_int(double v, const IntShape& to, bool nan_is_top_bit) {
  if (std::isnan(v)) return nan_is_top_bit ? to.extended(uint64_t{1} << (to.bits - 1)) : 0;
  const double end = std::ldexp(1.0, to.bits - (to.is_signed ? 1 : 0));
  if (v >= end) return low_bits(to.bits - (to.is_signed ? 1 : 0));
  if (!to.is_signed) return v <= 0 ? 0 : static_cast<uint64_t>(v);
  return v <= -end ? to.extended(uint64_t{1} << (to.bits - 1))
                   : static_cast<uint64_t>(static_cast<int64_t>(v));
}
template <class Read>
Effect float_to_int(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Conversion c = op.as<Conversion>();
  const bool nan_is_top_bit = c.f64 || c.to.bits == 64;
  const uint32_t stride = c.from.stride();
  uint64_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    auto v = Read::read(w, op.src[0], i * stride);
    if constexpr (std::is_same_v<decltype(v), float>) v = c.ftz ? flush(v) : v;
    r[i] = clamp_to_int(round_to_integral(v, c.rounding), c.to, nan_is_top_bit);
  }
  write_ints(w, op, c.to, r, mask);
  return Effect::next;
}
// cvt.rzi.s32.f32, the most frequent form: 2^31 and above clamp, NaN gives 0.
Effect truncate_to_s32(Warp& w, const DecodedOp& op, LaneMask mask) {
  map1<int32_t, float>(w, op, mask, [](float v) {
    const float low = v > -0x1p31f ? v : -0x1p31f;
    const auto r = static_cast<int32_t>(low < 0x1.FFFFFEp30f ? low : 0x1.FFFFFEp30f);
    return v != v ? 0 : v >= 0x1p31f ? std::numeric_limits<int32_t>::max()
                                     : r;
  });
  return Effect::next;
}

// ---- float to float

/// f16 read as a double: a NaN keeps sign and payload, quieted (H200).
struct F16AsF64 {
  static double read(const Warp& w, Src s, uint32_t i) {
    const uint64_t h = lanes<uint32_t>(w, s)[i] & 0xFFFF;
    if ((h & 0x7FFF) <= 0x7C00) return F16Source::read(w, s, i);
    return std::bit_cast<double>((h & 0x8000) << 48 | uint64_t{0x7FF8} << 48 | (h & 0x3FF) << 42);
  }
};
/// With .ftz a float's NaN is first replaced by the canonical NaN (H200).
struct FlushedF32 {
  static float read(const Warp& w, Src s, uint32_t i) {
    return canonical(flush(Plain<float>::read(w, s, i)));
  }
};
struct F64Source {
  static double read(const Warp& w, Src s, uint32_t i) { return from_lane<double>(lanes<double>(w, s)[i]); }
};

template <class T>
T clamp01(T v) {
  return v > T{0} ? (v < T{1} ? v : T{1}) : T{0};
}

// A float in a wider register has zeros above it (PTX ISA 9.4.1).
template <class L>
void write_floats(Warp& w, const DecodedOp& op, const IntShape& to, const L (&v)[kWarpSize], LaneMask mask) {
  if (!to.is_wide()) return store_masked(reinterpret_cast<L*>(w.bank[0] + op.dst), v, mask);
  uint64_t r[kWarpSize];
  std::copy(std::begin(v), std::end(v), r);
  write_ints(w, op, to, r, mask);
}

/// Read as D's arithmetic type, flush, make integral, saturate, write with Write (NaN rules included).
template <class D, class Read, class Write>
Effect float_to_float(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Conversion c = op.as<Conversion>();
  const uint32_t stride = c.from.stride();
  Lane<D> r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    auto v = Read::read(w, op.src[0], i * stride);
    if constexpr (std::is_same_v<decltype(v), float>) v = c.ftz ? flush(v) : v;
    r[i] = Write::apply(c.sat ? clamp01(v) : v, c);
  }
  write_floats(w, op, c.to, r, mask);
  return Effect::next;
}
// Narrowing a double's NaN keeps sign and upper payload, quieted (H200).
template <unsigned Fraction, unsigned Width>
uint32_t narrow_nan(double v) {
  const auto bits = std::bit_cast<uint64_t>(v);
  constexpr uint32_t kQuiet = ((1u << (Width - 1 - Fraction)) - 1) << Fraction | 1u << (Fraction - 1);
  return static_cast<uint32_t>(bits >> 63) << (Width - 1) | kQuiet |
         static_cast<uint32_t>((bits & low_bits(52)) >> (52 - Fraction));
}
struct ToF32 {  // the value is already a float, or rounds to one
  static uint32_t apply(float v, const Conversion& c) {
    return std::bit_cast<uint32_t>(c.ftz ? canonical(v) : v);
  }
  static uint32_t apply(double v, const Conversion& c) {
    if (std::isnan(v)) return narrow_nan<23, 32>(v);
    const bool flushed = c.ftz && std::fabs(rounded(v * 0x1p64, c.rounding)) <
                                      0x1p-62f;  // subnormal with an unbounded exponent, as rounded.h
    return std::bit_cast<uint32_t>(flushed ? std::copysign(0.0f, static_cast<float>(v))
                                           : rounded(v, c.rounding));
  }
  static float rounded(double v, Rounding mode) {
    return mode == Rounding::rn || !std::isfinite(v) ? static_cast<float>(v) : directed(v, mode);
  }
  static float directed(double v, Rounding mode) {
    const auto bits = std::bit_cast<uint64_t>(v);
    const uint64_t field = bits >> 52 & 0x7FF, fraction = bits & low_bits(52);
    return std::bit_cast<float>(
        numeric::encode(Format::f32, bits >> 63 != 0, fraction | (field != 0 ? uint64_t{1} << 52 : 0),
                        static_cast<int>(field != 0 ? field : 1) - 1075, mode, false));
  }
};
struct ToF64 {
  static uint64_t apply(double v, const Conversion&) { return std::bit_cast<uint64_t>(v); }
};
struct ToHalf {
  static uint32_t apply(float v, const Conversion& c) {
    return numeric::convert({.dst = c.format, .src = Format::f32, .rounding = c.rounding, .satfinite = c.satfinite, .relu = c.relu},
                            std::bit_cast<uint32_t>(v));
  }
  static uint32_t apply(double v, const Conversion& c) {
    if (std::isnan(v)) return c.format == Format::f16 ? narrow_nan<10, 16>(v) : narrow_nan<7, 16>(v);
    return apply(to_float_odd(v), c);
  }
};
template <class T>
T integral(T v, const Conversion& c) {
  return static_cast<T>(round_to_integral(v, c.rounding));
}
template <class Write>
struct Integral {
  static auto apply(auto v, const Conversion& c) { return Write::apply(integral(v, c), c); }
};
struct ToCanonicalF32 {
  static uint32_t apply(float v, const Conversion&) { return std::bit_cast<uint32_t>(canonical(v)); }
};

Conversion& bind_float(Decoder& d, DecodedOp& op) {
  sources(d, op, {1}, Slot::atype);
  Conversion c;
  c.from = shape_of(d, d.mod(Slot::atype), *d.operand(1));
  c.to = shape_of(d, d.mod(Slot::type), *d.operand(0));
  c.rounding = rounding_of(d);
  c.format = format_of(d.mod(Slot::type));
  c.ftz = d.has(Mod::ftz);
  c.sat = d.has(Mod::sat);
  c.satfinite = d.has(Mod::satfinite);
  c.relu = d.has(Mod::relu);
  return op.emplace(c);
}
bool has_wide_register(const Conversion& c) { return c.from.is_wide() || c.to.is_wide(); }
template <class D, class Read, class Write>
ExecFn bind_same(Decoder& d, DecodedOp& op) {
  bind_float(d, op);
  return d.mod(Slot::rnd) == Mod::none ? float_to_float<D, Read, Write>
                                       : float_to_float<D, Read, Integral<Write>>;
}

Effect narrow_f32(Warp& w, const DecodedOp& op, LaneMask mask) {
  uint32_t r[kWarpSize];
  numeric::convert_lanes(op.as<payload::NarrowConversion>().spec, lanes<uint32_t>(w, op.src[0]), r, kWarpSize);
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}
ExecFn bind_narrow(Decoder& d, DecodedOp& op) {
  sources(d, op, {1}, Slot::atype);
  op.emplace<payload::NarrowConversion>({.spec = {.dst = format_of(d.mod(Slot::type)),
                                                  .src = Format::f32,
                                                  .rounding = rounding_of(d),
                                                  .satfinite = d.has(Mod::satfinite),
                                                  .relu = d.has(Mod::relu)}});
  return narrow_f32;
}

struct F16ToF32 {
  template <class T>
  static T apply(T v) {
    return numeric::f16_to_f32(v);
  }
};
struct Bf16ToF32 {
  template <class T>
  static T apply(T v) {
    return numeric::bf16_to_f32(v & 0xFFFF);
  }
};

uint32_t pack(const payload::SaturatingPack& x, uint32_t a, uint32_t b, uint32_t c) {
  const int32_t low = x.is_signed ? -(1 << (x.bits - 1)) : 0, high = (1 << (x.bits - (x.is_signed ? 1 : 0))) - 1;
  const auto one = [&](uint32_t v) { return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(v), low, high)) & static_cast<uint32_t>(low_bits(x.bits)); };
  return (x.bits == 16 ? 0 : c << (2 * x.bits)) | one(a) << x.bits | one(b);
}
Effect pack_saturated(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::SaturatingPack>();
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [&](uint32_t a, uint32_t b, uint32_t c) { return pack(x, a, b, c); });
  return Effect::next;
}
// The result has zeros above it, of signed elements, too (ptxas 13.0).
Effect pack_in_wide_registers(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::SaturatingPack>();
  uint32_t rooms[3][kWarpSize];
  const uint32_t* from[3];
  for (size_t k = 0; k < 3; ++k) from[k] = side_by_side(w, op.src[k], x.from[k], rooms[k]);
  uint64_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = pack(x, from[0][i], from[1][i], from[2][i]);
  write_ints(w, op, x.to, r, mask);
  return Effect::next;
}
ExecFn bind_pack(Decoder& d, DecodedOp& op, size_t third) {
  const Mod type = d.mod(Slot::type);
  auto& x = op.emplace<payload::SaturatingPack>({.bits = isa::type_bits(type), .is_signed = isa::is_signed_type(type)});
  op.dst = d.dest(*d.operand(0));
  x.to = shape_of(d, Mod::b32, *d.operand(0));
  bool wide = x.to.is_wide();
  for (size_t k = 0; k < 3; ++k) {
    const isa::Operand& o = *d.operand(std::min(k + 1, third));
    op.src[k] = d.source(o, 32);
    x.from[k] = shape_of(d, Mod::b32, o);
    wide = wide || x.from[k].is_wide();
  }
  return wide ? pack_in_wide_registers : pack_saturated;
}

}  // namespace

template <>
ExecFn bind<isa::row::cvt_int_int>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), isa::type_bits(d.mod(Slot::atype)));
  Conversion c;
  c.from = shape_of(d, d.mod(Slot::atype), *d.operand(1));
  c.to = shape_of(d, d.mod(Slot::type), *d.operand(0));
  c.sat = d.has(Mod::sat);
  op.emplace(c);
  if (c.sat || c.from.is_wide()) return int_to_int_general;
  return with_int_type(d.mod(Slot::atype), [&]<class S>() -> ExecFn { return pick_plain<S>(c.to); });
}
template <>
ExecFn bind<isa::row::cvt_float_int>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), isa::type_bits(d.mod(Slot::atype)));
  const Mod type = d.mod(Slot::type);
  Conversion c;
  c.from = shape_of(d, d.mod(Slot::atype), *d.operand(1));
  c.to = shape_of(d, type, *d.operand(0));
  c.rounding = rounding_of(d);
  c.format = format_of(type);
  c.f64 = type == Mod::f64;
  c.sat = d.has(Mod::sat);
  op.emplace(c);
  const bool host = c.rounding == Rounding::rn && !c.sat && (type == Mod::f32 || type == Mod::f64) &&
                    !has_wide_register(c);
  if (!host) return int_to_float_general;
  return with_int_type(d.mod(Slot::atype), [&]<class S>() -> ExecFn {
    return c.f64 ? int_to_float_nearest<double, S> : int_to_float_nearest<float, S>;
  });
}
template <>
ExecFn bind<isa::row::cvt_int_float>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  const Mod from = d.mod(Slot::atype);
  op.src[0] = d.source(*d.operand(1), isa::type_bits(from));
  Conversion c;
  c.from = shape_of(d, from, *d.operand(1));
  c.to = shape_of(d, d.mod(Slot::type), *d.operand(0));
  c.rounding = rounding_of(d);
  c.f64 = from == Mod::f64;
  c.ftz = d.has(Mod::ftz);
  op.emplace(c);
  if (from == Mod::f32 && c.rounding == Rounding::rz && d.has(Mod::s32) && c.to.register_bits == 32 && !c.from.is_wide())
    return truncate_to_s32;
  switch (from) {
    case Mod::f16: return float_to_int<F16Source>;
    case Mod::bf16: return float_to_int<Bf16Source>;
    case Mod::f64: return float_to_int<F64Source>;
    default: return float_to_int<Plain<float>>;
  }
}
template <>
ExecFn bind<isa::row::cvt_f32_half>(Decoder& d, DecodedOp& op) {
  const bool f16 = d.mod(Slot::atype) == Mod::f16;
  const Conversion& c = bind_float(d, op);
  if (c.sat || c.ftz || has_wide_register(c))
    return f16 ? float_to_float<float, F16Source, ToF32> : float_to_float<float, Bf16Source, ToF32>;
  return f16 ? unary<F16ToF32, uint32_t> : unary<Bf16ToF32, uint32_t>;
}
template <>
ExecFn bind<isa::row::cvt_f64_float>(Decoder& d, DecodedOp& op) {
  bind_float(d, op);
  switch (d.mod(Slot::atype)) {
    case Mod::f16: return float_to_float<double, F16AsF64, ToF64>;
    case Mod::bf16: return float_to_float<double, Bf16Source, ToF64>;
    default:
      return d.has(Mod::ftz) ? float_to_float<double, FlushedF32, ToF64>
                             : float_to_float<double, Plain<float>, ToF64>;
  }
}
template <>
ExecFn bind<isa::row::cvt_f32_f64>(Decoder& d, DecodedOp& op) {
  bind_float(d, op);
  return float_to_float<float, F64Source, ToF32>;
}
template <>
ExecFn bind<isa::row::cvt_half_f64>(Decoder& d, DecodedOp& op) {
  bind_float(d, op);
  return float_to_float<uint32_t, F64Source, ToHalf>;
}
template <>
ExecFn bind<isa::row::cvt_half_half>(Decoder& d, DecodedOp& op) {
  bind_float(d, op);
  return d.mod(Slot::atype) == Mod::f16 ? float_to_float<uint32_t, F16Source, ToHalf>
                                        : float_to_float<uint32_t, Bf16Source, ToHalf>;
}
template <>
ExecFn bind<isa::row::cvt_half_f32>(Decoder& d, DecodedOp& op) {
  Conversion& c = bind_float(d, op);
  if (!c.ftz && !c.sat && !has_wide_register(c)) return bind_narrow(d, op);
  c.ftz = c.ftz && !d.has(Mod::f16);  // a subnormal still rounds away from zero: it is not flushed (H200)
  return float_to_float<uint32_t, Plain<float>, ToHalf>;
}
template <>
ExecFn bind<isa::row::cvt_tf32_f32>(Decoder& d, DecodedOp& op) {
  return bind_narrow(d, op);
}
template <>
ExecFn bind<isa::row::cvt_f32_f32>(Decoder& d, DecodedOp& op) {
  const bool copies = d.mod(Slot::rnd) == Mod::none && !d.has(Mod::ftz) && !d.has(Mod::sat);  // copies every bit, of NaNs too
  return copies ? bind_same<float, Plain<float>, ToF32>(d, op)
                : bind_same<float, Plain<float>, ToCanonicalF32>(d, op);
}
template <>
ExecFn bind<isa::row::cvt_f64_f64>(Decoder& d, DecodedOp& op) {
  return bind_same<double, F64Source, ToF64>(d, op);
}
template <>
ExecFn bind<isa::row::cvt_f16_f16>(Decoder& d, DecodedOp& op) {
  return bind_same<uint32_t, F16Source, ToHalf>(d, op);
}
template <>
ExecFn bind<isa::row::cvt_bf16_bf16>(Decoder& d, DecodedOp& op) {
  return bind_same<uint32_t, Bf16Source, ToHalf>(d, op);
}
template <>
ExecFn bind<isa::row::cvt_pack_16>(Decoder& d, DecodedOp& op) {
  return bind_pack(d, op, 2);
}
template <>
ExecFn bind<isa::row::cvt_pack_narrow>(Decoder& d, DecodedOp& op) {
  return bind_pack(d, op, 3);
}

}  // namespace drywell::sim
