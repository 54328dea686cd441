// Semantics of table/atomic.inc. The lanes of an instruction execute one after another, the lowest first; warps and CTAs in the
// driver's order, which for programs with atomics on global memory is that of one host thread (docs/deviations.md), unless all of them commute.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>

#include "drywell/isa/opcode.h"
#include "drywell/sim/numeric/convert_fast.h"
#include "sim/events/hub.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/float_math.h"
#include "sim/exec/lane_window.h"
#include "sim/exec/memory.h"
#include "sim/state/payload/atomic.h"

namespace drywell::sim {
namespace {

// Operations on a value type: compute the new value from the old value and the operands b and c.
struct And {
  template <class T> static T apply(T old, T b, T) { return old & b; }
};
struct Or {
  template <class T> static T apply(T old, T b, T) { return old | b; }
};
struct Xor {
  template <class T> static T apply(T old, T b, T) { return old ^ b; }
};
struct Exchange {
  template <class T> static T apply(T, T b, T) { return b; }
};
struct CompareAndSwap {
  template <class T> static T apply(T old, T b, T c) { return old == b ? c : old; }
};
struct Add {
  template <class T> static T apply(T old, T b, T) { return static_cast<T>(old + b); }
};
struct Increment {
  template <class T> static T apply(T old, T b, T) { return old >= b ? T{0} : static_cast<T>(old + 1); }
};
struct Decrement {
  template <class T> static T apply(T old, T b, T) { return old == 0 || old > b ? b : static_cast<T>(old - 1); }
};
struct Min {
  template <class T> static T apply(T old, T b, T) { return std::min(old, b); }
};
struct Max {
  template <class T> static T apply(T old, T b, T) { return std::max(old, b); }
};

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t as_bits(float v) { return std::bit_cast<uint32_t>(v); }

// Nearest even. In global memory subnormal inputs and results are flushed, in shared memory they are not (PTX ISA 9.7.13.3).
uint32_t add_f32(uint32_t old, uint32_t b, bool flushes) {
  if (flushes) return as_bits(flush(canonical(flush(as_float(old)) + flush(as_float(b)))));
  return as_bits(canonical(as_float(old) + as_float(b)));
}
// A NaN keeps its payload; the operand's NaN has priority over memory's. The L2 leaves a signalling NaN unchanged; in shared memory,
// where the SM adds, the NaN is quieted (H200). Infinities of opposite signs add to a negative NaN.
template <bool Quiets>
struct AddF64 {
  static uint64_t apply(uint64_t old, uint64_t b, uint64_t) {
    for (const uint64_t nan : {b, old}) {
      if (std::isnan(std::bit_cast<double>(nan))) return Quiets ? nan | uint64_t{1} << 51 : nan;
    }
    const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(b);
    return sum != sum ? 0xFFF8000000000000ull : std::bit_cast<uint64_t>(sum);
  }
};

// 16-bit floats are computed in f32; with its 24 bits the second rounding changes no result. Subnormals are kept (.noftz).
struct Half {
  static float widen(uint16_t v) { return as_float(numeric::f16_to_f32(v)); }
  static uint16_t narrow(float v) { return static_cast<uint16_t>(numeric::f32_to_f16_rn(as_bits(v))); }
};
struct Brain {
  static float widen(uint16_t v) { return as_float(numeric::bf16_to_f32(v)); }
  static uint16_t narrow(float v) { return static_cast<uint16_t>(numeric::f32_to_bf16_rn(as_bits(v))); }
};
struct FloatAdd {
  static float apply(float a, float b) { return canonical(a + b); }
};
struct FloatMin {
  static float apply(float a, float b) { return min_max<false, false>(a, b); }
};
struct FloatMax {
  static float apply(float a, float b) { return min_max<true, false>(a, b); }
};
template <class Format, class Op>
struct Narrow {
  static uint16_t one(uint16_t old, uint16_t b) { return Format::narrow(Op::apply(Format::widen(old), Format::widen(b))); }
  static uint16_t apply(uint16_t old, uint16_t b, uint16_t) { return one(old, b); }
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    return one(static_cast<uint16_t>(old), static_cast<uint16_t>(b)) | uint32_t{one(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16))} << 16;
  }
};

struct Values {
  const Src *d, *b, *c;
  static Values of(const Warp& w, const payload::Atomic& x) {
    const Src* s = slots_at(w, x.first_slot);
    return {s, s + x.count, s + 2 * x.count};
  }
};

// One lane after the other: finds the lane that faults.
template <class F>
[[gnu::noinline]] Effect for_each_address(Warp& w, const DecodedOp& op, LaneMask mask, uint32_t bytes, F f) {
  const Space space = op.as<payload::Atomic>().space;
  const Gmem::Allocation* hint = nullptr;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto i = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t address = lane_address(w, op, i);
    uint8_t* p = resolve(w, space, address, bytes, i, hint);
    if (p == nullptr || address % bytes != 0) return access_fault(w, space, address, bytes, i, true);
    f(i, p, address);
  }
  return Effect::next;
}

template <class F>
Effect for_addresses(Warp& w, const DecodedOp& op, LaneMask mask, uint32_t bytes, F f) {
  if (mask == 0) return Effect::next;
  const Space space = op.as<payload::Atomic>().space;
  if (auto* o = w.cta->cluster->launch->observers; o != nullptr) o->memory(w, op, mask, space, bytes, true);
  LaneWindow window = lane_window(w, op, mask, space, bytes);
  if (window.base == nullptr) return for_each_address(w, op, mask, bytes, f);
  for_lanes(mask, [&](uint32_t i) { f(i, window.at(i), window.low + window.offset[i]); });
  return Effect::next;
}

template <class Op, class T>
Effect atomic(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::Atomic>();
  const Values v = Values::of(w, x);
  return for_addresses(w, op, mask, sizeof(T) * x.count, [&](uint32_t i, uint8_t* p, uint64_t) {
    for (uint32_t k = 0; k < x.count; ++k, p += sizeof(T)) {
      T old;
      std::memcpy(&old, p, sizeof(T));
      const T result = Op::apply(old, from_lane<T>(lanes<T>(w, v.b[k])[i]), from_lane<T>(lanes<T>(w, v.c[k])[i]));
      std::memcpy(p, &result, sizeof(T));
      lanes<T>(w, v.d[k].offset)[i] = to_lane<T>(old);
    }
  });
}

// Other host threads may reduce the same word. Where the word stays as it is, nothing is written.
template <class Op, class T>
T reduce_at(uint8_t* p, T b) {
  const std::atomic_ref<T> word(*reinterpret_cast<T*>(p));
  if constexpr (std::is_same_v<Op, Add>) return word.fetch_add(b, std::memory_order_acq_rel);
  T old = word.load(std::memory_order_acquire);
  for (T next = Op::apply(old, b, b); next != old; next = Op::apply(old, b, b)) {
    if (word.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_acquire)) break;
  }
  return old;
}

/// An operation that commutes, and whose old value nothing reads.
template <class Op, class T>
Effect reduce(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (!w.cta->cluster->launch->threads) return atomic<Op, T>(w, op, mask);
  const Values v = Values::of(w, op.as<payload::Atomic>());
  return for_addresses(w, op, mask, sizeof(T), [&](uint32_t i, uint8_t* p, uint64_t) {
    lanes<T>(w, v.d[0].offset)[i] = to_lane<T>(reduce_at<Op, T>(p, from_lane<T>(lanes<T>(w, v.b[0])[i])));
  });
}

Effect atomic_add_f32(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::Atomic>();
  const Values v = Values::of(w, x);
  return for_addresses(w, op, mask, 4 * x.count, [&](uint32_t i, uint8_t* p, uint64_t address) {
    const bool flushes = x.space == Space::global || (x.space == Space::generic && !is_shared_generic(address));
    for (uint32_t k = 0; k < x.count; ++k, p += 4) {
      uint32_t old;
      std::memcpy(&old, p, 4);
      const uint32_t result = add_f32(old, lanes<uint32_t>(w, v.b[k])[i], flushes);
      std::memcpy(p, &result, 4);
      lanes<uint32_t>(w, v.d[k].offset)[i] = old;
    }
  });
}

struct Wide {
  uint64_t low, high;
  bool operator==(const Wide&) const = default;
};
Wide wide_lane(const Warp& w, Src s, uint32_t lane) {
  Wide v;
  std::memcpy(&v.low, w.bank[s.bank] + s.offset + 8 * lane, 8);
  std::memcpy(&v.high, w.bank[s.bank] + s.offset + 256 + 8 * lane, 8);
  return v;
}

template <class Op>
Effect atomic_wide(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Values v = Values::of(w, op.as<payload::Atomic>());
  return for_addresses(w, op, mask, 16, [&](uint32_t i, uint8_t* p, uint64_t) {
    Wide old;
    std::memcpy(&old, p, 16);
    const Wide result = Op::apply(old, wide_lane(w, v.b[0], i), wide_lane(w, v.c[0], i));
    std::memcpy(p, &result, 16);
    std::memcpy(w.bank[0] + v.d[0].offset + 8 * i, &old.low, 8);
    std::memcpy(w.bank[0] + v.d[0].offset + 256 + 8 * i, &old.high, 8);
  });
}

template <class Op, class T>
ExecFn ordered_or_not(bool commutes) { return commutes ? reduce<Op, T> : atomic<Op, T>; }

template <class Op>
ExecFn integer(isa::Mod type, bool commutes) {
  switch (type) {
    case isa::Mod::s32: return ordered_or_not<Op, int32_t>(commutes);
    case isa::Mod::s64: return ordered_or_not<Op, int64_t>(commutes);
    case isa::Mod::b64:
    case isa::Mod::u64: return ordered_or_not<Op, uint64_t>(commutes);
    default: return ordered_or_not<Op, uint32_t>(commutes);
  }
}
template <class Op>
ExecFn bits(isa::Mod type, bool commutes = false) { return type == isa::Mod::b64 ? ordered_or_not<Op, uint64_t>(commutes) : ordered_or_not<Op, uint32_t>(commutes); }

template <class Op>
ExecFn narrow(isa::Mod type) {
  switch (type) {
    case isa::Mod::f16: return atomic<Narrow<Half, Op>, uint16_t>;
    case isa::Mod::f16x2: return atomic<Narrow<Half, Op>, uint32_t>;
    case isa::Mod::bf16: return atomic<Narrow<Brain, Op>, uint16_t>;
    default: return atomic<Narrow<Brain, Op>, uint32_t>;
  }
}

bool is_narrow(isa::Mod t) { return t == isa::Mod::f16 || t == isa::Mod::f16x2 || t == isa::Mod::bf16 || t == isa::Mod::bf16x2; }

// In any order the sums of integers, minima, maxima and bits are the same; minima and maxima of 16-bit floats may differ in the signs of zeros.
bool commutes(isa::Mod op, isa::Mod type) {
  constexpr isa::Mod kOps[] = {isa::Mod::and_, isa::Mod::or_, isa::Mod::xor_, isa::Mod::add, isa::Mod::min, isa::Mod::max};
  return !isa::is_float_type(type) && std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

ExecFn choose(isa::Mod op, isa::Mod type, bool shared, bool commutes) {
  switch (op) {
    case isa::Mod::and_: return bits<And>(type, commutes);
    case isa::Mod::or_: return bits<Or>(type, commutes);
    case isa::Mod::xor_: return bits<Xor>(type, commutes);
    case isa::Mod::exch: return type == isa::Mod::b128 ? atomic_wide<Exchange> : bits<Exchange>(type);
    case isa::Mod::cas:
      if (type == isa::Mod::b128) return atomic_wide<CompareAndSwap>;
      return type == isa::Mod::b16 ? atomic<CompareAndSwap, uint16_t> : bits<CompareAndSwap>(type);
    case isa::Mod::inc: return atomic<Increment, uint32_t>;
    case isa::Mod::dec: return atomic<Decrement, uint32_t>;
    case isa::Mod::min: return is_narrow(type) ? narrow<FloatMin>(type) : integer<Min>(type, commutes);
    case isa::Mod::max: return is_narrow(type) ? narrow<FloatMax>(type) : integer<Max>(type, commutes);
    default:
      if (is_narrow(type)) return narrow<FloatAdd>(type);
      if (type == isa::Mod::f64) return shared ? atomic<AddF64<true>, uint64_t> : atomic<AddF64<false>, uint64_t>;
      if (type == isa::Mod::f32) return atomic_add_f32;
      return bits<Add>(type == isa::Mod::u64 ? isa::Mod::b64 : type, commutes);
  }
}

ExecFn bind_atomic(Decoder& d, DecodedOp& op, const isa::Operand* result, const isa::Operand& address, const isa::Operand& b, const isa::Operand* c) {
  const isa::Mod type = d.mod(isa::Slot::type);
  const unsigned width = isa::type_bits(type);
  d.set_address(op, address);
  const uint32_t count = b.kind == isa::Operand::Kind::vec ? b.count : 1;
  const isa::Mod what = d.mod(isa::Slot::op);
  const bool forgotten = result == nullptr || result->kind == isa::Operand::Kind::sink || d.result_is_unread();
  const auto& x = op.emplace<payload::Atomic>({.first_slot = d.next_slot(), .count = count, .space = d.access_space(address), .commutes = forgotten && commutes(what, type)});
  if (result != nullptr && result->kind != isa::Operand::Kind::sink) {
    d.vector(*result, width);
  } else {
    for (uint32_t k = 0; k < x.count; ++k) d.push_slot({d.scratch(), 0});
  }
  d.vector(b, width);
  if (c != nullptr) {
    d.vector(*c, width);
  } else {
    for (uint32_t k = 0; k < x.count; ++k) d.push_slot(d.program().slots[x.first_slot + x.count + k]);
  }
  const bool shared = x.space == Space::shared_cta || x.space == Space::shared_cluster;
  if (!shared && !x.commutes) d.program().ordered_across_ctas = true;
  return choose(what, type, shared, x.commutes);
}

}  // namespace

template <> ExecFn bind<isa::row::atom>(Decoder& d, DecodedOp& op) { return bind_atomic(d, op, d.operand(0), *d.operand(1), *d.operand(2), d.operand(3)); }
template <> ExecFn bind<isa::row::red>(Decoder& d, DecodedOp& op) { return bind_atomic(d, op, nullptr, *d.operand(0), *d.operand(1), nullptr); }

}  // namespace drywell::sim
