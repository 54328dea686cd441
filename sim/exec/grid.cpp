// Semantics of table/grid.inc.
#include <fmt/format.h>

#include "drywell/core/bits.h"
#include "drywell/isa/opcode.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/bind_helpers.h"
#include "sim/exec/operands.h"
#include "sim/state/cancel_response.h"
#include "sim/state/payload/grid.h"

namespace drywell::sim {
namespace {

Effect try_cancel(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (w.cta->cancel_failed)
    return fault(w, Code::F3509,
                 "clusterlaunchcontrol.try_cancel after this CTA saw one fail (PTX ISA 9.7.13.17)");
  const auto& x = op.as<payload::TryCancel>();
  const Src* s = slots_at(w, x.first_slot);
  Effect result = Effect::next;
  for_lanes(mask, [&](uint32_t lane) {
    if (result == Effect::fault) return;
    TryCancel t;
    t.response = slot_shared_address(w, s, lane, false);
    t.mbar = slot_shared_address(w, s + kAddressSlots, lane, false);
    t.multicast = x.multicast;
    if (shared_rank(t.response) != w.cta->rank || shared_rank(t.mbar) != w.cta->rank) {
      result =
          fault(w, Code::F3510, "clusterlaunchcontrol.try_cancel takes addresses of the CTA's own shared memory");
    } else if (!is_aligned(t.response, 16)) {
      result = fault(w, Code::F3002,
                     fmt::format("lane {}: the response of try_cancel at {:#x} is not 16-byte aligned", lane,
                                 t.response));
    } else {
      issue(w, lane, t);
    }
  });
  return result;
}

// A .b128 register: two runs of 64-bit lanes.
CancelResponse response_of(const Warp& w, const DecodedOp& op, uint32_t lane) {
  const uint64_t low = lanes<uint64_t>(w, op.src[0])[lane],
                 high = lanes<uint64_t>(w, op.src[0])[kWarpSize + lane];
  return CancelResponse::of({static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
                             static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)});
}

Effect is_canceled(Warp& w, const DecodedOp& op, LaneMask mask) {
  LaneMask yes = 0;
  for_lanes(mask, [&](uint32_t lane) { yes |= LaneMask{response_of(w, op, lane).cancelled} << lane; });
  if ((mask & ~yes) != 0) w.cta->cancel_failed = true;
  write_pred(w, op.dst, yes, mask);
  return Effect::next;
}

constexpr uint32_t kNoPlace = 0xFFFF'FFFF;  // the poison of undefined values

Effect first_ctaid(Warp& w, const DecodedOp& op, LaneMask mask) {
  Effect result = Effect::next;
  const auto& x = op.as<payload::FirstCta>();
  const Src* s = slots_at(w, x.first_slot);
  for_lanes(mask, [&](uint32_t lane) {
    const CancelResponse r = response_of(w, op, lane);
    // A CTA that has asked knows that there is no place: CuTe reads one all the same, and selects by the answer.
    if (!r.cancelled && !w.cta->cancel_failed) {
      result = fault(w, Code::F3511, "get_first_ctaid of a cancellation that failed, without is_canceled before (PTX ISA 9.7.13.18)");
      return;
    }
    const uint32_t id[] = {r.cancelled ? r.first_cta.x : kNoPlace, r.cancelled ? r.first_cta.y : kNoPlace, r.cancelled ? r.first_cta.z : kNoPlace};
    for (uint32_t k = 0; k < 3; ++k) {
      if (x.wanted[k]) lanes<uint32_t>(w, s[k].offset)[lane] = id[k];
    }
  });
  return result;
}

Effect no_effect(Warp&, const DecodedOp&, LaneMask) { return Effect::next; }

}  // namespace

template <>
ExecFn bind<isa::row::clc_try_cancel>(Decoder& d, DecodedOp& op) {
  op.emplace<payload::TryCancel>({.first_slot = d.next_slot(), .multicast = d.has(isa::Mod::multicast_cluster_all)});
  push_address(d, *d.operand(0));
  push_address(d, *d.operand(1));
  d.program().ordered_across_ctas = true;  // the order decides which CTA gets which cluster
  return try_cancel;
}
template <>
ExecFn bind<isa::row::clc_is_canceled>(Decoder& d, DecodedOp& op) {
  op.dst = d.dest_pred(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), 128);
  return is_canceled;
}
template <>
ExecFn bind<isa::row::clc_first_ctaid>(Decoder& d, DecodedOp& op) {
  op.src[0] = d.source(*d.operand(1), 128);
  // The fourth element is unspecified and keeps its value.
  op.emplace<payload::FirstCta>({.first_slot = d.vector(*d.operand(0), 32), .wanted = {true, true, true}});
  return first_ctaid;
}
template <>
ExecFn bind<isa::row::clc_first_ctaid_dim>(Decoder& d, DecodedOp& op) {
  const uint32_t dst = d.dest(*d.operand(0));
  op.src[0] = d.source(*d.operand(1), 128);
  auto& x = op.emplace<payload::FirstCta>({.first_slot = d.next_slot()});
  for (int k = 0; k < 3; ++k) d.push_slot({dst, 0});
  x.wanted[static_cast<unsigned>(d.mod(isa::Slot::mode)) - static_cast<unsigned>(isa::Mod::get_first_ctaid_x)] = true;
  return first_ctaid;
}
template <>
ExecFn bind<isa::row::griddepcontrol>(Decoder&, DecodedOp&) {
  return no_effect;
}
}  // namespace drywell::sim
