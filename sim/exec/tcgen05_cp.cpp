// Semantics of table/tcgen05_cp.inc: the issue side of copies into tensor memory and of shifts inside it.
#include "drywell/isa/opcode.h"
#include "sim/exec/async_issue.h"
#include "sim/exec/tcgen05.h"

namespace drywell::sim {
namespace {

// op.src: 1 descriptor; op.dst shape, op.dst2 multicast, op.target source format.
Effect copy(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = use_cta_group(w, op.count, Peer::alive); e != Effect::next) return e;
  for_lanes(mask, [&](uint32_t lane) {
    TmemCopy c;
    c.shape = static_cast<isa::Mod>(op.dst);
    c.multicast = static_cast<isa::Mod>(op.dst2);
    c.format = static_cast<isa::Mod>(op.target);
    c.taddr = static_cast<uint32_t>(lane_address(w, op, lane));
    c.desc = lane_value(w, op.src[1], lane, true);
    c.cta_group = op.count;
    order_after_pending(*w.cta->cluster, issue(w, lane, c));
  });
  return Effect::next;
}

Effect shift(Warp& w, const DecodedOp& op, LaneMask mask) {
  if (const Effect e = use_cta_group(w, op.count, Peer::alive); e != Effect::next) return e;
  for_lanes(mask, [&](uint32_t lane) {
    TmemShift t;
    t.taddr = static_cast<uint32_t>(lane_address(w, op, lane));
    t.cta_group = op.count;
    order_after_pending(*w.cta->cluster, issue(w, lane, t));
  });
  return Effect::next;
}

}  // namespace

template <>
ExecFn bind<isa::row::tcgen05_cp>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *named_operand(d, "taddr"));
  op.src[1] = d.source(*named_operand(d, "desc"), 64);
  op.count = cta_group_of(d);
  op.dst = static_cast<uint32_t>(d.mod(isa::Slot::shape));
  op.dst2 = static_cast<uint32_t>(d.mod(isa::Slot::multicast));
  op.target = static_cast<uint32_t>(d.mod(isa::Slot::fmt_src));
  return copy;
}
template <>
ExecFn bind<isa::row::tcgen05_shift>(Decoder& d, DecodedOp& op) {
  d.set_address(op, *named_operand(d, "taddr"));
  op.count = cta_group_of(d);
  return shift;
}

}  // namespace drywell::sim
