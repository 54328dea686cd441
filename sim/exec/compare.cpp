// Semantics of table/compare.inc: set, setp of halves, slct, testp, isspacep. Comparisons here are chosen at run time: they
// are rare, and the speed of setp of 32- and 64-bit types (logic.cpp) matters more.
#include <cmath>

#include "drywell/isa/opcode.h"
#include "drywell/sim/numeric/convert_fast.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/float_math.h"
#include "sim/state/payload/compare.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Slot;

// A comparison is the set of relations it accepts.
constexpr uint32_t kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8;
uint32_t accepted(Mod cmp) {
  switch (cmp) {
    case Mod::eq: return kEqual;
    case Mod::ne: return kLess | kGreater;
    case Mod::lt:
    case Mod::lo: return kLess;
    case Mod::le:
    case Mod::ls: return kLess | kEqual;
    case Mod::gt:
    case Mod::hi: return kGreater;
    case Mod::ge:
    case Mod::hs: return kGreater | kEqual;
    case Mod::equ: return kEqual | kUnordered;
    case Mod::neu: return kLess | kGreater | kUnordered;
    case Mod::ltu: return kLess | kUnordered;
    case Mod::leu: return kLess | kEqual | kUnordered;
    case Mod::gtu: return kGreater | kUnordered;
    case Mod::geu: return kGreater | kEqual | kUnordered;
    case Mod::num: return kLess | kEqual | kGreater;
    default: return kUnordered;  // nan
  }
}
template <class T>
uint32_t relation(T a, T b) {
  if (a < b) return kLess;
  if (a > b) return kGreater;
  return a == b ? kEqual : kUnordered;
}

using payload::Combine;
using payload::Comparison;

LaneMask combine(const Warp& w, PredSrc with, Combine how, LaneMask t) {
  const LaneMask c = read_pred(w, with);
  switch (how) {
    case Combine::and_: return t & c;
    case Combine::or_: return t | c;
    case Combine::xor_: return t ^ c;
    default: return t;
  }
}
Comparison& bind_comparison(Decoder& d, DecodedOp& op, unsigned bits) {
  op.src[0] = d.source(*d.operand(1), bits);
  op.src[1] = d.source(*d.operand(2), bits);
  const Mod b = d.mod(Slot::boolop);
  const Combine c = b == Mod::and_ ? Combine::and_ : b == Mod::or_ ? Combine::or_
                                                 : b == Mod::xor_  ? Combine::xor_
                                                                   : Combine::none;
  if (d.operand(3) != nullptr) op.pred[0] = d.pred(*d.operand(3));
  return op.emplace<Comparison>({.accepted = accepted(d.mod(Slot::cmp)), .combine = c, .ftz = d.has(Mod::ftz)});
}

// Conversion of a lane to a number; Shift selects the upper half of a pair.
template <class T>
struct Scalar {
  using Word = T;
  static T value(Lane<T> v, bool ftz) {
    if constexpr (std::is_same_v<T, float>) {
      return ftz ? flush(from_lane<T>(v)) : from_lane<T>(v);
    } else {
      return from_lane<T>(v);
    }
  }
};
template <unsigned Shift>
struct F16 {
  using Word = uint32_t;
  static float value(uint32_t v, bool ftz) {
    const uint32_t h = v >> Shift & 0xFFFF;
    return std::bit_cast<float>(numeric::f16_to_f32(ftz && (h & 0x7C00) == 0 ? h & 0x8000 : h));
  }
};
template <unsigned Shift>
struct Bf16 {
  using Word = uint32_t;
  static float value(uint32_t v, bool) { return std::bit_cast<float>(numeric::bf16_to_f32(v >> Shift & 0xFFFF)); }
};

template <class Read>
LaneMask compare(const Warp& w, const DecodedOp& op) {
  const auto *a = lanes<typename Read::Word>(w, op.src[0]), *b = lanes<typename Read::Word>(w, op.src[1]);
  const auto x = op.as<Comparison>();
  LaneMask r = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) r |= LaneMask{(relation(Read::value(a[i], x.ftz), Read::value(b[i], x.ftz)) & x.accepted) != 0} << i;
  return combine(w, op.pred[0], x.combine, r);
}

template <class Read>
Effect set_half_predicate(Warp& w, const DecodedOp& op, LaneMask mask) {
  write_pred(w, op.dst, compare<Read>(w, op), mask);
  return Effect::next;
}
template <template <unsigned> class Half>
Effect set_half2_predicates(Warp& w, const DecodedOp& op, LaneMask mask) {
  const LaneMask low = compare<Half<0>>(w, op), high = compare<Half<16>>(w, op);
  write_pred(w, op.dst, low, mask);
  write_pred(w, op.as<Comparison>().high, high, mask);
  return Effect::next;
}

// set: the representation of true in the destination type.
uint32_t true_word(Mod type) {
  switch (type) {
    case Mod::f32: return 0x3F800000;
    case Mod::f16: return 0x3C00;
    case Mod::bf16: return 0x3F80;
    case Mod::f16x2: return 0x3C003C00;
    case Mod::bf16x2: return 0x3F803F80;
    case Mod::u16:
    case Mod::s16: return 0xFFFF;
    default: return 0xFFFFFFFF;
  }
}
template <class Read>
Effect set_word(Warp& w, const DecodedOp& op, LaneMask mask) {
  const LaneMask t = compare<Read>(w, op);
  const uint32_t word = op.as<Comparison>().true_word;
  uint32_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = (t >> i & 1) != 0 ? word : 0;
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}
template <template <unsigned> class Half>
Effect set_word2(Warp& w, const DecodedOp& op, LaneMask mask) {
  const LaneMask low = compare<Half<0>>(w, op), high = compare<Half<16>>(w, op);
  const uint32_t word = op.as<Comparison>().true_word;
  uint32_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    r[i] = ((low >> i & 1) != 0 ? word & 0xFFFF : 0) | ((high >> i & 1) != 0 ? word & 0xFFFF0000 : 0);
  }
  store_masked(lanes<uint32_t>(w, op.dst), r, mask);
  return Effect::next;
}
void bind_set(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  bind_comparison(d, op, isa::type_bits(d.mod(Slot::stype))).true_word = true_word(d.mod(Slot::type));
}

// src[2]: the tested value, an integer or a float.
template <class L, bool Float>
Effect select_by_sign(Warp& w, const DecodedOp& op, LaneMask mask) {
  const L *a = lanes<L>(w, op.src[0]), *b = lanes<L>(w, op.src[1]);
  const uint32_t* c = lanes<uint32_t>(w, op.src[2]);
  const bool ftz = op.as<payload::SelectBySign>().ftz;
  L r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const float f = from_lane<float>(c[i]);
    const bool first = Float ? (ftz ? flush(f) : f) >= 0.0f : static_cast<int32_t>(c[i]) >= 0;
    r[i] = first ? a[i] : b[i];
  }
  store_masked(lanes<L>(w, op.dst), r, mask);
  return Effect::next;
}

template <class T, class F>
Effect classify(Warp& w, const DecodedOp& op, LaneMask mask, F test) {
  const Lane<T>* a = lanes<T>(w, op.src[0]);
  LaneMask r = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) r |= LaneMask{test(std::fpclassify(from_lane<T>(a[i])))} << i;
  write_pred(w, op.dst, r, mask);
  return Effect::next;
}
struct Finite {
  bool operator()(int c) const { return c != FP_NAN && c != FP_INFINITE; }
};
struct Infinite {
  bool operator()(int c) const { return c == FP_INFINITE; }
};
struct Number {
  bool operator()(int c) const { return c != FP_NAN; }
};
struct NotANumber {
  bool operator()(int c) const { return c == FP_NAN; }
};
struct Normal {
  bool operator()(int c) const { return c == FP_NORMAL || c == FP_ZERO; }
};  // PTX ISA 9.7.3.1: zeros count as normal
struct Subnormal {
  bool operator()(int c) const { return c == FP_SUBNORMAL; }
};
template <class Test>
ExecFn bind_classify(Decoder& d, DecodedOp& op) {
  const bool wide = d.has(Mod::f64);
  op.dst = d.dest_pred(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), wide ? 64 : 32);
  if (wide) return [](Warp& w, const DecodedOp& o, LaneMask m) { return classify<double>(w, o, m, Test()); };
  return [](Warp& w, const DecodedOp& o, LaneMask m) { return classify<float>(w, o, m, Test()); };
}

// Kernel parameters are in global memory (PTX ISA 9.7.9.19). .shared::cta accepts only the executing CTA's part of the shared window.
template <bool OwnCta>
Effect in_space(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint64_t* a = lanes<uint64_t>(w, op.src[0]);
  const uint32_t window = op.as<payload::InSpace>().high;
  LaneMask r = 0;
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const uint64_t high = a[i] >> 32;
    const bool outside_global = high == window::kSharedHigh || high == window::kLocalHigh || high == window::kCodeHigh;
    bool here = window == 0 ? !outside_global : high == window;
    if (OwnCta) here = here && shared_rank(static_cast<uint32_t>(a[i])) == w.cta->rank;
    r |= LaneMask{here} << i;
  }
  write_pred(w, op.dst, r, mask);
  return Effect::next;
}

}  // namespace

template <> ExecFn bind<isa::row::setp_half>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest_pred(*d.operand(0));
  bind_comparison(d, op, 16);
  return d.has(Mod::f16) ? set_half_predicate<F16<0>> : set_half_predicate<Bf16<0>>;
}
template <> ExecFn bind<isa::row::setp_half2>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest_pred(d.elements(*d.operand(0))[0]);
  bind_comparison(d, op, 32).high = d.dest_pred(d.elements(*d.operand(0))[1]);
  return d.has(Mod::f16x2) ? set_half2_predicates<F16> : set_half2_predicates<Bf16>;
}
template <> ExecFn bind<isa::row::set_int>(Decoder& d, DecodedOp& op) {
  bind_set(d, op);
  return with_int_type(d.mod(Slot::stype), []<class T>() -> ExecFn { return set_word<Scalar<T>>; });
}
template <> ExecFn bind<isa::row::set_float>(Decoder& d, DecodedOp& op) {
  bind_set(d, op);
  return d.mod(Slot::stype) == Mod::f64 ? set_word<Scalar<double>> : set_word<Scalar<float>>;
}
template <> ExecFn bind<isa::row::set_half>(Decoder& d, DecodedOp& op) {
  bind_set(d, op);
  return d.mod(Slot::stype) == Mod::f16 ? set_word<F16<0>> : set_word<Bf16<0>>;
}
template <> ExecFn bind<isa::row::set_half2>(Decoder& d, DecodedOp& op) {
  bind_set(d, op);
  return d.mod(Slot::stype) == Mod::f16x2 ? set_word2<F16> : set_word2<Bf16>;
}
template <> ExecFn bind<isa::row::slct>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  op.src[2] = d.source(*d.operand(3), 32);
  op.emplace<payload::SelectBySign>({.ftz = d.has(Mod::ftz)});
  const bool wide = isa::type_bits(d.mod(Slot::type)) == 64, by_float = d.mod(Slot::stype) == Mod::f32;
  if (wide) return by_float ? select_by_sign<uint64_t, true> : select_by_sign<uint64_t, false>;
  return by_float ? select_by_sign<uint32_t, true> : select_by_sign<uint32_t, false>;
}
template <> ExecFn bind<isa::row::testp_finite>(Decoder& d, DecodedOp& op) { return bind_classify<Finite>(d, op); }
template <> ExecFn bind<isa::row::testp_infinite>(Decoder& d, DecodedOp& op) { return bind_classify<Infinite>(d, op); }
template <> ExecFn bind<isa::row::testp_number>(Decoder& d, DecodedOp& op) { return bind_classify<Number>(d, op); }
template <> ExecFn bind<isa::row::testp_notanumber>(Decoder& d, DecodedOp& op) { return bind_classify<NotANumber>(d, op); }
template <> ExecFn bind<isa::row::testp_normal>(Decoder& d, DecodedOp& op) { return bind_classify<Normal>(d, op); }
template <> ExecFn bind<isa::row::testp_subnormal>(Decoder& d, DecodedOp& op) { return bind_classify<Subnormal>(d, op); }
template <> ExecFn bind<isa::row::isspacep>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest_pred(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), 64);
  uint32_t& high = op.emplace<payload::InSpace>().high;
  switch (d.mod(Slot::space)) {
    case Mod::shared:
    case Mod::shared_cta: high = window::kSharedHigh; return in_space<true>;
    case Mod::shared_cluster: high = window::kSharedHigh; break;
    case Mod::local: high = window::kLocalHigh; break;
    case Mod::param:
    case Mod::param_entry: high = window::kParamHigh; break;
    case Mod::const_: throw Unsupported("isspacep.const: constants lie in global memory here");
    default: break;
  }
  return in_space<false>;
}

}  // namespace drywell::sim
