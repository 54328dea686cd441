// Semantics of table/logic.inc: bitwise logic, shifts, comparison and selection.
#include <cmath>

#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/state/payload/compare.h"

namespace drywell::sim {
namespace {

struct And {
  template <class T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T apply(T a, T b) { return a ^ b; }
};
struct Not {
  template <class T> static T apply(T a) { return static_cast<T>(~a); }
};

template <class F>
Effect pred_binary(Warp& w, const DecodedOp& op, LaneMask mask) {
  write_pred(w, op.dst, F::template apply<uint32_t>(read_pred(w, op.pred[0]), read_pred(w, op.pred[1])), mask);
  return Effect::next;
}
Effect pred_not(Warp& w, const DecodedOp& op, LaneMask mask) {
  write_pred(w, op.dst, ~read_pred(w, op.pred[0]), mask);
  return Effect::next;
}

template <class F>
ExecFn logic2(Decoder& d, DecodedOp& op) {
  if (d.has(isa::Mod::pred)) {
    op.dst = d.dest_pred(*d.operand(0));
    op.pred[0] = d.pred(*d.operand(1));
    op.pred[1] = d.pred(*d.operand(2));
    return pred_binary<F>;
  }
  sources(d, op, {1, 2});
  return int_binary<F>(d);
}

template <class T>
Effect shift_left(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Lane<T>* a = lanes<T>(w, op.src[0]);
  const uint32_t* n = lanes<uint32_t>(w, op.src[1]);
  Lane<T> r[kWarpSize];
  constexpr uint32_t kBits = 8 * sizeof(T);
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = to_lane<T>(n[i] >= kBits ? T{0} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a[i]) << n[i]));
  store_masked(lanes<T>(w, op.dst), r, mask);
  return Effect::next;
}
template <class T>
Effect shift_right(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Lane<T>* a = lanes<T>(w, op.src[0]);
  const uint32_t* n = lanes<uint32_t>(w, op.src[1]);
  Lane<T> r[kWarpSize];
  constexpr uint32_t kBits = 8 * sizeof(T);
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const T v = from_lane<T>(a[i]);
    if constexpr (std::is_signed_v<T>) {
      r[i] = to_lane<T>(static_cast<T>(v >> (n[i] >= kBits ? kBits - 1 : n[i])));
    } else {
      r[i] = to_lane<T>(n[i] >= kBits ? T{0} : static_cast<T>(v >> n[i]));
    }
  }
  store_masked(lanes<T>(w, op.dst), r, mask);
  return Effect::next;
}

using payload::Combine;

template <isa::Mod Cmp, class T>
bool compare(T a, T b) {
  using isa::Mod;
  if constexpr (std::is_floating_point_v<T>) {
    const bool unordered = std::isnan(a) || std::isnan(b);
    if constexpr (Cmp == Mod::eq) return a == b;
    if constexpr (Cmp == Mod::ne) return !unordered && a != b;
    if constexpr (Cmp == Mod::lt) return a < b;
    if constexpr (Cmp == Mod::le) return a <= b;
    if constexpr (Cmp == Mod::gt) return a > b;
    if constexpr (Cmp == Mod::ge) return a >= b;
    if constexpr (Cmp == Mod::equ) return unordered || a == b;
    if constexpr (Cmp == Mod::neu) return unordered || a != b;
    if constexpr (Cmp == Mod::ltu) return unordered || a < b;
    if constexpr (Cmp == Mod::leu) return unordered || a <= b;
    if constexpr (Cmp == Mod::gtu) return unordered || a > b;
    if constexpr (Cmp == Mod::geu) return unordered || a >= b;
    if constexpr (Cmp == Mod::num) return !unordered;
    if constexpr (Cmp == Mod::nan) return unordered;
  } else {
    if constexpr (Cmp == Mod::eq) return a == b;
    if constexpr (Cmp == Mod::ne) return a != b;
    if constexpr (Cmp == Mod::lt || Cmp == Mod::lo) return a < b;
    if constexpr (Cmp == Mod::le || Cmp == Mod::ls) return a <= b;
    if constexpr (Cmp == Mod::gt || Cmp == Mod::hi) return a > b;
    if constexpr (Cmp == Mod::ge || Cmp == Mod::hs) return a >= b;
  }
  return false;
}

template <class T>
T maybe_flush(T v, bool ftz) {
  if constexpr (std::is_same_v<T, float>) {
    if (ftz && std::fpclassify(v) == FP_SUBNORMAL) return std::copysign(0.0f, v);
  }
  return v;
}

template <isa::Mod Cmp, class T>
Effect set_predicate(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Lane<T>* a = lanes<T>(w, op.src[0]);
  const Lane<T>* b = lanes<T>(w, op.src[1]);
  const auto& x = op.as<payload::SetPredicate>();
  LaneMask r = 0;
  const bool ftz = x.ftz;
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    r |= LaneMask{compare<Cmp, T>(maybe_flush(from_lane<T>(a[i]), ftz), maybe_flush(from_lane<T>(b[i]), ftz))} << i;
  }
  const auto combine = [&](LaneMask t) {
    const LaneMask c = read_pred(w, op.pred[0]);
    switch (x.combine) {
      case Combine::and_: return t & c;
      case Combine::or_: return t | c;
      case Combine::xor_: return t ^ c;
      default: return t;
    }
  };
  const LaneMask first = combine(r), second = combine(~r);
  write_pred(w, op.dst, first, mask);
  if (x.has_inverse) write_pred(w, x.inverse, second, mask);
  return Effect::next;
}

template <isa::Mod Cmp>
ExecFn setp_int_of(isa::Mod type) {
  return with_int_type(type, []<class T>() -> ExecFn { return widest_of<T, set_predicate<Cmp, T>>(); });
}

void setp_operands(Decoder& d, DecodedOp& op) {
  const unsigned bits = isa::type_bits(d.mod(isa::Slot::type));
  const isa::Operand& p = *d.operand(0);
  auto& x = op.emplace<payload::SetPredicate>({.ftz = d.has(isa::Mod::ftz)});
  if (p.kind == isa::Operand::Kind::pair) {
    op.dst = d.dest_pred(d.elements(p)[0]);
    x.inverse = d.dest_pred(d.elements(p)[1]);
    x.has_inverse = true;
  } else {
    op.dst = d.dest_pred(p);
  }
  op.src[0] = d.source(*d.operand(1), bits);
  op.src[1] = d.source(*d.operand(2), bits);
  if (d.operand(3) != nullptr) op.pred[0] = d.pred(*d.operand(3));
  const isa::Mod combine = d.mod(isa::Slot::boolop);
  x.combine = combine == isa::Mod::and_   ? Combine::and_
              : combine == isa::Mod::or_  ? Combine::or_
              : combine == isa::Mod::xor_ ? Combine::xor_
                                          : Combine::none;
}

template <class T>
ExecFn setp_float_of(isa::Mod cmp) {
  using isa::Mod;
  switch (cmp) {
    case Mod::eq: return widest<set_predicate<Mod::eq, T>>();
    case Mod::ne: return widest<set_predicate<Mod::ne, T>>();
    case Mod::lt: return widest<set_predicate<Mod::lt, T>>();
    case Mod::le: return widest<set_predicate<Mod::le, T>>();
    case Mod::gt: return widest<set_predicate<Mod::gt, T>>();
    case Mod::ge: return widest<set_predicate<Mod::ge, T>>();
    case Mod::equ: return set_predicate<Mod::equ, T>;
    case Mod::neu: return set_predicate<Mod::neu, T>;
    case Mod::ltu: return set_predicate<Mod::ltu, T>;
    case Mod::leu: return set_predicate<Mod::leu, T>;
    case Mod::gtu: return set_predicate<Mod::gtu, T>;
    case Mod::geu: return set_predicate<Mod::geu, T>;
    case Mod::num: return set_predicate<Mod::num, T>;
    default: return set_predicate<Mod::nan, T>;
  }
}

template <class L>
Effect select(Warp& w, const DecodedOp& op, LaneMask mask) {
  const L* a = lanes<L>(w, op.src[0]);
  const L* b = lanes<L>(w, op.src[1]);
  const LaneMask c = read_pred(w, op.pred[0]);
  L r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) r[i] = ((c >> i) & 1) != 0 ? a[i] : b[i];
  store_masked(lanes<L>(w, op.dst), r, mask);
  return Effect::next;
}

}  // namespace

template <> ExecFn bind<isa::row::and_>(Decoder& d, DecodedOp& op) { return logic2<And>(d, op); }
template <> ExecFn bind<isa::row::or_>(Decoder& d, DecodedOp& op) { return logic2<Or>(d, op); }
template <> ExecFn bind<isa::row::xor_>(Decoder& d, DecodedOp& op) { return logic2<Xor>(d, op); }
template <> ExecFn bind<isa::row::not_>(Decoder& d, DecodedOp& op) {
  if (d.has(isa::Mod::pred)) {
    op.dst = d.dest_pred(*d.operand(0));
    op.pred[0] = d.pred(*d.operand(1));
    return pred_not;
  }
  sources(d, op, {1});
  return with_int_type(d.mod(isa::Slot::type), []<class T>() -> ExecFn { return widest_of<T, unary<Not, T>>(); });
}
template <> ExecFn bind<isa::row::shl>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  op.src[1] = d.source(*d.operand(2), 32);
  return with_int_type(d.mod(isa::Slot::type), []<class T>() -> ExecFn { return widest_of<T, shift_left<T>>(); });
}
template <> ExecFn bind<isa::row::shr>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1});
  op.src[1] = d.source(*d.operand(2), 32);
  return with_int_type(d.mod(isa::Slot::type), []<class T>() -> ExecFn { return widest_of<T, shift_right<T>>(); });
}
template <> ExecFn bind<isa::row::setp_int>(Decoder& d, DecodedOp& op) {
  using isa::Mod;
  setp_operands(d, op);
  const Mod type = d.mod(isa::Slot::type);
  switch (d.mod(isa::Slot::cmp)) {
    case Mod::eq: return setp_int_of<Mod::eq>(type);
    case Mod::ne: return setp_int_of<Mod::ne>(type);
    case Mod::lt:
    case Mod::lo: return setp_int_of<Mod::lt>(type);
    case Mod::le:
    case Mod::ls: return setp_int_of<Mod::le>(type);
    case Mod::gt:
    case Mod::hi: return setp_int_of<Mod::gt>(type);
    default: return setp_int_of<Mod::ge>(type);
  }
}
template <> ExecFn bind<isa::row::setp_float>(Decoder& d, DecodedOp& op) {
  setp_operands(d, op);
  return d.has(isa::Mod::f64) ? setp_float_of<double>(d.mod(isa::Slot::cmp)) : setp_float_of<float>(d.mod(isa::Slot::cmp));
}
template <> ExecFn bind<isa::row::selp>(Decoder& d, DecodedOp& op) {
  sources(d, op, {1, 2});
  op.pred[0] = d.pred(*d.operand(3));
  return isa::type_bits(d.mod(isa::Slot::type)) == 64 ? widest<select<uint64_t>>() : widest<select<uint32_t>>();
}

}  // namespace drywell::sim
