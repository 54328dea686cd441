// Semantics of table/carry.inc. CC.CF is a predicate of the frame (FunctionCode::carry): one bit per lane. PTX ISA 9.7.2 calls CC.CF
// a borrow for sub and subc; the machine subtracts by adding the complement, so CF is the carry out of that addition: set when there
// was no borrow. This is visible in mixed chains: nvcc's 128-bit division reads the borrow of subc.cc with addc.
#include "sim/state/payload/carry.h"
#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"

namespace drywell::sim {
namespace {

using isa::Mod;

/// The carry input: CC.CF or a constant.
enum class CarryIn : uint8_t {
  clear,
  set,
  flag
};

template <class T>
struct WithCarry {
  T value;
  bool carry;
};
template <class T>
WithCarry<T> add_with_carry(T a, T b, bool in) {
  const T partial = a + b;
  const T sum = partial + T{in};
  return {sum, partial < a || sum < partial};
}

struct AddCarry {
  template <class T> static WithCarry<T> apply(T a, T b, T, bool in) { return add_with_carry(a, b, in); }
};
struct SubCarry {
  template <class T> static WithCarry<T> apply(T a, T b, T, bool in) { return add_with_carry<T>(a, ~b, in); }
};
struct MadLoCarry {
  template <class T> static WithCarry<T> apply(T a, T b, T c, bool in) { return add_with_carry<T>(a * b, c, in); }
};
template <bool Signed>
struct MadHiCarry {
  template <class T>
  static WithCarry<T> apply(T a, T b, T c, bool in) {
    using Narrow = std::conditional_t<Signed, std::make_signed_t<T>, T>;
    using Wide = std::conditional_t<Signed, Int128, UInt128>;
    const Wide product = static_cast<Wide>(static_cast<Narrow>(a)) * static_cast<Wide>(static_cast<Narrow>(b));
    return add_with_carry<T>(static_cast<T>(static_cast<UInt128>(product) >> (8 * sizeof(T))), c, in);
  }
};

template <class F, class T, bool Three>
Effect chained(Warp& w, const DecodedOp& op, LaneMask mask) {
  const T *a = lanes<T>(w, op.src[0]), *b = lanes<T>(w, op.src[1]), *c = Three ? lanes<T>(w, op.src[2]) : a;
  const auto& x = op.as<payload::Carry>();
  const LaneMask in = x.reads ? w.preds[x.flag] : x.otherwise ? ~LaneMask{0}
                                                              : LaneMask{0};
  T r[kWarpSize];
  LaneMask out = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const WithCarry<T> s = F::template apply<T>(a[i], b[i], c[i], (in >> i & 1) != 0);
    r[i] = s.value;
    out |= LaneMask{s.carry} << i;
  }
  store_masked(lanes<T>(w, op.dst), r, mask);
  if (x.writes) write_pred(w, x.flag, out, mask);
  return Effect::next;
}

template <class F, bool Three>
ExecFn bind_chained(Decoder& d, DecodedOp& op, CarryIn in) {
  sources(d, op, {1, 2});
  const bool wide = isa::type_bits(d.mod(isa::Slot::type)) == 64;
  if constexpr (Three) op.src[2] = d.source(*d.operand(3), wide ? 64 : 32);
  op.emplace<payload::Carry>({.flag = d.carry(), .reads = in == CarryIn::flag, .writes = d.has(Mod::cc), .otherwise = in == CarryIn::set});
  return wide ? chained<F, uint64_t, Three> : chained<F, uint32_t, Three>;
}
ExecFn bind_mad(Decoder& d, DecodedOp& op, CarryIn in) {
  if (d.has(Mod::lo)) return bind_chained<MadLoCarry, true>(d, op, in);
  const bool is_signed = isa::is_signed_type(d.mod(isa::Slot::type));
  return is_signed ? bind_chained<MadHiCarry<true>, true>(d, op, in) : bind_chained<MadHiCarry<false>, true>(d, op, in);
}

}  // namespace

template <> ExecFn bind<isa::row::add_cc>(Decoder& d, DecodedOp& op) { return bind_chained<AddCarry, false>(d, op, CarryIn::clear); }
template <> ExecFn bind<isa::row::addc>(Decoder& d, DecodedOp& op) { return bind_chained<AddCarry, false>(d, op, CarryIn::flag); }
template <> ExecFn bind<isa::row::sub_cc>(Decoder& d, DecodedOp& op) { return bind_chained<SubCarry, false>(d, op, CarryIn::set); }
template <> ExecFn bind<isa::row::subc>(Decoder& d, DecodedOp& op) { return bind_chained<SubCarry, false>(d, op, CarryIn::flag); }
template <> ExecFn bind<isa::row::mad_cc>(Decoder& d, DecodedOp& op) { return bind_mad(d, op, CarryIn::clear); }
template <> ExecFn bind<isa::row::madc>(Decoder& d, DecodedOp& op) { return bind_mad(d, op, CarryIn::flag); }

}  // namespace drywell::sim
