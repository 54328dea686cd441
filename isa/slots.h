// Named slot specs and operand helpers for the rows.
#pragma once

#include "drywell/isa/spec.h"
#include "drywell/isa/wgmma_shape.h"

namespace drywell::isa::slot {

template <Mod... M>
inline constexpr Mod kMods[] = {M...};

template <Slot S, Mod... M>
constexpr SlotSpec req() { return {S, true, kMods<M...>, sizeof...(M)}; }
template <Slot S, Mod... M>
constexpr SlotSpec opt() { return {S, false, kMods<M...>, sizeof...(M)}; }

// Types.
inline constexpr auto int_type = req<Slot::type, Mod::u16, Mod::u32, Mod::u64, Mod::s16, Mod::s32, Mod::s64>();
inline constexpr auto int_or_x2_type =
    req<Slot::type, Mod::u16, Mod::u32, Mod::u64, Mod::s16, Mod::s32, Mod::s64, Mod::u16x2, Mod::s16x2>();
inline constexpr auto bit_type = req<Slot::type, Mod::pred, Mod::b16, Mod::b32, Mod::b64>();
inline constexpr auto half_type = req<Slot::type, Mod::f16, Mod::f16x2, Mod::bf16, Mod::bf16x2>();
inline constexpr auto mem_type =
    req<Slot::type, Mod::b8, Mod::b16, Mod::b32, Mod::b64, Mod::b128, Mod::u8, Mod::u16, Mod::u32, Mod::u64, Mod::s8,
        Mod::s16, Mod::s32, Mod::s64, Mod::f32, Mod::f64>();
template <Mod... M>
constexpr SlotSpec type() { return req<Slot::type, M...>(); }
template <Mod... M>
constexpr SlotSpec atype() { return req<Slot::atype, M...>(); }

inline constexpr auto word = req<Slot::type, Mod::u32, Mod::s32>();
inline constexpr auto word_a = req<Slot::atype, Mod::u32, Mod::s32>();
inline constexpr auto word_b = req<Slot::btype, Mod::u32, Mod::s32>();

// Arithmetic modes.
inline constexpr auto rnd_ieee = req<Slot::rnd, Mod::rn, Mod::rz, Mod::rm, Mod::rp>();
inline constexpr auto rnd_ieee_opt = opt<Slot::rnd, Mod::rn, Mod::rz, Mod::rm, Mod::rp>();
inline constexpr auto rnd_integral = req<Slot::rnd, Mod::rni, Mod::rzi, Mod::rmi, Mod::rpi>();
inline constexpr auto rnd_integral_opt = opt<Slot::rnd, Mod::rni, Mod::rzi, Mod::rmi, Mod::rpi>();
inline constexpr auto approx = req<Slot::approx, Mod::approx>();
inline constexpr auto ftz = opt<Slot::ftz, Mod::ftz>();
inline constexpr auto sat = opt<Slot::sat, Mod::sat>();
inline constexpr auto satfinite = req<Slot::satfinite, Mod::satfinite>();
inline constexpr auto satfinite_opt = opt<Slot::satfinite, Mod::satfinite>();
inline constexpr auto relu = opt<Slot::relu, Mod::relu>();
inline constexpr auto nan = opt<Slot::nan, Mod::NaN>();

// Comparison.
inline constexpr auto cmp_int =
    req<Slot::cmp, Mod::eq, Mod::ne, Mod::lt, Mod::le, Mod::gt, Mod::ge, Mod::lo, Mod::ls, Mod::hi, Mod::hs>();
inline constexpr auto cmp_order = req<Slot::cmp, Mod::eq, Mod::ne, Mod::lt, Mod::le, Mod::gt, Mod::ge>();
inline constexpr auto cmp_float =
    req<Slot::cmp, Mod::eq, Mod::ne, Mod::lt, Mod::le, Mod::gt, Mod::ge, Mod::equ, Mod::neu, Mod::ltu, Mod::leu, Mod::gtu, Mod::geu,
        Mod::num, Mod::nan>();
inline constexpr auto boolop = opt<Slot::boolop, Mod::and_, Mod::or_, Mod::xor_>();

/// Shapes of wgmma: 32 values of N for each K in `Ks`.
template <unsigned... Ks>
inline constexpr auto kWgmmaShapes = [] {
  std::array<Mod, 32 * sizeof...(Ks)> shapes{};
  size_t count = 0;
  for (auto m = static_cast<uint16_t>(Mod::m64n8k8); m <= static_cast<uint16_t>(Mod::m64n256k64); ++m) {
    if (((wgmma_shape(static_cast<Mod>(m)).k == Ks) || ...)) shapes[count++] = static_cast<Mod>(m);
  }
  return shapes;
}();
template <unsigned... Ks>
inline constexpr SlotSpec wgmma_shape_of = {Slot::shape, true, kWgmmaShapes<Ks...>.data(), kWgmmaShapes<Ks...>.size()};

// Memory.
inline constexpr auto space =
    opt<Slot::space, Mod::global, Mod::shared, Mod::shared_cta, Mod::shared_cluster, Mod::local, Mod::param, Mod::param_entry,
        Mod::param_func, Mod::const_>();
inline constexpr auto atomic_type =
    req<Slot::type, Mod::b16, Mod::b32, Mod::b64, Mod::b128, Mod::u32, Mod::u64, Mod::s32, Mod::s64, Mod::f16, Mod::f16x2, Mod::bf16,
        Mod::bf16x2, Mod::f32, Mod::f64>();
inline constexpr auto shared_any = opt<Slot::space, Mod::shared, Mod::shared_cta, Mod::shared_cluster>();
inline constexpr auto shared_cta = opt<Slot::space, Mod::shared, Mod::shared_cta>();
inline constexpr auto vec = opt<Slot::vec, Mod::v2, Mod::v4, Mod::v8>();
inline constexpr auto sem_ld = opt<Slot::sem, Mod::weak, Mod::relaxed, Mod::acquire, Mod::volatile_>();
inline constexpr auto mmio = opt<Slot::mode, Mod::mmio>();
inline constexpr auto sem_st = opt<Slot::sem, Mod::weak, Mod::relaxed, Mod::release, Mod::volatile_>();
inline constexpr auto sem_rmw = opt<Slot::sem, Mod::relaxed, Mod::acquire, Mod::release, Mod::acq_rel>();
inline constexpr auto scope = opt<Slot::scope, Mod::cta, Mod::cluster, Mod::gpu, Mod::sys>();
inline constexpr auto async_reduction = req<Slot::op, Mod::add, Mod::min, Mod::max, Mod::inc, Mod::dec, Mod::and_, Mod::or_, Mod::xor_>();
inline constexpr auto sync_restrict = req<Slot::mode, Mod::sync_restrict_shared_cta, Mod::sync_restrict_shared_cluster>();
inline constexpr auto l2_hint = opt<Slot::hint, Mod::L2_cache_hint>();

// Control and synchronisation.
inline constexpr auto sync = req<Slot::sync, Mod::sync>();
inline constexpr auto cta_opt = opt<Slot::scope, Mod::cta>();
inline constexpr auto aligned = req<Slot::aligned, Mod::aligned>();
inline constexpr auto aligned_opt = opt<Slot::aligned, Mod::aligned>();
inline constexpr auto uni = opt<Slot::uni, Mod::uni>();
inline constexpr auto cta_group = req<Slot::cta_group, Mod::cta_group_1, Mod::cta_group_2>();
inline constexpr auto cta_group_opt = opt<Slot::cta_group, Mod::cta_group_1, Mod::cta_group_2>();
inline constexpr auto cta_group_1 = req<Slot::cta_group, Mod::cta_group_1>();
inline constexpr auto b32 = req<Slot::type, Mod::b32>();
inline constexpr auto b64 = req<Slot::type, Mod::b64>();

// tcgen05.mma.
inline constexpr auto mma_kind = req<Slot::kind, Mod::kind_f16, Mod::kind_tf32, Mod::kind_f8f6f4, Mod::kind_i8>();
inline constexpr auto mma_scaled_kind = req<Slot::kind, Mod::kind_mxf8f6f4, Mod::kind_mxf4, Mod::kind_mxf4nvf4>();
inline constexpr auto f8f6f4_a = req<Slot::atype, Mod::e4m3, Mod::e5m2, Mod::e3m2, Mod::e2m3, Mod::e2m1>();
inline constexpr auto f8f6f4_b = req<Slot::btype, Mod::e4m3, Mod::e5m2, Mod::e3m2, Mod::e2m3, Mod::e2m1>();
inline constexpr auto mma_sync_scale_vec = opt<Slot::scale_vec, Mod::scale_vec_1X, Mod::scale_vec_2X, Mod::scale_vec_4X>();
inline constexpr auto block_scale = req<Slot::block_scale, Mod::block_scale>();
inline constexpr auto mma_scale_vec =
    opt<Slot::scale_vec, Mod::scale_vec_1X, Mod::scale_vec_2X, Mod::scale_vec_4X, Mod::block16, Mod::block32>();
inline constexpr auto collector_a =
    opt<Slot::collector, Mod::collector_a_fill, Mod::collector_a_use, Mod::collector_a_lastuse, Mod::collector_a_discard>();
inline constexpr auto collector_b =
    opt<Slot::collector, Mod::collector_b0_fill, Mod::collector_b0_use, Mod::collector_b0_lastuse, Mod::collector_b0_discard,
        Mod::collector_b1_fill, Mod::collector_b1_use, Mod::collector_b1_lastuse, Mod::collector_b1_discard,
        Mod::collector_b2_fill, Mod::collector_b2_use, Mod::collector_b2_lastuse, Mod::collector_b2_discard,
        Mod::collector_b3_fill, Mod::collector_b3_use, Mod::collector_b3_lastuse, Mod::collector_b3_discard>();

}  // namespace drywell::isa::slot

namespace drywell::isa::opd {

constexpr TypeRule any() { return {}; }
constexpr TypeRule fixed(Mod m, bool loose = false) { return {TypeRule::From::fixed, m, Slot::type, loose}; }
constexpr TypeRule of(Slot s = Slot::type, bool loose = false) { return {TypeRule::From::slot, Mod::none, s, loose}; }
constexpr TypeRule wide(Slot s = Slot::type) { return {TypeRule::From::slot_wide, Mod::none, s, false}; }

inline constexpr TypeRule kT = of();
inline constexpr TypeRule kLoose = of(Slot::type, true);
inline constexpr TypeRule kPred = fixed(Mod::pred);
inline constexpr TypeRule kB16 = fixed(Mod::b16);
inline constexpr TypeRule kB32 = fixed(Mod::b32);
inline constexpr TypeRule kB64 = fixed(Mod::b64);
inline constexpr TypeRule kB128 = fixed(Mod::b128);

constexpr OperandSpec dst(const char* name, TypeRule t = kT) { return {name, Access::write, kReg, t}; }
constexpr OperandSpec dst_vec(const char* name, TypeRule t = kT) { return {name, Access::write, kReg | kVec, t}; }
constexpr OperandSpec src(const char* name, TypeRule t = kT) { return {name, Access::read, kReg | kImm, t}; }
/// A source of .pred may be written !p, as ptxas 13.0 takes it.
constexpr OperandSpec bits_src(const char* name) { return {name, Access::read, kReg | kImm | kNegPred, kT}; }
constexpr OperandSpec src_vec(const char* name, TypeRule t = kT) { return {name, Access::read, kReg | kImm | kVec, t}; }
constexpr OperandSpec rw(const char* name, TypeRule t = kT) { return {name, Access::read_write, kReg, t}; }
constexpr OperandSpec reg(const char* name, TypeRule t = kT) { return {name, Access::read, kReg, t}; }
// Video instructions: a register or one of its parts; vectors take no immediates.
constexpr OperandSpec part_dst(const char* name, TypeRule t = kT) { return {name, Access::write, kReg | kPart, t}; }
constexpr OperandSpec part_src(const char* name, TypeRule t) { return {name, Access::read, kReg | kImm | kPart, t}; }
constexpr OperandSpec parts_src(const char* name, TypeRule t) { return {name, Access::read, kReg | kPart, t}; }
constexpr OperandSpec signed_src(OperandSpec o) {
  o.shapes |= kMinus;
  return o;
}
constexpr OperandSpec imm(const char* name) { return {name, Access::read, kImm, any()}; }
constexpr OperandSpec mem(const char* name) { return {name, Access::read, kAddr, any()}; }
constexpr OperandSpec tensor(const char* name) { return {name, Access::read, kTensor, any()}; }
constexpr OperandSpec pred(const char* name) { return {name, Access::read, kReg | kImm | kNegPred, kPred}; }
constexpr OperandSpec dst_pred(const char* name) { return {name, Access::write, kReg, kPred}; }
constexpr OperandSpec label(const char* name) { return {name, Access::read, kLabel, any()}; }
constexpr OperandSpec optional(OperandSpec o) {
  o.optional = true;
  return o;
}
constexpr OperandSpec when(Mod m, OperandSpec o) {
  o.when = m;
  return o;
}
// tcgen05.mma: `a` is an SMEM descriptor or a TMEM address; `disable` is the mask of D's lanes that are not
// written; `enable` is the predicate of D as input.
inline constexpr OperandSpec mma_a{"a", Access::read, kReg | kAddr, any()};
inline constexpr OperandSpec mma_disable{"disable", Access::read, kVec, kB32};
inline constexpr OperandSpec mma_enable{"enable", Access::read, kReg | kImm | kNegPred, kPred};
// mma with block scales: four scale codes in a register, and {byte, thread}, the selectors of the codes that count.
constexpr OperandSpec mma_scale(const char* name) { return {name, Access::read, kReg | kVec, any()}; }
constexpr OperandSpec mma_scale_id(const char* name) { return {name, Access::read, kVec, any()}; }
constexpr OperandSpec sinkable(OperandSpec o) {
  o.shapes |= kSink;
  return o;
}

}  // namespace drywell::isa::opd
