// Semantics of table/cvt.inc: conversions. The arithmetic is in sim/numeric.
#include <limits>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/convert_fast.h"
#include "sim/exec/bind_helpers.h"


namespace drywell::sim {
namespace {

using numeric::Format;

template <class D, class S, bool Sat>
Effect int_to_int(Warp& w, const DecodedOp& op, LaneMask mask) {
  map1<D, S>(w, op, mask, [](S v) {
    if constexpr (Sat) {
      using Wide = Int128;
      const Wide x = v;
      const Wide low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
      return static_cast<D>(x < low ? low : x > high ? high : x);
    } else {
      return static_cast<D>(v);
    }
  });
  return Effect::next;
}

// A destination register wider than the type receives the value sign- or zero-extended (PTX ISA 9.4.1).
template <class S, class D>
ExecFn pick_extended(Decoder& d, unsigned reg_bits) {
  const bool sat = d.has(isa::Mod::sat);
  if constexpr (std::is_signed_v<D>) {
    if (!sat && reg_bits > 8 * sizeof(D)) {
      if (reg_bits == 64) return [](Warp& w, const DecodedOp& op, LaneMask m) { map1<int64_t, S>(w, op, m, [](S v) { return int64_t{static_cast<D>(v)}; }); return Effect::next; };
      if (reg_bits == 32) return [](Warp& w, const DecodedOp& op, LaneMask m) { map1<int32_t, S>(w, op, m, [](S v) { return static_cast<int32_t>(static_cast<D>(v)); }); return Effect::next; };
      if (reg_bits == 16) return [](Warp& w, const DecodedOp& op, LaneMask m) { map1<int16_t, S>(w, op, m, [](S v) { return static_cast<int16_t>(static_cast<D>(v)); }); return Effect::next; };
    }
  } else if (!sat && reg_bits == 64 && sizeof(D) < 8) {
    return [](Warp& w, const DecodedOp& op, LaneMask m) { map1<uint64_t, S>(w, op, m, [](S v) { return uint64_t{static_cast<D>(v)}; }); return Effect::next; };
  }
  return sat ? int_to_int<D, S, true> : int_to_int<D, S, false>;
}

// One f32 → packed pair: a in the high part.
template <Format F>
struct Rn { static uint32_t apply(uint32_t x) { return numeric::narrow_rn<F>(x); } };
struct Bf16Rn { static uint32_t apply(uint32_t x) { return numeric::f32_to_bf16_rn(x); } };

template <class C, unsigned Bits>
Effect pack2(Warp& w, const DecodedOp& op, LaneMask mask) {
  map2<uint32_t, uint32_t>(w, op, mask, [](uint32_t a, uint32_t b) { return (C::apply(a) << Bits) | C::apply(b); });
  return Effect::next;
}

// The general route: any rounding, relu and satfinite, through the exact conversion of sim/numeric.
numeric::ConvertSpec spec_of(uint32_t packed) {
  numeric::ConvertSpec s;
  s.src = static_cast<Format>(packed & 0xFF);
  s.dst = static_cast<Format>((packed >> 8) & 0xFF);
  s.rounding = static_cast<numeric::Rounding>((packed >> 16) & 0xF);
  s.satfinite = (packed >> 20) & 1;
  s.relu = (packed >> 21) & 1;
  return s;
}
uint32_t pack_spec(Decoder& d, Format src, Format dst) {
  const isa::Mod r = d.mod(isa::Slot::rnd);
  const auto rounding = r == isa::Mod::rz ? numeric::Rounding::rz : r == isa::Mod::rs ? numeric::Rounding::rs : numeric::Rounding::rn;
  return static_cast<uint32_t>(src) | (static_cast<uint32_t>(dst) << 8) | (static_cast<uint32_t>(rounding) << 16) |
         (uint32_t{d.has(isa::Mod::satfinite)} << 20) | (uint32_t{d.has(isa::Mod::relu)} << 21);
}
Effect convert1_general(Warp& w, const DecodedOp& op, LaneMask mask) {
  const numeric::ConvertSpec s = spec_of(op.extra);
  map1<uint32_t, uint32_t>(w, op, mask, [&](uint32_t a) { return numeric::convert(s, a); });
  return Effect::next;
}
Effect convert2_general(Warp& w, const DecodedOp& op, LaneMask mask) {
  const numeric::ConvertSpec s = spec_of(op.extra);
  map2<uint32_t, uint32_t>(w, op, mask, [&](uint32_t a, uint32_t b) { return numeric::pack_x2(s.dst, numeric::convert(s, a), numeric::convert(s, b)); });
  return Effect::next;
}

Effect cvt_e2m1x4_rs(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Src* v = &w.cta->cluster->launch->program->slots[op.vec];
  const uint32_t *a = lanes<uint32_t>(w, v[0]), *b = lanes<uint32_t>(w, v[1]), *e = lanes<uint32_t>(w, v[2]), *f = lanes<uint32_t>(w, v[3]);
  const uint32_t* bits = lanes<uint32_t>(w, op.src[0]);
  const bool relu = op.extra != 0;
  uint32_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const auto random = numeric::random_bits_x4(Format::e2m1, bits[i]);
    r[i] = numeric::pack_x4(Format::e2m1, numeric::f32_to_e2m1_rs(a[i], random[0]), numeric::f32_to_e2m1_rs(b[i], random[1]),
                            numeric::f32_to_e2m1_rs(e[i], random[2]), numeric::f32_to_e2m1_rs(f[i], random[3]));
    if (relu) {
      for (uint32_t k = 0; k < 16; k += 4) {
        if ((r[i] >> k) & 8) r[i] &= ~(0xFu << k);
      }
    }
  }
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}

struct F16ToF32 { template <class T> static T apply(T v) { return numeric::f16_to_f32(v); } };
struct Bf16ToF32 { template <class T> static T apply(T v) { return numeric::bf16_to_f32(v & 0xFFFF); } };
struct FlushF32 { static uint32_t apply(uint32_t v) { return (v & 0x7F800000u) == 0 ? v & 0x80000000u : v; } };

template <Format F>
Effect expand2(Warp& w, const DecodedOp& op, LaneMask mask) {
  const bool relu = op.extra != 0;
  map1<uint32_t, uint32_t>(w, op, mask, [relu](uint32_t v) {
    const auto one = [relu](uint32_t code) {
      const uint32_t h = F == Format::e4m3 ? numeric::e4m3_to_f16(code) : numeric::e5m2_to_f16(code);
      return relu && (h & 0x8000u) != 0 ? 0u : h;
    };
    return (one((v >> 8) & 0xFF) << 16) | one(v & 0xFF);
  });
  return Effect::next;
}

}  // namespace

template <> ExecFn bind<isa::Opcode::cvt_int_int>(Decoder& d, DecodedOp& op) {
  const isa::Operand& dst = *d.operand(0);
  op.dst = d.dest(dst);
  op.src[0] = d.source(*d.operand(1), isa::type_bits(d.mod(isa::Slot::atype)));
  const unsigned reg_bits = dst.kind == isa::Operand::Kind::reg ? d.register_bits(dst) : 32;
  // A source register with 64-bit lanes read as a narrower type: the low bits (little-endian lanes do not line up).
  const bool wide_source = d.operand(1)->kind == isa::Operand::Kind::reg && d.register_bits(*d.operand(1)) == 64;
  const isa::Mod type = d.mod(isa::Slot::type), atype = d.mod(isa::Slot::atype);
  if (wide_source && isa::type_bits(atype) < 64) throw Unsupported("cvt from a 64-bit register read as a narrower type");
  return with_int_type(atype, [&]<class S>() -> ExecFn {
    return with_int_type(type, [&]<class D>() -> ExecFn { return pick_extended<S, D>(d, reg_bits); });
  });
}
template <> ExecFn bind<isa::Opcode::cvt_f32_half>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1}, isa::Slot::atype);
  return d.mod(isa::Slot::atype) == isa::Mod::f16 ? unary<F16ToF32, uint32_t> : unary<Bf16ToF32, uint32_t>;
}
template <> ExecFn bind<isa::Opcode::cvt_half_f32>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1}, isa::Slot::atype);
  op.extra = pack_spec(d, Format::f32, d.has(isa::Mod::f16) ? Format::f16 : Format::bf16);
  return convert1_general;
}
template <> ExecFn bind<isa::Opcode::cvt_half2_f32>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2}, isa::Slot::atype);
  const bool plain = d.has(isa::Mod::rn) && !d.has(isa::Mod::relu) && !d.has(isa::Mod::satfinite);
  const bool f16 = d.has(isa::Mod::f16x2);
  if (plain) return f16 ? pack2<Rn<Format::f16>, 16> : pack2<Bf16Rn, 16>;
  op.extra = pack_spec(d, Format::f32, f16 ? Format::f16 : Format::bf16);
  return convert2_general;
}
template <> ExecFn bind<isa::Opcode::cvt_fp8x2_f32>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2}, isa::Slot::atype);
  const bool e4m3 = d.has(isa::Mod::e4m3x2);
  op.extra = pack_spec(d, Format::f32, e4m3 ? Format::e4m3 : Format::e5m2);
  if (d.has(isa::Mod::relu)) return convert2_general;
  return e4m3 ? pack2<Rn<Format::e4m3>, 8> : pack2<Rn<Format::e5m2>, 8>;
}
template <> ExecFn bind<isa::Opcode::cvt_fp4x2_f32>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2}, isa::Slot::atype);
  op.extra = pack_spec(d, Format::f32, Format::e2m1);
  return d.has(isa::Mod::relu) ? convert2_general : pack2<Rn<Format::e2m1>, 4>;
}
template <> ExecFn bind<isa::Opcode::cvt_fp4x4_rs>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.vec = d.vector(*d.operand(1), 32);
  op.src[0] = d.source(*d.operand(2), 32);
  op.extra = d.has(isa::Mod::relu) ? 1 : 0;
  return cvt_e2m1x4_rs;
}
template <> ExecFn bind<isa::Opcode::cvt_f16x2_narrow>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  op.extra = d.has(isa::Mod::relu) ? 1 : 0;
  return d.mod(isa::Slot::atype) == isa::Mod::e4m3x2 ? expand2<Format::e4m3> : expand2<Format::e5m2>;
}

}  // namespace drywell::sim
