#include "sim/engine/reduce.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <type_traits>

#include "drywell/sim/numeric/convert.h"

namespace drywell::sim {
namespace {

using isa::Mod;

// W is the element's word, F::apply(old, operand) its new value.
template <class W, class F>
void reduce(uint8_t* to, const uint8_t* from, size_t bytes) {
  for (size_t i = 0; i + sizeof(W) <= bytes; i += sizeof(W)) {
    W operand;
    __builtin_memcpy(&operand, from + i, sizeof(W));
    std::atomic_ref<W> element(*reinterpret_cast<W*>(to + i));
    W old = element.load(std::memory_order_relaxed);
    while (!element.compare_exchange_weak(old, F::apply(old, operand), std::memory_order_relaxed)) {
    }
  }
}

// ---- integers

struct Add {
  template <class W>
  static W apply(W a, W b) {
    return a + b;
  }
};
struct And {
  template <class W>
  static W apply(W a, W b) {
    return a & b;
  }
};
struct Or {
  template <class W>
  static W apply(W a, W b) {
    return a | b;
  }
};
struct Xor {
  template <class W>
  static W apply(W a, W b) {
    return a ^ b;
  }
};
template <bool Max, bool Signed>
struct Order {
  template <class W>
  static W apply(W a, W b) {
    using T = std::conditional_t<Signed, std::make_signed_t<W>, W>;
    const bool greater = static_cast<T>(a) > static_cast<T>(b);
    return greater == Max ? a : b;
  }
};
// Counters that wrap at the operand.
struct Inc {
  template <class W>
  static W apply(W d, W s) {
    return d >= s ? 0 : d + 1;
  }
};
struct Dec {
  template <class W>
  static W apply(W d, W s) {
    return d == 0 || d > s ? s : d - 1;
  }
};

// ---- floating point

// One addition, rounded to nearest even; every NaN becomes the canonical NaN. 16-bit operands have so few bits that
// rounding to binary32 and then to 16 bits equals one rounding.
template <numeric::Format Format>
struct AddHalf {
  static uint16_t apply(uint16_t a, uint16_t b) {
    const float sum = numeric::to_float(Format, a) + numeric::to_float(Format, b);
    return static_cast<uint16_t>(
        numeric::convert({.dst = Format, .src = numeric::Format::f32}, std::bit_cast<uint32_t>(sum)));
  }
};
struct AddF32 {
  static uint32_t apply(uint32_t a, uint32_t b) {
    const float sum = std::bit_cast<float>(a) + std::bit_cast<float>(b);
    return std::isnan(sum) ? 0x7FFFFFFF : std::bit_cast<uint32_t>(sum);
  }
};
// A NaN operand is returned unchanged; otherwise a NaN in memory is. A NaN that the addition itself produces is FFF8…
// (measured on an H200).
struct AddF64 {
  static bool is_nan(uint64_t v) { return (v & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000; }
  static uint64_t apply(uint64_t a, uint64_t b) {
    if (is_nan(b)) return b;
    if (is_nan(a)) return a;
    const double sum = std::bit_cast<double>(a) + std::bit_cast<double>(b);
    return std::isnan(sum) ? 0xFFF8000000000000 : std::bit_cast<uint64_t>(sum);
  }
};
// With one NaN the result is the other operand, with two it is the canonical NaN; -0 is less than +0.
template <numeric::Format Format, bool Max>
struct OrderHalf {
  static constexpr uint16_t kInfinity = static_cast<uint16_t>(numeric::format_info(Format).infinity());
  static bool is_nan(uint16_t v) { return (v & 0x7FFF) > kInfinity; }
  static int32_t key(uint16_t v) { return (v & 0x8000) != 0 ? -1 - (v & 0x7FFF) : v; }
  static uint16_t apply(uint16_t a, uint16_t b) {
    if (is_nan(a)) return is_nan(b) ? 0x7FFF : b;
    if (is_nan(b)) return a;
    return (key(a) > key(b)) == Max ? a : b;
  }
};

template <numeric::Format Format>
ReduceFn half_function(Mod op) {
  switch (op) {
    case Mod::add: return reduce<uint16_t, AddHalf<Format>>;
    case Mod::min: return reduce<uint16_t, OrderHalf<Format, false>>;
    case Mod::max: return reduce<uint16_t, OrderHalf<Format, true>>;
    default: return nullptr;
  }
}

template <class W, bool Signed>
ReduceFn integer_function(Mod op) {
  switch (op) {
    case Mod::add: return reduce<W, Add>;
    case Mod::min: return reduce<W, Order<false, Signed>>;
    case Mod::max: return reduce<W, Order<true, Signed>>;
    case Mod::inc: return sizeof(W) == 4 && !Signed ? reduce<W, Inc> : nullptr;
    case Mod::dec: return sizeof(W) == 4 && !Signed ? reduce<W, Dec> : nullptr;
    default: return nullptr;
  }
}

template <class W>
ReduceFn bitwise_function(Mod op) {
  switch (op) {
    case Mod::and_: return reduce<W, And>;
    case Mod::or_: return reduce<W, Or>;
    case Mod::xor_: return reduce<W, Xor>;
    default: return nullptr;
  }
}

}  // namespace

ReduceFn reduce_function(Mod op, Mod type) {
  switch (type) {
    case Mod::u32: return integer_function<uint32_t, false>(op);
    case Mod::s32: return integer_function<uint32_t, true>(op);
    case Mod::u64: return integer_function<uint64_t, false>(op);
    case Mod::s64: return integer_function<uint64_t, true>(op);
    case Mod::b32: return bitwise_function<uint32_t>(op);
    case Mod::b64: return bitwise_function<uint64_t>(op);
    case Mod::f16: return half_function<numeric::Format::f16>(op);
    case Mod::bf16: return half_function<numeric::Format::bf16>(op);
    case Mod::f32: return op == Mod::add ? reduce<uint32_t, AddF32> : nullptr;
    case Mod::f64: return op == Mod::add ? reduce<uint64_t, AddF64> : nullptr;
    default: return nullptr;
  }
}

}  // namespace drywell::sim
