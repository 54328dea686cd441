// Semantics of table/cache.inc. Caches change times, not values; the value of a cache policy is opaque to
// the program.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/memory.h"
#include "sim/state/payload/cache.h"

namespace drywell::sim {
namespace {

constexpr uint64_t kLine = 128;

Effect no_effect(Warp&, const DecodedOp&, LaneMask) { return Effect::next; }

// Discarded bytes have no defined value: they are poisoned like new memory, so that a read of them is visible.
template <bool Poison>
Effect line(Warp& w, const DecodedOp& op, LaneMask mask) {
  Effect result = Effect::next;
  const Gmem::Allocation* hint = nullptr;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    const uint64_t address = lane_address(w, op, lane);
    uint8_t* at = w.cta->cluster->launch->gmem->translate(address, kLine, hint);
    if (at == nullptr || !is_aligned(address, kLine)) {
      result = access_fault(w, Space::global, address, kLine, lane, Poison);
    } else if (Poison) {
      std::memset(at, 0xFF, kLine);
    }
  });
  return result;
}

// Bits of a policy on an H200: 1 in the top nibble, then the primary priority (and 1 for a secondary
// evict_first), then the number of sixteenths minus one. For a range only the kind is measured: 8 is added to the priority.
uint64_t priority_code(isa::Mod m) {
  switch (m) {
    case isa::Mod::L2_evict_first: return 2;
    case isa::Mod::L2_evict_last: return 4;
    case isa::Mod::L2_evict_normal: return 6;
    default: return 0;
  }
}
constexpr uint64_t kRange = 8;
uint64_t policy_kind(const Decoder& d, uint64_t range) {
  return uint64_t{1} << 60 | (range | priority_code(d.mod(isa::Slot::l2)) |
                              uint64_t{d.mod(isa::Slot::evict) == isa::Mod::L2_evict_first})
                                 << 56;
}

// src[0]: fraction.
Effect fractional_policy(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint32_t* fraction = lanes<uint32_t>(w, op.src[0]);
  const uint64_t policy = op.as<payload::CachePolicy>().bits;
  uint64_t r[kWarpSize];
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const auto sixteenths =
        static_cast<int64_t>(std::clamp(std::bit_cast<float>(fraction[i]), 0.0625f, 1.0f) * 16);
    r[i] = policy | static_cast<uint64_t>(sixteenths - 1) << 52;
  }
  store_masked(lanes<uint64_t>(w, op.dst), r, mask);
  return Effect::next;
}

Effect copy_policy(Warp& w, const DecodedOp& op, LaneMask mask) {
  map1<uint64_t, uint64_t>(w, op, mask, [&](uint64_t v) { return v; });
  return Effect::next;
}

// A register or a literal.
Src fraction_of(Decoder& d, const isa::Operand* o) {
  if (o == nullptr) return d.constant(std::bit_cast<uint32_t>(1.0f), 32);
  return d.source(*o, 32);
}

}  // namespace

template <>
ExecFn bind<isa::row::prefetch>(Decoder&, DecodedOp&) {
  return no_effect;
}
template <>
ExecFn bind<isa::row::prefetchu>(Decoder&, DecodedOp&) {
  return no_effect;
}
template <>
ExecFn bind<isa::row::applypriority>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  return line<false>;
}
template <>
ExecFn bind<isa::row::discard>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  return line<true>;
}
template <>
ExecFn bind<isa::row::createpolicy_fractional>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.emplace<payload::CachePolicy>({.bits = policy_kind(d, 0)});
  op.src[0] = fraction_of(d, d.operand(1));
  return fractional_policy;
}
template <>
ExecFn bind<isa::row::createpolicy_range>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.constant(policy_kind(d, kRange), 64);
  return copy_policy;
}
template <>
ExecFn bind<isa::row::createpolicy_cvt>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), 64);
  return copy_policy;
}

}  // namespace drywell::sim
