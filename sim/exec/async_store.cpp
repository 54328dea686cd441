// Semantics of table/async_store.inc, the issue side.
#include <fmt/format.h>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/operands.h"

namespace drywell::sim {
namespace {

// Program::slots from op.vec: address, mbarrier (addresses), values. op.count: elements; op.target: bytes of
// one; op.dst: reduction; op.dst2: type; op.extra: bit 0 global, bit 1 the addresses are .shared::cluster.
enum Place : size_t { kTo = 0, kMbar = kAddressSlots, kValues = 2 * kAddressSlots };

Effect store(Warp& w, const DecodedOp& op, LaneMask mask) {
  const Src* s = slots_of(w, op);
  const bool cluster = (op.extra & 2) != 0;
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    RemoteStore r;
    r.global = (op.extra & 1) != 0;
    r.element_bytes = static_cast<uint8_t>(op.target);
    r.elements = op.count;
    r.reduce_op = static_cast<isa::Mod>(op.dst);
    r.type = static_cast<isa::Mod>(op.dst2);
    r.dst = r.global ? slot_address(w, s + kTo, lane) : slot_shared_address(w, s + kTo, lane, cluster);
    if (!r.global) r.mbar = slot_shared_address(w, s + kMbar, lane, cluster);
    for (uint32_t k = 0; k < r.elements; ++k)
      r.data[k] = lane_value(w, s[kValues + k], lane, r.element_bytes == 8);
    if (!is_aligned(r.dst, r.bytes())) {
      result = fault(
          w, "F3002",
          fmt::format("lane {}: misaligned asynchronous store of {} bytes at {:#x}", lane, r.bytes(), r.dst));
      return;
    }
    issue(w, lane, r);
  });
  return result;
}

ExecFn bind_store(Decoder& d, DecodedOp& op, bool global) {
  const isa::Operand& value = *d.operand(1);
  const unsigned bits = isa::type_bits(d.mod(isa::Slot::type));
  begin_slots(d, op);
  push_address(d, *d.operand(0));
  global ? push_nothing(d, kAddressSlots) : push_address(d, *d.operand(2));
  d.vector(value, bits);
  op.count = static_cast<uint8_t>(value.kind == isa::Operand::Kind::vec ? value.count : 1);
  op.target = bits / 8;
  op.dst = static_cast<uint32_t>(d.mod(isa::Slot::op));
  op.dst2 = static_cast<uint32_t>(d.mod(isa::Slot::type));
  op.extra = uint32_t{global} | uint32_t{!d.has(isa::Mod::shared_cta)} << 1;
  return store;
}

}  // namespace

template <>
ExecFn bind<isa::row::st_async>(Decoder& d, DecodedOp& op) {
  return bind_store(d, op, false);
}
template <>
ExecFn bind<isa::row::st_async_global>(Decoder& d, DecodedOp& op) {
  return bind_store(d, op, true);
}
template <>
ExecFn bind<isa::row::red_async>(Decoder& d, DecodedOp& op) {
  return bind_store(d, op, false);
}
template <>
ExecFn bind<isa::row::red_async_global>(Decoder& d, DecodedOp& op) {
  return bind_store(d, op, true);
}

}  // namespace drywell::sim
