// Semantics of table/cvt_narrow.inc: pairs and quadruples of narrow floats. The arithmetic is in sim/numeric.
#include "drywell/isa/opcode.h"
#include "drywell/sim/numeric/convert.h"
#include "drywell/sim/numeric/convert_fast.h"
#include "sim/exec/int_shape.h"
#include "sim/state/payload/cvt.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Slot;
using numeric::Format;
using numeric::Rounding;

Format element_format(Mod type) {
  switch (type) {
    case Mod::f16x2: return Format::f16;
    case Mod::bf16x2: return Format::bf16;
    case Mod::e4m3x2:
    case Mod::e4m3x4: return Format::e4m3;
    case Mod::e5m2x2:
    case Mod::e5m2x4: return Format::e5m2;
    case Mod::e2m3x2:
    case Mod::e2m3x4: return Format::e2m3;
    case Mod::e3m2x2:
    case Mod::e3m2x4: return Format::e3m2;
    case Mod::e2m1x2:
    case Mod::e2m1x4: return Format::e2m1;
    case Mod::ue8m0x2: return Format::ue8m0;
    default: return Format::f32;
  }
}
Rounding rounding_of(Mod m) {
  return m == Mod::rz   ? Rounding::rz
         : m == Mod::rp ? Rounding::rp
         : m == Mod::rs ? Rounding::rs
                        : Rounding::rn;
}

payload::NarrowConversion& keep_spec(Decoder& d, DecodedOp& op) {
  return op.emplace<payload::NarrowConversion>({.spec = {.dst = element_format(d.mod(Slot::type)),
                                                         .src = element_format(d.mod(Slot::atype)),
                                                         .rounding = rounding_of(d.mod(Slot::rnd)),
                                                         .satfinite = d.has(Mod::satfinite),
                                                         .relu = d.has(Mod::relu)}});
}
const numeric::ConvertSpec& spec_of(const DecodedOp& op) { return op.as<payload::NarrowConversion>().spec; }

Effect convert_packed(Warp& w, const DecodedOp& op, LaneMask mask) {
  uint32_t r[kWarpSize];
  numeric::convert_packed_lanes(spec_of(op), lanes<uint32_t>(w, op.src[0]), r, kWarpSize);
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}
Effect convert_scaled(Warp& w, const DecodedOp& op, LaneMask mask) {
  uint32_t r[kWarpSize];
  numeric::convert_scaled_lanes(spec_of(op), lanes<uint32_t>(w, op.src[0]), lanes<uint32_t>(w, op.src[1]), r, kWarpSize);
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}
Effect convert_two(Warp& w, const DecodedOp& op, LaneMask mask) {
  uint32_t r[kWarpSize];
  numeric::convert_x2_lanes(spec_of(op), lanes<uint32_t>(w, op.src[0]), lanes<uint32_t>(w, op.src[1]),
                            lanes<uint32_t>(w, op.src[2]), r, kWarpSize);
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}
/// The conversions of epilogues; the function is selected when the instruction is decoded.
template <auto Element, unsigned kBits>
Effect round_two(Warp& w, const DecodedOp& op, LaneMask mask) {
  map2<uint32_t, uint32_t>(w, op, mask, [](uint32_t a, uint32_t b) { return Element(a) << kBits | Element(b); });
  return Effect::next;
}
ExecFn two_of(const numeric::ConvertSpec& s) {
  using namespace numeric;
  if (s.src != Format::f32 || s.rounding != Rounding::rn || s.relu || s.ftz) return convert_two;
  switch (s.dst) {
    case Format::bf16: return s.satfinite ? convert_two : widest<round_two<f32_to_bf16_rn<false>, 16>>();
    case Format::f16: return s.satfinite ? convert_two : widest<round_two<narrow_rn<Format::f16, false>, 16>>();
    case Format::e4m3: return s.satfinite ? widest<round_two<narrow_rn<Format::e4m3, true>, 8>>() : convert_two;
    case Format::e2m1: return s.satfinite ? widest<round_two<narrow_rn<Format::e2m1, true>, 4>>() : convert_two;
    default: return convert_two;
  }
}
Effect convert_four(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Src* v = slots_at(w, op.as<payload::NarrowConversion>().first_slot);
  uint32_t r[kWarpSize];
  numeric::convert_x4_lanes(spec_of(op), lanes<uint32_t>(w, v[0]), lanes<uint32_t>(w, v[1]),
                            lanes<uint32_t>(w, v[2]), lanes<uint32_t>(w, v[3]), lanes<uint32_t>(w, op.src[0]),
                            r, kWarpSize);
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}

// In registers that are wider than their types; the result has zeros above it, as ptxas 13.0 makes them.
Effect convert_wide(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& c = op.as<payload::NarrowConversion>();
  uint32_t a[kWarpSize], b[kWarpSize], r[kWarpSize];
  const uint32_t* const first = side_by_side(w, op.src[0], c.from[0], a);
  if (c.from[1].bits != 0)
    numeric::convert_x2_lanes(c.spec, first, side_by_side(w, op.src[1], c.from[1], b), lanes<uint32_t>(w, op.src[2]), r, kWarpSize);
  else
    numeric::convert_packed_lanes(c.spec, first, r, kWarpSize);
  uint64_t wide[kWarpSize];
  std::copy(std::begin(r), std::end(r), wide);
  write_ints(w, op, c.to, wide, mask);
  return Effect::next;
}
bool has_wide_register(Decoder& d, payload::NarrowConversion& c, bool two) {
  c.to = shape_of(d, d.mod(Slot::type), *d.operand(0));
  c.from[0] = shape_of(d, d.mod(Slot::atype), *d.operand(1));
  c.from[1] = two ? shape_of(d, d.mod(Slot::atype), *d.operand(2)) : payload::IntShape{0};
  return c.to.register_bits >= 64 || c.from[0].is_wide() || (two && c.from[1].is_wide());
}

ExecFn bind_packed(Decoder& d, DecodedOp& op) {
  sources(d, op, {1}, Slot::atype);
  return has_wide_register(d, keep_spec(d, op), false) ? convert_wide : convert_packed;
}
ExecFn bind_scaled(Decoder& d, DecodedOp& op) {
  if (!d.has(Mod::scaled_n2_ue8m0)) return bind_packed(d, op);
  sources(d, op, {1, 2}, Slot::atype);
  keep_spec(d, op);
  return convert_scaled;
}
ExecFn bind_two(Decoder& d, DecodedOp& op, size_t random) {
  sources(d, op, {1, 2, random}, Slot::atype);
  payload::NarrowConversion& c = keep_spec(d, op);
  return has_wide_register(d, c, true) ? convert_wide : two_of(c.spec);
}
ExecFn bind_four(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  keep_spec(d, op).first_slot = d.vector(*d.operand(1), 32);
  op.src[0] = d.source(*d.operand(2), 32);
  return convert_four;
}

}  // namespace

template <>
ExecFn bind<isa::row::cvt_half2_f32>(Decoder& d, DecodedOp& op) {
  return bind_two(d, op, 2);
}
template <>
ExecFn bind<isa::row::cvt_half2_f32_rs>(Decoder& d, DecodedOp& op) {
  return bind_two(d, op, 3);
}
template <>
ExecFn bind<isa::row::cvt_fp8x2_f32>(Decoder& d, DecodedOp& op) {
  return bind_two(d, op, 2);
}
template <>
ExecFn bind<isa::row::cvt_fp6x2_f32>(Decoder& d, DecodedOp& op) {
  return bind_two(d, op, 2);
}
template <>
ExecFn bind<isa::row::cvt_fp4x2_f32>(Decoder& d, DecodedOp& op) {
  return bind_two(d, op, 2);
}
template <>
ExecFn bind<isa::row::cvt_ue8m0x2_f32>(Decoder& d, DecodedOp& op) {
  return bind_two(d, op, 2);
}
template <>
ExecFn bind<isa::row::cvt_fp8x2_f16x2>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_fp4x2_f16x2>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_ue8m0x2_bf16x2>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_f16x2_narrow>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_f16x2_fp6>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_f16x2_fp4>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_bf16x2_ue8m0x2>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_fp6x2_f16x2>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_narrow_bf16x2>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_fp4x2_bf16x2>(Decoder& d, DecodedOp& op) {
  return bind_packed(d, op);
}
template <>
ExecFn bind<isa::row::cvt_bf16x2_narrow>(Decoder& d, DecodedOp& op) {
  return bind_scaled(d, op);
}
template <>
ExecFn bind<isa::row::cvt_bf16x2_fp4>(Decoder& d, DecodedOp& op) {
  return bind_scaled(d, op);
}
template <>
ExecFn bind<isa::row::cvt_fp4x4_rs>(Decoder& d, DecodedOp& op) {
  return bind_four(d, op);
}
template <>
ExecFn bind<isa::row::cvt_narrow_x4_rs>(Decoder& d, DecodedOp& op) {
  return bind_four(d, op);
}

}  // namespace drywell::sim
