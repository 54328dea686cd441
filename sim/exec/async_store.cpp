// Semantics of table/async_store.inc, the issue side.
#include <fmt/format.h>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/operands.h"
#include "sim/state/payload/async_store.h"

namespace drywell::sim {
namespace {

enum Place : size_t {
  kTo = 0,
  kMbar = kAddressSlots,
  kValues = 2 * kAddressSlots
};

Effect store(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::AsyncStore>();
  const Src* s = slots_at(w, x.first_slot);
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    RemoteStore r;
    r.global = x.global;
    r.element_bytes = x.element_bytes;
    r.elements = x.elements;
    r.reduce_op = x.reduce_op;
    r.type = x.type;
    r.dst = r.global ? slot_address(w, s + kTo, lane) : slot_shared_address(w, s + kTo, lane, x.cluster_space);
    if (!r.global) r.mbar = slot_shared_address(w, s + kMbar, lane, x.cluster_space);
    for (uint32_t k = 0; k < r.elements; ++k)
      r.data[k] = lane_value(w, s[kValues + k], lane, r.element_bytes == 8);
    if (!is_aligned(r.dst, r.bytes())) {
      result = fault(
          w, Code::F3002,
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
  auto& x = op.emplace<payload::AsyncStore>();
  x.first_slot = d.next_slot();
  push_address(d, *d.operand(0));
  global ? push_nothing(d, kAddressSlots) : push_address(d, *d.operand(2));
  d.vector(value, bits);
  x.elements = static_cast<uint8_t>(value.kind == isa::Operand::Kind::vec ? value.count : 1);
  x.element_bytes = static_cast<uint8_t>(bits / 8);
  x.reduce_op = d.mod(isa::Slot::op);
  x.type = d.mod(isa::Slot::type);
  x.global = global;
  x.cluster_space = !d.has(isa::Mod::shared_cta);
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
