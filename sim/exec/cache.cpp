// Semantics of table/cache.inc. Caches change times, not values; what a program gets for a policy is opaque to it.
#include <fmt/format.h>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/memory.h"

namespace drywell::sim {
namespace {

constexpr uint64_t kLine = 128;

Effect no_effect(Warp&, const DecodedOp&, LaneMask) { return Effect::next; }

// Discarded bytes have no defined value: they are poisoned like new memory, so that reading them shows.
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

// Kinds as in the constants CUTLASS passes for whole policies (facts/tma-mbarrier.md §2.3): normal 10.., first 12F0..,
// last 14F0... Fractions, ranges and second priorities have no published bits: they get places of their own.
uint64_t priority_code(isa::Mod m) {
  switch (m) {
    case isa::Mod::L2_evict_first: return 2;
    case isa::Mod::L2_evict_last: return 4;
    case isa::Mod::L2_evict_unchanged: return 6;
    default: return 0;
  }
}
uint64_t policy_base(const Decoder& d) {
  const uint64_t primary = priority_code(d.mod(isa::Slot::l2));
  return uint64_t{1} << 60 | primary << 56 | (primary != 0 ? uint64_t{0xF} << 52 : 0) | priority_code(d.mod(isa::Slot::evict)) << 40;
}

Effect constant_policy(Warp& w, const DecodedOp& op, LaneMask mask) {
  uint64_t r[kWarpSize];
  for (uint64_t& v : r) v = op.imm;
  store_masked(lanes<uint64_t>(w, op.dst), r, mask);
  return Effect::next;
}

ExecFn bind_policy(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.imm = policy_base(d);
  return constant_policy;
}

}  // namespace

template <> ExecFn bind<isa::Opcode::prefetch>(Decoder&, DecodedOp&) { return no_effect; }
template <> ExecFn bind<isa::Opcode::prefetchu>(Decoder&, DecodedOp&) { return no_effect; }
template <> ExecFn bind<isa::Opcode::applypriority>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  return line<false>;
}
template <> ExecFn bind<isa::Opcode::discard>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *d.operand(0));
  return line<true>;
}
template <> ExecFn bind<isa::Opcode::createpolicy_fractional>(Decoder& d, DecodedOp& op) { return bind_policy(d, op); }
template <> ExecFn bind<isa::Opcode::createpolicy_range>(Decoder& d, DecodedOp& op) { return bind_policy(d, op); }
template <> ExecFn bind<isa::Opcode::createpolicy_cvt>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest(*d.operand(0));
  op.imm = uint64_t{1} << 60;
  return constant_policy;
}

}  // namespace drywell::sim
