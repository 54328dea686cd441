// Semantics of table/tcgen05_cp.inc: the issue side of copies into tensor memory and of shifts inside it.
#include "drywell/isa/opcode.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/tcgen05.h"
#include "sim/state/payload/tcgen05.h"

namespace drywell::sim {
namespace {

// src[1]: descriptor.
Effect copy(Warp& w, const DecodedOp& op, LaneMask mask) {
  const auto& x = op.as<payload::TmemCopy>();
  if (const Effect e = use_cta_group(w, x.cta_group, Peer::alive); e != Effect::next) return e;
  for_lanes(mask, [&](uint32_t lane) {
    TmemCopy c;
    c.shape = x.shape;
    c.multicast = x.multicast;
    c.format = x.format;
    c.taddr = static_cast<uint32_t>(lane_address(w, op, lane));
    c.desc = lane_value(w, op.src[1], lane, true);
    c.cta_group = x.cta_group;
    order_after_pending(*w.cta->cluster, issue(w, lane, c));
  });
  return Effect::next;
}

Effect shift(Warp& w, const DecodedOp& op, LaneMask mask) {
  const uint8_t group = op.as<payload::TmemShift>().cta_group;
  if (const Effect e = use_cta_group(w, group, Peer::alive); e != Effect::next) return e;
  for_lanes(mask, [&](uint32_t lane) {
    TmemShift t;
    t.taddr = static_cast<uint32_t>(lane_address(w, op, lane));
    t.cta_group = group;
    order_after_pending(*w.cta->cluster, issue(w, lane, t));
  });
  return Effect::next;
}

}  // namespace

template <>
ExecFn bind<isa::row::tcgen05_cp>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *named_operand(d, "taddr"));
  op.src[1] = d.source(*named_operand(d, "desc"), 64);
  op.emplace<payload::TmemCopy>({.shape = d.mod(isa::Slot::shape), .multicast = d.mod(isa::Slot::multicast), .format = d.mod(isa::Slot::fmt_src), .cta_group = cta_group_of(d)});
  return copy;
}
template <>
ExecFn bind<isa::row::tcgen05_shift>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *named_operand(d, "taddr"));
  op.emplace<payload::TmemShift>({.cta_group = cta_group_of(d)});
  return shift;
}

}  // namespace drywell::sim
