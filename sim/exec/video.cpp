// Semantics of table/video.inc (PTX ISA 9.7.17, 9.7.18).
#include <algorithm>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/state/payload/video.h"

namespace drywell::sim {
namespace {

using isa::Mod;
using isa::Slot;
using payload::VideoOperation;
using payload::VideoPart;

/// The low `bits` of v, extended.
int64_t extended(uint64_t v, unsigned bits, bool is_signed) {
  const uint64_t top = v << (64 - bits);
  return is_signed ? static_cast<int64_t>(top) >> (64 - bits) : static_cast<int64_t>(top >> (64 - bits));
}
int64_t part_of(uint32_t v, VideoPart p) { return extended(v >> p.shift, p.bits, p.is_signed); }

template <class T>
T clamped(T v, unsigned bits, bool is_signed) {
  const T least = is_signed ? -(T{1} << (bits - 1)) : T{0}, most = (T{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(v, least, most);
}

int64_t result_of(VideoOperation operation, int64_t a, int64_t b) {
  switch (operation) {
    case VideoOperation::sum: return a + b;
    case VideoOperation::difference: return a - b;
    case VideoOperation::average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoOperation::distance: return std::max(a - b, b - a);
    case VideoOperation::least: return std::min(a, b);
    case VideoOperation::greatest: return std::max(a, b);
    case VideoOperation::shift_left: return static_cast<int64_t>(static_cast<uint64_t>(a) << b);
    case VideoOperation::shift_right: return a >> b;
    case VideoOperation::equal: return a == b ? 1 : 0;
    case VideoOperation::unequal: return a != b ? 1 : 0;
    case VideoOperation::less: return a < b ? 1 : 0;
    case VideoOperation::less_equal: return a <= b ? 1 : 0;
    case VideoOperation::greater: return a > b ? 1 : 0;
    case VideoOperation::greater_equal: return a >= b ? 1 : 0;
  }
  return 0;
}

VideoOperation comparison(const Decoder& d) {
  switch (d.mod(Slot::cmp)) {
    case Mod::eq: return VideoOperation::equal;
    case Mod::ne: return VideoOperation::unequal;
    case Mod::lt: return VideoOperation::less;
    case Mod::le: return VideoOperation::less_equal;
    case Mod::gt: return VideoOperation::greater;
    default: return VideoOperation::greater_equal;
  }
}

// ---- scalar

// The intermediate result has 34 bits, and its sign is the destination's: a difference below zero is large where the result is unsigned.
constexpr unsigned kIntermediate = 34;

uint32_t combined(const payload::ScalarVideo& x, int64_t r, uint32_t c) {
  using Second = payload::ScalarVideo::Second;
  const int64_t third = extended(c, 32, x.result.is_signed), first = extended(static_cast<uint64_t>(r), kIntermediate, x.result.is_signed);
  switch (x.second) {
    case Second::none: return static_cast<uint32_t>(r);
    case Second::add: return static_cast<uint32_t>(r) + c;
    case Second::min: return static_cast<uint32_t>(std::min(first, third));
    case Second::max: return static_cast<uint32_t>(std::max(first, third));
  }
  return 0;
}
uint32_t merged(VideoPart part, uint32_t r, uint32_t c) {
  if (part.bits == 32) return r;
  const uint32_t field = ((1u << part.bits) - 1) << part.shift;
  return (r << part.shift & field) | (c & ~field);
}

uint32_t scalar_video(const payload::ScalarVideo& x, uint32_t a, uint32_t b, uint32_t c) {
  const bool shifts = x.operation == VideoOperation::shift_left || x.operation == VideoOperation::shift_right;
  int64_t second = part_of(b, x.b);
  if (shifts) second = x.wrap ? second & 31 : std::min<int64_t>(second, 32);
  int64_t r = result_of(x.operation, part_of(a, x.a), second);
  if (shifts) r = extended(static_cast<uint64_t>(r), kIntermediate, true);
  if (x.saturate) r = clamped(r, x.result.bits, x.result.is_signed);
  return merged(x.result, combined(x, r, c), c);
}

Effect run_scalar(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto x = op.as<payload::ScalarVideo>();
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [&x](uint32_t a, uint32_t b, uint32_t c) { return scalar_video(x, a, b, c); });
  return Effect::next;
}

VideoPart part(const isa::Operand& o, Mod type) {
  const auto bits = static_cast<uint8_t>(o.part.whole() ? 32 : o.part.unit == isa::Subword::Unit::half ? 16
                                                                                                       : 8);
  return {static_cast<uint8_t>(bits * o.part.element(0)), bits, type == Mod::s32};
}
payload::ScalarVideo::Second second_operation(const Decoder& d) {
  using Second = payload::ScalarVideo::Second;
  switch (d.mod(Slot::op)) {
    case Mod::add: return Second::add;
    case Mod::min: return Second::min;
    case Mod::max: return Second::max;
    default: return Second::none;
  }
}
ExecFn bind_scalar(Decoder& d, DecodedOp& op, VideoOperation operation) {
  op.dst = d.dest(*d.operand(0));
  for (size_t k = 0; k < 2; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  op.src[2] = d.operand(3) == nullptr ? d.constant(0, 32) : d.source(*d.operand(3), 32);
  op.emplace<payload::ScalarVideo>({.operation = operation, .a = part(*d.operand(1), d.mod(Slot::atype)), .b = part(*d.operand(2), d.mod(Slot::btype)), .result = part(*d.operand(0), d.mod(Slot::type)), .saturate = d.has(Mod::sat), .wrap = d.has(Mod::wrap), .second = second_operation(d)});
  return run_scalar;
}

// ---- products

uint32_t video_product(const payload::VideoProduct& x, uint32_t a, uint32_t b, uint32_t c) {
  const bool is_signed = x.a.is_signed || x.b.is_signed || x.minus_product || x.minus_c;
  const Int128 product = Int128{part_of(a, x.a)} * part_of(b, x.b), third = extended(c, 32, is_signed);
  const Int128 sum = (x.minus_product ? -product : product) + (x.minus_c ? -third : third) + (x.plus_one ? 1 : 0);
  const Int128 r = sum >> x.shift;
  return static_cast<uint32_t>(x.saturate ? clamped(r, 32, is_signed) : r);
}
Effect run_product(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto x = op.as<payload::VideoProduct>();
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [&x](uint32_t a, uint32_t b, uint32_t c) { return video_product(x, a, b, c); });
  return Effect::next;
}

// ---- vectors

uint32_t vector_video(const payload::VectorVideo& x, uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t pair = uint64_t{b} << 32 | a;
  const uint32_t low = (1u << x.bits) - 1;
  uint32_t word = 0, sum = c;
  for (unsigned k = 0; k < 32u / x.bits; ++k) {
    const bool chosen = (x.mask >> k & 1) != 0;
    int64_t r = result_of(x.operation, extended(pair >> x.a[k], x.bits, x.a_signed), extended(pair >> x.b[k], x.bits, x.b_signed));
    if (x.saturate) r = clamped(r, x.bits, x.result_signed);
    const unsigned at = k * x.bits;
    word |= ((chosen ? static_cast<uint32_t>(r) : c >> at) & low) << at;
    if (chosen) sum += static_cast<uint32_t>(r);
  }
  return x.add_up ? sum : word;
}
Effect run_vector(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto x = op.as<payload::VectorVideo>();
  map3<uint32_t, uint32_t, uint32_t>(w, op, mask, [&x](uint32_t a, uint32_t b, uint32_t c) { return vector_video(x, a, b, c); });
  return Effect::next;
}

// Without a selector, a's elements are the low ones of the pair b:a and b's the high ones.
std::array<uint8_t, 4> places(const isa::Operand& o, unsigned bits, unsigned first) {
  std::array<uint8_t, 4> at{};
  for (unsigned k = 0; k < 32 / bits; ++k) at[k] = static_cast<uint8_t>(bits * (o.part.whole() ? first + k : o.part.element(k)));
  return at;
}
uint8_t mask_of(const isa::Operand& o) {
  uint8_t mask = o.part.whole() ? 0xF : 0;
  for (unsigned k = 0; k < o.part.count; ++k) mask |= static_cast<uint8_t>(1u << o.part.element(k));
  return mask;
}
ExecFn bind_vector(Decoder& d, DecodedOp& op, unsigned bits, VideoOperation operation) {
  op.dst = d.dest(*d.operand(0));
  for (size_t k = 0; k < 3; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  const auto is_signed = [&](Slot s) { return d.mod(s) == Mod::s32; };
  op.emplace<payload::VectorVideo>({.operation = operation, .bits = static_cast<uint8_t>(bits), .mask = mask_of(*d.operand(0)), .a = places(*d.operand(1), bits, 0), .b = places(*d.operand(2), bits, 32 / bits), .a_signed = is_signed(Slot::atype), .b_signed = is_signed(Slot::btype), .result_signed = is_signed(Slot::type), .saturate = d.has(Mod::sat), .add_up = d.has(Mod::add)});
  return run_vector;
}

}  // namespace

template <>
ExecFn bind<isa::row::vadd>(Decoder& d, DecodedOp& op) { return bind_scalar(d, op, VideoOperation::sum); }
template <>
ExecFn bind<isa::row::vsub>(Decoder& d, DecodedOp& op) { return bind_scalar(d, op, VideoOperation::difference); }
template <>
ExecFn bind<isa::row::vabsdiff>(Decoder& d, DecodedOp& op) { return bind_scalar(d, op, VideoOperation::distance); }
template <>
ExecFn bind<isa::row::vmin>(Decoder& d, DecodedOp& op) { return bind_scalar(d, op, VideoOperation::least); }
template <>
ExecFn bind<isa::row::vmax>(Decoder& d, DecodedOp& op) { return bind_scalar(d, op, VideoOperation::greatest); }
template <>
ExecFn bind<isa::row::vshl>(Decoder& d, DecodedOp& op) { return bind_scalar(d, op, VideoOperation::shift_left); }
template <>
ExecFn bind<isa::row::vshr>(Decoder& d, DecodedOp& op) { return bind_scalar(d, op, VideoOperation::shift_right); }
template <>
ExecFn bind<isa::row::vset>(Decoder& d, DecodedOp& op) { return bind_scalar(d, op, comparison(d)); }
template <>
ExecFn bind<isa::row::vmad>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  for (size_t k = 0; k < 3; ++k) op.src[k] = d.source(*d.operand(k + 1), 32);
  op.emplace<payload::VideoProduct>({.a = part(*d.operand(1), d.mod(Slot::atype)), .b = part(*d.operand(2), d.mod(Slot::btype)), .minus_product = d.operand(1)->minus != d.operand(2)->minus, .minus_c = d.operand(3)->minus, .plus_one = d.has(Mod::po), .saturate = d.has(Mod::sat), .shift = static_cast<uint8_t>(d.has(Mod::shr7) ? 7 : d.has(Mod::shr15) ? 15
                                                                                                                                                                                                                                                                                                                                                              : 0)});
  return run_product;
}
template <>
ExecFn bind<isa::row::vadd2>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 16, VideoOperation::sum); }
template <>
ExecFn bind<isa::row::vsub2>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 16, VideoOperation::difference); }
template <>
ExecFn bind<isa::row::vavrg2>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 16, VideoOperation::average); }
template <>
ExecFn bind<isa::row::vabsdiff2>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 16, VideoOperation::distance); }
template <>
ExecFn bind<isa::row::vmin2>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 16, VideoOperation::least); }
template <>
ExecFn bind<isa::row::vmax2>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 16, VideoOperation::greatest); }
template <>
ExecFn bind<isa::row::vset2>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 16, comparison(d)); }
template <>
ExecFn bind<isa::row::vadd4>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 8, VideoOperation::sum); }
template <>
ExecFn bind<isa::row::vsub4>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 8, VideoOperation::difference); }
template <>
ExecFn bind<isa::row::vavrg4>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 8, VideoOperation::average); }
template <>
ExecFn bind<isa::row::vabsdiff4>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 8, VideoOperation::distance); }
template <>
ExecFn bind<isa::row::vmin4>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 8, VideoOperation::least); }
template <>
ExecFn bind<isa::row::vmax4>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 8, VideoOperation::greatest); }
template <>
ExecFn bind<isa::row::vset4>(Decoder& d, DecodedOp& op) { return bind_vector(d, op, 8, comparison(d)); }

}  // namespace drywell::sim
