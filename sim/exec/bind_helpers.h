// Maps the type slot of a row to an instantiation of its lane loop.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "sim/exec/decoder.h"
#include "sim/exec/exec.h"
#include "sim/exec/wide.h"

namespace drywell::sim {

/// Destination from row position 0 and sources from the given positions, all with the width of the type slot.
inline void sources(Decoder& d, DecodedOp& op, std::initializer_list<size_t> positions, isa::Slot type = isa::Slot::type) {
  op.dst = d.dest(*d.operand(0));
  const unsigned bits = isa::type_bits(d.mod(type));
  size_t k = 0;
  for (size_t p : positions) op.src[k++] = d.source(*d.operand(p), bits);
}

template <class F, class T>
Effect unary(Warp& w, const DecodedOp& op, LaneMask mask) {
  map1<T, T>(w, op, mask, [](T a) { return F::template apply<T>(a); });
  return Effect::next;
}
template <class F, class T>
Effect binary(Warp& w, const DecodedOp& op, LaneMask mask) {
  map2<T, T>(w, op, mask, [](T a, T b) { return F::template apply<T>(a, b); });
  return Effect::next;
}
template <class F, class T>
Effect ternary(Warp& w, const DecodedOp& op, LaneMask mask) {
  map3<T, T, T>(w, op, mask, [](T a, T b, T c) { return F::template apply<T>(a, b, c); });
  return Effect::next;
}

/// Calls f.operator()<T>() for the integer type of the type slot; bit types count as unsigned.
template <class F>
ExecFn with_int_type(isa::Mod type, F f) {
  switch (type) {
    case isa::Mod::u8:
    case isa::Mod::b8: return f.template operator()<uint8_t>();
    case isa::Mod::s8: return f.template operator()<int8_t>();
    case isa::Mod::u16:
    case isa::Mod::b16: return f.template operator()<uint16_t>();
    case isa::Mod::s16: return f.template operator()<int16_t>();
    case isa::Mod::u32:
    case isa::Mod::b32: return f.template operator()<uint32_t>();
    case isa::Mod::s32: return f.template operator()<int32_t>();
    case isa::Mod::u64:
    case isa::Mod::b64: return f.template operator()<uint64_t>();
    case isa::Mod::s64: return f.template operator()<int64_t>();
    default: throw InternalError(std::string("no integer lane type for .") + std::string(isa::mod_text(type)));
  }
}

/// Loops spend their time on full registers, so only these types get wide versions.
template <class T, ExecFn Fn>
ExecFn widest_of() {
  if constexpr (sizeof(T) >= 4) return widest<Fn>();
  return Fn;
}

template <class F>
ExecFn int_binary(Decoder& d) {
  return with_int_type(d.mod(isa::Slot::type), []<class T>() -> ExecFn { return widest_of<T, binary<F, T>>(); });
}
template <class F>
ExecFn int_ternary(Decoder& d) {
  return with_int_type(d.mod(isa::Slot::type), []<class T>() -> ExecFn { return widest_of<T, ternary<F, T>>(); });
}
template <class F>
ExecFn signed_unary(Decoder& d) {
  switch (d.mod(isa::Slot::type)) {
    case isa::Mod::s16: return unary<F, int16_t>;
    case isa::Mod::s64: return unary<F, int64_t>;
    default: return unary<F, int32_t>;
  }
}

}  // namespace drywell::sim
